"""Define the four workloads, one of them in two variants: how they are prepared in the jail, and the steps of a run."""

from collections.abc import Callable
from dataclasses import dataclass

import kernel
from jail import HEADERS, MUSL, Jail

PCC = f"pcc -nostdinc -isystem {HEADERS}"
LINK = f"pcc -nostdlib -Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1 {MUSL}/crt1.o {MUSL}/crti.o"
LIBC = f"-L{MUSL} -lc {MUSL}/crtn.o"


@dataclass(frozen=True)
class Step:
    """A recorded command."""

    folder: str  # working folder, inside the jail
    command: list[str]
    before: Callable[[Jail], None] | None = None  # called before the command, and not recorded


@dataclass(frozen=True)
class Workload:
    """A workload, which one capture records.

    Attributes
    ----------
    prepare
        Function that brings the sources into the jail, once.
    tree
        Path of the source tree; paths below it are written relative to it.
    training, measured
        Number of runs of each kind; an unrecorded run before them warms the caches.
    run
        ``run(training)`` returns the steps of a run.
    packages
        Tools whose versions are recorded.
    sources
        Debian packages, with versions, whose contents the workload uses.
    plain
        Number of runs of each kind without the file probes, which measure processor times.
    """

    name: str
    tree: str
    training: int
    measured: int
    prepare: Callable[[Jail], None]
    run: Callable[[bool], list[Step]]
    packages: tuple[str, ...]
    sources: dict[str, str]
    plain: int = 5

    @property
    def watched(self) -> tuple[str, str]:
        """The folders that change between runs."""
        return self.tree, "/tmp"


# 1: Andrew benchmark, phase 5 ----------------------------------------------------------------------------------------

CDPARANOIA = "3.10.2+debian-14"
ANDREW = "/build/cdparanoia"


def prepare_andrew(jail: Jail) -> None:
    """Prepare cdparanoia without its test file: 17 C files, 2 libraries, 1 program."""
    source = jail.source("cdparanoia", CDPARANOIA)
    jail.shell(
        f"""rm -rf {ANDREW}
        dpkg-source -q --no-check -x {source} {ANDREW}
        cd {ANDREW}
        rm -rf debian .pc
        cp configure.guess config.guess
        cp configure.sub config.sub
        # musl defines int32_t and u_int32_t in separate headers
        sed -i '1i #include <stdint.h>\\n#include <sys/types.h>' utils.h
        CC=gcc ./configure
        rm interface/test_interface.c
        sed -i 's/ test_interface.o//' interface/Makefile""",
        "/build",
    )


def clean_andrew(jail: Jail) -> None:
    for pattern in ("*.o", "*/*.o", "*/*.a", "cdparanoia"):
        for path in jail.inside(ANDREW).glob(pattern):
            path.unlink()


def run_andrew(training: bool) -> list[Step]:
    libraries = f"interface/libcdda_interface.a paranoia/libcdda_paranoia.a {LIBC}"
    variables = ["STATIC=TRUE", f"CC={PCC}", f"LD={LINK}", f"LIBS={libraries}"]
    return [Step(ANDREW, ["/usr/bin/make", "lib", "cdparanoia", *variables], clean_andrew)]


# The same with GNU's preprocessor ------------------------------------------------------------------------------------

SDCC = "4.2.0+dfsg-1"
GNU = "/usr/local/lib/gnu"  # folder where pcc's driver looks first, and finds GNU's preprocessor from SDCC


def prepare_andrew_gnu(jail: Jail) -> None:
    """Prepare what `prepare_andrew` prepares, and GNU's preprocessor."""
    jail.install(f"sdcc={SDCC}")
    jail.shell(f"mkdir -p {GNU} && ln -sf /usr/bin/sdcpp {GNU}/x86_64-linux-gnu-pcc-cpp")
    prepare_andrew(jail)


def run_andrew_gnu(training: bool) -> list[Step]:
    (step,) = run_andrew(training)
    headers = f"-nostdinc -Wp,-nostdinc -Wp,-w -I{HEADERS}"  # GNU's does not accept pcc's form of -isystem
    command = [f"CC=pcc -B{GNU} {headers}" if word.startswith("CC=") else word for word in step.command]
    return [Step(step.folder, command, step.before)]


# 2: linking a Linux kernel -------------------------------------------------------------------------------------------


def prepare_ld(jail: Jail) -> None:
    """Prepare a kernel's objects, and a script with the commands that link them."""
    kernel.build(jail)
    kernel.lay_out(jail)


def clean_ld(jail: Jail) -> None:
    jail.shell("find . -name all.o -delete; rm -f vmlinux System.map */lib.a */*/*/lib.a", kernel.TREE)


def run_ld(training: bool) -> list[Step]:
    return [Step(kernel.TREE, ["/bin/sh", "link.sh"], clean_ld)]


# 3: indexing a documentation tree ------------------------------------------------------------------------------------

GLIMPSE = "/build/glimpse"
DOCUMENTATION = {
    "linux-doc-6.1": "6.1.176-1",
    "libstdc++-12-doc": "12.2.0-14+deb12u1",
    "python3.11-doc": "3.11.2-6+deb12u8",
}


