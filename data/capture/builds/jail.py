"""A Debian system in a folder: what is recorded runs in it, so that no path of the recording machine is seen."""

import os
import shutil
import subprocess
from pathlib import Path

from tracing import CaptureError

SUITE = "bookworm"
MIRROR = os.environ.get("DEBIAN_MIRROR", "")  # a mirror of Debian, as in /etc/apt/sources.list
PACKAGES = ("make", "binutils", "pcc", "musl-dev", "linux-libc-dev", "gcc", "libc6-dev", "dpkg-dev", "patch", "glimpse")
SOURCES = f"""deb {MIRROR} {SUITE} main
deb-src {MIRROR} {SUITE} main
"""
MUSL = "/usr/lib/x86_64-linux-musl"
HEADERS = "/usr/include/x86_64-linux-musl"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": "/build", "SHELL": "/bin/sh"}
TOUCH = "/capture/touch.so"


class Jail:
    """The system below `path`; everything of the captured programs is in it."""

    def __init__(self, path: Path):
        self.path = path

    def inside(self, path: str) -> Path:
        """Where `path` of the jail lies outside."""
        return self.path / path.lstrip("/")

    def make(self) -> None:
        """Install it, unless it stands.

        Raises
        ------
        CaptureError
            If debootstrap or apt fail.
        """
        if not self.inside("/capture").exists():
            if self.path.exists():
                shutil.rmtree(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            run(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(self.path), MIRROR])
            self.inside("/etc/apt/sources.list").write_text(SOURCES)
            self.shell("apt-get update -q && mkdir -p /build /capture")
            self._make_older()
        build = ["cc", "-shared", "-fPIC", "-O1", "-o", self.inside(TOUCH), Path(__file__).parent / "touch.c"]
        run([str(word) for word in build])

    def _make_older(self) -> None:
        """As a system of 1999: the linker has no plug-ins, the kernel's headers lie beside the C library's."""
        self.shell("rm -r /usr/lib/bfd-plugins /usr/lib/x86_64-linux-gnu/bfd-plugins")
        for name in ("linux", "asm-generic"):
            self.inside(f"{HEADERS}/{name}").symlink_to(f"/usr/include/{name}")
        self.inside(f"{HEADERS}/asm").symlink_to("/usr/include/x86_64-linux-gnu/asm")

    def shell(self, script: str, folder: str = "/") -> str:
        """Run a shell script in the jail, not recorded; returns what it printed."""
        wrapped = ["chroot", str(self.path), "/bin/sh", "-ec", f"cd {folder}\n{script}"]
        return run(
            wrapped, env={**ENVIRONMENT, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        )

    def install(self, *packages: str) -> None:
        self.shell(f"apt-get install -qy --no-install-recommends {' '.join(packages)}")

    def source(self, package: str, version: str) -> None:
        """Fetch a source package into /build/packages, not unpacked."""
        folder = self.inside("/build/packages")
        folder.mkdir(parents=True, exist_ok=True)
        if not list(folder.glob(f"{package}_{version.split(':')[-1]}.dsc")):
            self.shell(f"apt-get source -q --download-only {package}={version}", "/build/packages")

    def versions(self, *packages: str) -> dict[str, str]:
        """Version of each installed package."""
        listed = self.shell("dpkg-query -W -f '${Package} ${Version}\\n' " + " ".join(packages))
        return dict(line.split() for line in listed.splitlines())


def run(command: list[str], env: dict | None = None) -> str:
    """Run a command that must not fail; returns its output."""
    done = subprocess.run(command, env=env or dict(os.environ), capture_output=True, text=True)
    if done.returncode != 0:
        raise CaptureError(f"{' '.join(command[:6])} …: exit status {done.returncode}\n{done.stderr.strip()[-1500:]}")
    return done.stdout
