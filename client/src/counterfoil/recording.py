"""What a client does under the recording policy: choosing, tallying, describing.

The policy is read at first use, looked at again every ten seconds, and told to the ledger once for
each source of a process and whenever it changes. A child of a fork does not tell it again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from counterfoil import encode, policy
from counterfoil.policy import Policy, PolicyError

log = logging.getLogger("counterfoil")

LOOK_AGAIN_S = 10.0
Stamp = tuple[int, int, int]


class Recording:
    """The policy in force in this process, and to whom it was told."""

    def __init__(self, path: Path | None, tell: Callable[..., bool]) -> None:
        self._path, self._tell = path, tell
        self._lock = threading.Lock()
        self._policy: Policy | None = None
        self._digest = ""
        self._stamp: Stamp | None = None
        self._look_at = 0.0
        self._told: dict[bytes, str | None] = {}
        self._tell_at = 0.0

    def policy(self) -> Policy:
        """Give the policy in force; a file that cannot be used is named once in the log."""
        found = self._policy
        if found is not None and (self._path is None or time.monotonic() < self._look_at):
            return found
        return self._looked()

    def announce(self, source: Mapping[str, Any] | None) -> bool:
        """Tell the ledger which policy is in force for this source; True when it has been told."""
        found = self.policy()
        whose = b"" if source is None else encode.canonical(source)
        if self._told.get(whose) == self._digest:
            return True
        if time.monotonic() < self._tell_at:
            return False
        # Noted first, so that threads that come at once do not all tell it.
        before, self._told[whose] = self._told.get(whose), self._digest
        said = {"what": "policy", "version": found.version, **found.content}
        # A receipt's `subjects` are business objects: under that name it would be set aside.
        said["subject_fields"] = said.pop("subjects")
        is_told = self._tell(source, said)
        if not is_told:
            self._told[whose], self._tell_at = before, time.monotonic() + LOOK_AGAIN_S
        return is_told

    def _looked(self) -> Policy:
        # A child of a fork may find this lock held for ever by a thread that it does not have.
        has_lock = self._lock.acquire(timeout=0.5)
        try:
            self._look_at = time.monotonic() + LOOK_AGAIN_S
            stamp = _stamp_of(self._path)
            if self._policy is None or stamp != self._stamp:
                self._stamp = stamp
                self._policy = self._read(self._policy)
                self._digest = f"{self._policy.version}/{policy.digest_of(self._policy)}"
            return self._policy
        finally:
            if has_lock:
                self._lock.release()

    def _read(self, before: Policy | None) -> Policy:
        if self._path is None:
            return policy.default()
        try:
            return policy.read(self._path)
        except PolicyError as error:
            stays = "what was in force stays" if before else "everything is tallied"
            log.warning("%s So %s, and nothing else is sent in clear.", error, stays)
            return before or policy.default()


def _stamp_of(path: Path | None) -> Stamp | None:
    try:
        found = path.stat() if path is not None else None
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if found is not None else None
