"""The locks: what the .in files ask for, pinned with hashes, from no particular index."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)(\[[^]]*\])?==(?P<version>[^ ;\\]+)")
COMPILE = ["pip", "compile", "--quiet", "--universal", "--python-version", "3.11"]
COMPILE += ["--generate-hashes", "--no-header", "--no-annotate", "--emit-build-options"]
WANTED = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)")


def iter_faults(folder: Path) -> Iterator[str]:
    """Yield a sentence for each thing that is wrong with the locks of a folder.

    The base lock must be contained in every other: bootstrap.py takes an environment with the
    dev lock for one that has the base lock too.
    """
    base = read_pins(folder / "base.txt")
    for source in sorted(folder.glob("*.in")):
        lock = source.with_suffix(".txt")
        if not lock.exists():
            yield f"{lock.name} is missing; compile {source.name}."
            continue
        yield from iter_line_faults(lock)
        pins = read_pins(lock)
        for name in sorted(read_wanted(source) - pins.keys()):
            yield f"{source.name} asks for {name}, which {lock.name} does not pin."
        for name in sorted(base):
            if pins.get(name) != base[name]:
                yield f"{lock.name} has {name} at {pins.get(name)}, base.txt at {base[name]}."


def iter_stale(folder: Path) -> Iterator[str]:
    """Yield a sentence for each lock that is not what uv makes of its .in file now.

    Nothing where uv is missing or cannot ask an index; the other checks need neither.
    """
    uv = shutil.which("uv")
    if not uv:
        return
    with tempfile.TemporaryDirectory() as copies:
        copy = shutil.copytree(folder, Path(copies) / "requirements")
        for source in sorted(copy.glob("*.in")):
            lock = source.with_suffix(".txt")
            before = lock.read_bytes()
            done = subprocess.run([uv, *COMPILE, source, "-o", lock], check=False)
            if done.returncode == 0 and lock.read_bytes() != before:
                yield f"{lock.name} is not what {source.name} gives: " + " ".join(COMPILE)


def iter_line_faults(lock: Path) -> Iterator[str]:
    """Yield what makes single lines unfit: an address, an index, a pin without a hash."""
    lines = lock.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if "://" in line or re.search(r"--(extra-)?index|--find-links|--trusted-host", line):
            yield f"{lock.name}:{number} names an address, which would bind everybody to it."
        if PIN.match(line) and "--hash=sha256:" not in "".join(lines[number : number + 1]):
            yield f"{lock.name}:{number} pins without a hash."
        elif line[:1].isalnum() and not PIN.match(line):
            yield f"{lock.name}:{number} does not pin one version."


def read_pins(lock: Path) -> dict[str, str]:
    """Return the version of each pinned package, by its normal name."""
    found = (PIN.match(line) for line in lock.read_text().splitlines())
    return {normal(pin["name"]): pin["version"] for pin in found if pin}


def read_wanted(source: Path) -> set[str]:
    """Return the normal names that an .in file asks for, those it includes among them."""
    wanted: set[str] = set()
    for line in source.read_text().splitlines():
        if line.startswith("-r "):
            wanted |= read_wanted(source.parent / line.removeprefix("-r ").strip())
        elif found := WANTED.match(line):
            wanted.add(normal(found["name"]))
    return wanted


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