def prepare_glimpse(jail: Jail) -> None:
    """Unpack three Debian packages of documentation, which exceed the 256 MB of memory of the paper's machine."""
    jail.shell(
        f"""rm -rf {GLIMPSE}
        mkdir -p {GLIMPSE}/unpacked {GLIMPSE}/packages
        cd {GLIMPSE}/packages
        apt-get download -q {" ".join(f"{name}={version}" for name, version in DOCUMENTATION.items())}
        for package in *.deb; do dpkg-deb -x $package ../unpacked; done
        mv ../unpacked/usr/share/doc ../doc
        rm -rf ../unpacked ../packages"""
    )


def clean_glimpse(jail: Jail) -> None:
    for path in jail.inside(GLIMPSE).glob(".glimpse*"):
        path.unlink()


def run_glimpse(training: bool) -> list[Step]:
    return [Step(GLIMPSE, ["/usr/bin/glimpseindex", "-H", GLIMPSE, f"{GLIMPSE}/doc"], clean_glimpse)]


# 4: building OpenSSH, then patching it to Debian's later versions ----------------------------------------------------

OPENSSH = "1:9.2p1-2+deb12u10"
SSH = "/build/openssh"
PATCHES = {  # patches in Debian's series, by version; deb12u7 and deb12u9 patch nothing that is compiled here
    "deb12u1": "CVE-2023-38408-1 CVE-2023-38408-2 CVE-2023-38408-3",
    "deb12u2": "CVE-2023-28531 CVE-2023-48795 CVE-2023-51384 CVE-2023-51385",
    "deb12u3": "Disable-async-signal-unsafe-code-from-the-sshsigdie-",
    "deb12u4": "sntrup761x25519-sha512",
    "deb12u5": "CVE-2025-26465 incorrect-return-values",
    "deb12u6": "fix-disable-forwarding",
    "deb12u8": "CVE-2025-61984 CVE-2025-61985 CVE-2025-61984-tests",
    "deb12u10": "CVE-2026-35388 CVE-2026-35385 CVE-2026-35387 CVE-2026-35414 prohibit-comma-in-hostnames "
    "CVE-2026-35386-1 CVE-2026-35386-2 CVE-2026-35386-3",
}
WITHOUT = "openssl zlib stackprotect hardening pie pam selinux shadow"


def prepare_ssh(jail: Jail) -> None:
    """Configure OpenSSH 9.2p1-2 to use only the C library; keep a configured copy, and one that is also built."""
    source = jail.source("openssh", OPENSSH)
    jail.install("autoconf", "automake")
    jail.shell(
        f"""rm -rf {SSH} /spare/openssh /spare/openssh-built
        mkdir -p /spare
        dpkg-source -q --no-check --skip-patches -x {source} {SSH}
        cd {SSH}
        for patch in $(sed '/CVE-2023-38408-1/,$d' debian/patches/series); do patch -s -p1 < debian/patches/$patch; done
        autoreconf -fi
        export CC="{PCC}" CFLAGS="-g -O" LIBS="-lc {MUSL}/crtn.o"
        export LDFLAGS="-nostdlib -Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1 -L{MUSL} {MUSL}/crt1.o {MUSL}/crti.o"
        ./configure {" ".join(f"--without-{name}" for name in WITHOUT.split())} --disable-pkcs11 --disable-security-key
        cp -a {SSH} /spare/openssh
        make
        cp -a {SSH} /spare/openssh-built""",
        "/build",
    )


def run_ssh(training: bool) -> list[Step]:
    """Return the steps: training builds the first version; measured runs patch and rebuild it for every later one."""
    if training:
        return [Step(SSH, ["/usr/bin/make"], lambda jail: renew_ssh(jail, "openssh"))]
    steps = []
    for patches in PATCHES.values():
        script = f"for name in {patches}; do patch -s -p1 < debian/patches/$name.patch; done; exec make"
        before = None if steps else lambda jail: renew_ssh(jail, "openssh-built")
        steps.append(Step(SSH, ["/bin/sh", "-ec", script], before))
    return steps


def renew_ssh(jail: Jail, copy: str) -> None:
    jail.shell(f"rm -rf {SSH} && cp -a /spare/{copy} {SSH}")


TOOLS = ("pcc", "binutils", "make", "dash", "musl-dev", "libc6")
LINKING = ("binutils", "gcc-12", "dash", "libc6")
INDEXING = ("glimpse", "dash", "libc6")
WORKLOADS = {
    work.name: work
    for work in (
        Workload("andrew", ANDREW, 3, 20, prepare_andrew, run_andrew, TOOLS, {"cdparanoia": CDPARANOIA}),
        Workload(
            "andrew_gnu",
            ANDREW,
            60,
            20,
            prepare_andrew_gnu,
            run_andrew_gnu,
            (*TOOLS, "sdcc"),
            {"cdparanoia": CDPARANOIA},
        ),
        Workload("ld", kernel.TREE, 3, 20, prepare_ld, run_ld, LINKING, {"linux": kernel.VERSION}),
        Workload("glimpse", GLIMPSE, 3, 5, prepare_glimpse, run_glimpse, INDEXING, DOCUMENTATION, plain=3),
        Workload("ssh", SSH, 3, 5, prepare_ssh, run_ssh, (*TOOLS, "patch"), {"openssh": OPENSSH}, plain=3),
    )
}
