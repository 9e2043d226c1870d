"""Names of spool files, and of the spools they belong to.

Every program may write `NAME.PID.START.open` (then `.ready`). The files of this client have more
in NAME: `BASE-LEVEL-TOKEN+FIRST`, where LEVEL is `d` (durable), `w` (written), `o` (ordinary
outcomes, which wait to be tallied and are not sent themselves) or `t` (the tallies made of them),
TOKEN is ten hex digits drawn when the spool begins, and FIRST is the number of the first line of
this file in its spool. The spool of such files is all files with the same NAME but for `+FIRST`; a
hole between the last line of one file and FIRST of the next is a loss, and its length is the count
of it. Any other file is a spool of its own, numbered from 1.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

DURABLE = "d"
WRITTEN = "w"
OUTCOMES = "o"
TALLIES = "t"

_FILE = re.compile(
    r"(?P<name>.+)\.(?P<pid>[0-9]{1,10})\.(?P<start>[0-9]{1,20})\.(?P<ending>[a-z]+)"
)
_OURS = re.compile(
    r"(?P<spool>.+-(?P<level>[dwot])-[0-9a-f]{10})\+(?P<first>[0-9]{1,18})", re.DOTALL
)
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True)
class SpoolFile:
    """One file of a spool directory, read from its name alone."""

    name: str
    pid: int
    start: str
    ending: str
    level: str | None
    first: int | None

    @property
    def stem(self) -> str:
        """The name that all files of one spool share: NAME.PID.START without `+FIRST`."""
        return f"{self.name}.{self.pid}.{self.start}"

    @property
    def filename(self) -> str:
        """The file's name in the directory."""
        first = "" if self.first is None else f"+{self.first}"
        return f"{self.name}{first}.{self.pid}.{self.start}.{self.ending}"


def parse(filename: str) -> SpoolFile | None:
    """Read a file's name; None when it is not one of a spool."""
    found = _FILE.fullmatch(filename)
    if found is None or filename.startswith("."):
        return None
    name, level, first = found["name"], None, None
    ours = _OURS.fullmatch(name)
    if ours is not None:
        name, level, first = ours["spool"], ours["level"], int(ours["first"])
    # A number with a leading zero would not come back as the same file name.
    given = SpoolFile(name, int(found["pid"]), found["start"], found["ending"], level, first)
    return given if given.filename == filename else None


def spool_id(host: str, stem: str) -> str:
    """Give the spool's name in feed lines: at most 100 characters of `[A-Za-z0-9_:-]`."""
    name, pid, start = stem.rsplit(".", 2)
    plain = f"{_UNSAFE.sub('-', host)}:{_UNSAFE.sub('-', name)}:{pid}:{start}"
    if len(plain) <= 100 and not _UNSAFE.search(host + name):
        return plain
    # Two names that differ only in what was replaced or cut must not become one spool.
    digest = hashlib.sha256(f"{host}\0{stem}".encode("utf-8", "surrogateescape")).hexdigest()
    return f"{plain[:79]}:{digest[:20]}"


def clean_base(text: str) -> str:
    """Give the text as a base of file names: `[A-Za-z0-9_-]`, at most 32 characters."""
    return _UNSAFE.sub("-", text).strip("-")[:32] or "client"
