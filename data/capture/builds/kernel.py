"""Prepare the objects of a Linux kernel, to be linked as in 1999: folder by folder, then the whole kernel."""

import posixpath
from itertools import islice

from jail import Jail

VERSION = "6.1.176-1"
BUILT = "/spare/linux"  # folder in which make builds the kernel
TREE = "/build/linux"  # folder in which the objects are linked
GROUP = 3  # number of objects joined into one, as objects of 1999 were larger and fewer: 432 become 161
LIBRARIES = ("lib/lib.a", "arch/x86/lib/lib.a")
LD = "ld -m elf_i386 -z noexecstack --no-warn-rwx-segments"


def build(jail: Jail) -> None:
    """Build the smallest 32-bit configuration with debugging information in `BUILT`, unless it exists."""
    if jail.inside(f"{BUILT}/vmlinux").exists():
        return
    jail.source("linux", VERSION)
    jail.install("flex", "bison", "bc")
    upstream = VERSION.rsplit("-", 1)[0]
    jail.shell(
        f"""rm -rf {BUILT} {BUILT}-source
        mkdir -p {BUILT} {BUILT}-source
        tar xJf /build/packages/linux_{upstream}.orig.tar.xz -C {BUILT}-source --strip-components 1
        cd {BUILT}-source
        make ARCH=i386 O={BUILT} tinyconfig
        scripts/config --file {BUILT}/.config -e DEBUG_KERNEL -d DEBUG_INFO_NONE -e DEBUG_INFO_DWARF4
        make ARCH=i386 O={BUILT} olddefconfig
        make ARCH=i386 O={BUILT} vmlinux
        rm -rf {BUILT}-source"""
    )


def lay_out(jail: Jail) -> None:
    """Join the objects of each folder into fewer ones in `TREE`, and write the script that links them."""
    objects = [*jail.shell("ar t vmlinux.a", BUILT).split(), "init/version-timestamp.o"]
    archives = {name: jail.shell(f"ar t {name}", BUILT).split() for name in LIBRARIES}
    scripts = [f"rm -rf {TREE}; mkdir -p {TREE}", f"cp arch/x86/kernel/vmlinux.lds {TREE}"]
    head = [name for name in objects[:4] if name.startswith("arch/x86/kernel/")]  # keep these objects first
    grouped: dict[str, list[str]] = {}
    for folder, names in by_folder(objects[len(head) :]).items():
        grouped[folder] = join(folder, names, scripts)
    joined = {name: join(posixpath.dirname(name), names, scripts, "lib-") for name, names in archives.items()}
    starting = join("head", head, scripts)
    jail.shell("\n".join(scripts), BUILT)
    lines = [f"ar rcs {name} {' '.join(names)}" for name, names in joined.items()] + link(grouped)
    tops = [f"{folder}/all.o" for folder in dict.fromkeys(folder.split("/")[0] for folder in grouped)]
    lines.append(
        f"{LD} --script=vmlinux.lds -o vmlinux --whole-archive {' '.join([*starting, *tops])} --no-whole-archive "
        f"--start-group {' '.join(LIBRARIES)} --end-group"
    )
    lines.append("nm -n vmlinux > System.map")
    jail.inside(f"{TREE}/link.sh").write_text("set -e\n" + "\n".join(lines) + "\n")


def by_folder(names: list[str]) -> dict[str, list[str]]:
    """Group objects by their folders, in order of appearance."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(posixpath.dirname(name), []).append(name)
    return found


def join(folder: str, names: list[str], scripts: list[str], prefix: str = "") -> list[str]:
    """Add commands to `scripts` that join every `GROUP` objects into one; return their paths in the tree."""
    scripts.append(f"mkdir -p {TREE}/{folder}")
    left, made = iter(names), []
    while group := list(islice(left, GROUP)):
        made.append(f"{folder}/{prefix}{posixpath.basename(group[0])}")
        scripts.append(f"{LD} -r -o {TREE}/{made[-1]} {' '.join(group)}")
    return made


def link(grouped: dict[str, list[str]]) -> list[str]:
    """Return commands that link a folder's objects and its subfolders' ``all.o`` into its ``all.o``, deepest first."""
    folders = {
        folder[:end] for folder in grouped for end in [i for i, c in enumerate(folder) if c == "/"] + [len(folder)]
    }
    order = list(dict.fromkeys(folder for folder in grouped)) + sorted(folders - set(grouped))
    lines = []
    for folder in sorted(order, key=lambda name: (-name.count("/"), order.index(name))):
        within = [f"{other}/all.o" for other in order if posixpath.dirname(other) == folder]
        lines.append(f"{LD} -r -o {folder}/all.o {' '.join(grouped.get(folder, []) + within)}")
    return lines
