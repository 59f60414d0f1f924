"""Install a Debian system in a folder, in which recorded programs run without seeing the recording machine's paths."""

import os
import shutil
import subprocess
from pathlib import Path

from tracing import CaptureError

SUITE = "bookworm"
PACKAGES = ("make", "binutils", "pcc", "musl-dev", "linux-libc-dev", "gcc", "libc6-dev", "dpkg-dev", "patch", "glimpse")
MUSL = "/usr/lib/x86_64-linux-musl"
HEADERS = "/usr/include/x86_64-linux-musl"
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "HOME": "/build", "SHELL": "/bin/sh"}
TOUCH = "/capture/touch.so"


def mirror() -> str:
    """Return the mirror of Debian that the environment names, in the form that /etc/apt/sources.list uses.

    Raises
    ------
    CaptureError
        The environment names none.
    """
    named = os.environ.get("DEBIAN_MIRROR", "").strip()
    if not named:
        raise CaptureError("DEBIAN_MIRROR names no mirror of Debian: set it to a URL as in /etc/apt/sources.list")
    return named


class Jail:
    """The system below `path`, which has everything that the captured programs need."""

    def __init__(self, path: Path):
        self.path = path

    def inside(self, path: str) -> Path:
        """Return the path, outside the jail, of the file that is `path` inside it."""
        return self.path / path.lstrip("/")

    def make(self) -> None:
        """Install the system unless it is complete, and build touch.so.

        Raises
        ------
        CaptureError
            No mirror is named, or debootstrap, apt or the compiler fails.
        """
        if not self.inside("/capture").exists():
            source = mirror()
            if self.path.exists():
                shutil.rmtree(self.path)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            run(["debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", SUITE, str(self.path), source])
            listed = f"deb {source} {SUITE} main\ndeb-src {source} {SUITE} main\n"
            self.inside("/etc/apt/sources.list").write_text(listed)
            self.shell("apt-get update -q && mkdir /build")
            self._make_older()
            self.inside("/capture").mkdir()  # mark the system as complete
        build = ["cc", "-shared", "-fPIC", "-O1", "-o", self.inside(TOUCH), Path(__file__).parent / "touch.c"]
        run([str(word) for word in build])

    def _make_older(self) -> None:
        """Remove the linker's plug-ins and link the kernel's headers next to the C library's, as in 1999."""
        self.shell("rm -r /usr/lib/bfd-plugins /usr/lib/x86_64-linux-gnu/bfd-plugins")
        for name in ("linux", "asm-generic"):
            self.inside(f"{HEADERS}/{name}").symlink_to(f"/usr/include/{name}")
        self.inside(f"{HEADERS}/asm").symlink_to("/usr/include/x86_64-linux-gnu/asm")

    def shell(self, script: str, folder: str = "/") -> str:
        """Run a shell script in the jail without recording it, and return what it printed."""
        wrapped = ["chroot", str(self.path), "/bin/sh", "-ec", f"cd {folder}\n{script}"]
        return run(
            wrapped, env={**ENVIRONMENT, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        )

    def install(self, *packages: str) -> None:
        self.shell(f"apt-get install -qy --no-install-recommends {' '.join(packages)}")

    def source(self, package: str, version: str) -> str:
        """Fetch a source package without unpacking it; return the path of its description in the jail.

        Raises
        ------
        CaptureError
            The mirror does not have that version, or apt fails for another reason.
        """
        folder = "/build/packages"
        described = f"{folder}/{package}_{version.split(':')[-1]}.dsc"  # the file name lacks the version's epoch
        self.inside(folder).mkdir(parents=True, exist_ok=True)
        if not self.inside(described).exists():
            if f"Version: {version}\n" not in self.shell(f"apt-cache showsrc {package}"):
                raise CaptureError(
                    f"DEBIAN_MIRROR has no source of {package} {version}: run 'builds.py clean', then name a mirror"
                    f" that keeps old versions, such as a snapshot of {SUITE}, or another version in workloads.py"
                )
            self.shell(f"apt-get source -q --download-only {package}={version}", folder)
        return described

    def versions(self, *packages: str) -> dict[str, str]:
        """Return the version of each installed package."""
        listed = self.shell("dpkg-query -W -f '${Package} ${Version}\\n' " + " ".join(packages))
        return dict(line.split() for line in listed.splitlines())


def run(command: list[str], env: dict | None = None) -> str:
    """Run a command that must not fail, and return its output."""
    done = subprocess.run(command, env=env or dict(os.environ), capture_output=True, text=True)
    if done.returncode != 0:
        said = done.stderr.strip() or done.stdout.strip()
        raise CaptureError(f"{' '.join(command[:6])} …: exit status {done.returncode}\n{said[-1500:]}")
    return done.stdout
