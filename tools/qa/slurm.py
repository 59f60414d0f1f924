"""Run the workflow on a real two-node SLURM cluster on this machine, and compare it byte by byte with a local run.

The test needs Debian and root. It installs slurm-wlm and munge if they are missing, starts a controller and two nodes
of its own, runs the tests' small configuration through `workflow/profiles/slurm`, and stops what it started. It refuses
to run on a machine that already belongs to a cluster.
"""

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from drill import compare, targets_of
from small import ROOT, digests, small_tree

PROFILE = ROOT / "workflow" / "profiles" / "slurm"
PLUGINS = ROOT / "build" / "slurm"
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged", "setpriv")
CONF = Path("/etc/slurm/slurm.conf")
NODES = {"n1": 16821, "n2": 16822}
SETTINGS = """\
ClusterName=misspenalty
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory,CR_LLN
DefMemPerCPU=500
MinJobAge=3600
ReturnToService=2
{nodes}
PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=2 RealMemory=4000\n"
# The cluster has no accounting, so `squeue` reports the states of jobs; the controller keeps finished jobs for an hour.
ALONE = (
    *("--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "3"),
    *("--seconds-between-status-checks", "5", "--slurm-keep-successful-logs"),
    *("--default-resources", "slurm_partition=main", "mem_mb=900", "runtime=120"),
)


def prepare():
    """Install missing programs and Snakemake's plugin; exit with a message if the test cannot run on this machine."""
    if os.geteuid():
        sys.exit("slurm-test starts a cluster's daemons, which needs root; run it as root.")
    if CONF.exists() or CONF.is_symlink():
        sys.exit(f"{CONF} exists, so this machine already belongs to a cluster; run the test on another machine.")
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        if not shutil.which("apt-get"):
            sys.exit(f"{', '.join(missing)}: not found; install SLURM (slurm-wlm) and munge.")
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "slurm-wlm", "munge"]
        subprocess.run(install, check=True, env=environment)
    wanted = PROFILE / "requirements.txt"
    if not (PLUGINS / "done").exists() or (PLUGINS / "done").read_text() != wanted.read_text():
        shutil.rmtree(PLUGINS, ignore_errors=True)
        options = ["--quiet", "--no-deps", "--require-hashes", "--target", str(PLUGINS), "-r", str(wanted)]
        subprocess.run([sys.executable, "-m", "pip", "install", *options], check=True)
        (PLUGINS / "done").write_text(wanted.read_text())


class Cluster:
    """A context in which a controller and two nodes run, with their files in a folder."""

    def __init__(self, folder):
        self.folder, self.running = folder, []

    def __enter__(self):
        host, folder = socket.gethostname(), self.folder
        nodes = "".join(NODE.format(name=name, host=host, port=port) for name, port in NODES.items())
        (folder / "state").mkdir()
        settings = SETTINGS.format(host=host, folder=folder, nodes=nodes, names=",".join(NODES))
        (folder / "slurm.conf").write_text(settings)
        self._munge()
        CONF.parent.mkdir(exist_ok=True)
        CONF.symlink_to(folder / "slurm.conf")  # needed because job steps do not inherit SLURM_CONF
        try:
            self._start("slurmctld", "-D")
            for name in NODES:
                self._start("slurmd", "-D", "-N", name)
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _munge(self):
        key = self.folder / "munge"
        key.mkdir(mode=0o700)
        (key / "munge.key").write_bytes(os.urandom(1024))
        (key / "munge.key").chmod(0o400)
        for path in (key, key / "munge.key"):
            shutil.chown(path, "munge", "munge")
        options = [f"--key-file={key}/munge.key", f"--socket={self.folder}/munge.socket", "--foreground", "--force"]
        options += [f"--pid-file={key}/munged.pid", f"--log-file={key}/munged.log", f"--seed-file={key}/munged.seed"]
        shutil.chown(self.folder, "munge", "munge")
        self._start("setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", shutil.which("munged"), *options)
        time.sleep(1)

    def _start(self, *command):
        with open(self.folder / "daemons.log", "a") as log:
            self.running.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True))

    def _wait(self):
        for _ in range(60):
            found = subprocess.run(["sinfo", "-h", "-o", "%T %D"], capture_output=True, text=True)
            if found.stdout.split() == ["idle", str(len(NODES))]:
                return
            time.sleep(1)
        raise RuntimeError(f"the cluster did not start: {found.stdout}{found.stderr}")

    def __exit__(self, *error):
        CONF.unlink(missing_ok=True)
        for process in reversed(self.running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def snakemake(folder, studies, *options, **variables):
    """Run the workflow in `folder` for these studies, and add `variables` to its environment."""
    command = [sys.executable, "-m", "snakemake", *options, "--", *targets_of(studies)]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | variables)


def submissions():
    """Return one line per job that SLURM ran: id, node, state, run time and rule."""
    shown = ["squeue", "--states=all", "--noheader", "--format=%i|%N|%T|%M|%k"]
    return subprocess.run(shown, capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    """Run the workflow locally and on SLURM; return exit status 1 if a file differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=2, help="number of cores of the local run")
    parser.add_argument("--log", type=Path, help="write the list of SLURM's jobs to this file")
    parser.add_argument("--studies", nargs="*", default=[], help="run only these studies (default: the whole workflow)")
    options, further = parser.parse_known_args()
    prepare()
    with tempfile.TemporaryDirectory(prefix="slurm-") as base:
        whole, there = (small_tree(Path(base, name)) for name in ("local", "cluster"))
        snakemake(whole, options.studies, "--cores", str(options.cores), "--quiet", "rules")
        Path(base, "slurm").mkdir()
        Path(base).chmod(0o755)
        with Cluster(Path(base, "slurm")):
            begun = time.monotonic()
            profile = ("--workflow-profile", "workflow/profiles/slurm")
            snakemake(there, options.studies, *profile, *ALONE, *further, PYTHONPATH=str(PLUGINS))
            jobs = submissions()
        spent = time.monotonic() - begun
        nodes, states = (Counter(line.split("|")[column] for line in jobs) for column in (1, 2))
        print(f"SLURM: {len(jobs)} jobs in {spent:.0f} s, {dict(nodes)}, {', '.join(sorted(states))}", flush=True)
        wrong, made = compare(whole, there), len(digests(there))
    if options.log:
        options.log.parent.mkdir(parents=True, exist_ok=True)
        options.log.write_text("job|node|state|time|rule\n" + "\n".join(jobs) + "\n")
    print(f"{made} files, {len(wrong)} differ from the local run")
    print(*wrong, sep="\n", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
