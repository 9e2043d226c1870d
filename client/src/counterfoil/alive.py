"""Is the process that writes a spool file still there?

A pid alone does not say: it is given to another process soon after. START in a file's name tells
them apart. It is field 22 of `/proc/PID/stat` (start in clock ticks since boot), or, from programs
that cannot read that, the Unix time at which the file was opened (in s, ms or us).
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from counterfoil import regular

_UNIX_DIGITS = {10: 1, 13: 1_000, 16: 1_000_000}


def start_of(pid: int) -> str | None:
    """Give the start of a process in clock ticks since boot; None when that cannot be read."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The second field is the command in brackets and may hold spaces and brackets itself.
    fields = text[text.rfind(b")") + 2 :].split()
    # A zombie answers signal 0 until its parent has waited for it, yet it writes nothing more.
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return fields[19].decode()


def own_start() -> str:
    """Give the start of this process for a file's name."""
    return start_of(os.getpid()) or str(int(time.time() * 1_000_000))


def is_process(pid: int, start: str) -> bool:
    """Say whether the process that was started at `start` under this pid still runs."""
    if not _is_pid(pid):
        return False
    ticks = start_of(pid)
    if ticks is None:
        # Gone or a zombie; or a system without /proc, where the pid is all there is to go by.
        return not Path("/proc/self/stat").exists()
    if ticks == start:
        return True
    unit = _UNIX_DIGITS.get(len(start))
    return unit is not None and _unix_start(ticks) <= int(start) / unit + 2


def is_locked(path: Path) -> bool:
    """Say whether a writer of this client holds the file, in whatever pid namespace it runs."""
    try:
        fd = regular.descriptor(path)
    except (OSError, regular.NotRegular):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def _is_pid(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _unix_start(ticks: str) -> float:
    up = float(Path("/proc/uptime").read_text().split()[0])
    return time.time() - up + int(ticks) / os.sysconf("SC_CLK_TCK")
