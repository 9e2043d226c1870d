"""One worker process of the demo: it takes deliveries from its standard input and answers each.

It is a producer like any other: it knows the client package and nothing of the server. A delivery
may name a point at which the process kills itself, as a machine that loses power would.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import counterfoil
from counterfoil import FileGuard

WORK_S = 0.05
RUN_FOR_S = 1.5


class Dying(FileGuard):
    """A guard whose process may die just before it hears that the work is done."""

    dies = False

    def finish(self, key: str, token: str) -> bool:
        if self.dies:
            die()
        return super().finish(key, token)


def die() -> None:
    """End without any chance to tidy up."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(delivery: dict[str, Any], journal: Path) -> None:
    """Do the work: one line in the rig's own journal, which is how often it really ran."""
    if delivery.get("die") == "in work":
        die()
    time.sleep(WORK_S)
    line = f"{delivery['payout']}\n".encode()
    handle = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, line)
    os.fsync(handle)
    os.close(handle)
    if delivery.get("die") == "after work":
        die()


def handle(delivery: dict[str, Any], guard: Dying, journal: Path) -> dict[str, Any]:
    """Run or skip one delivery, and say which and by which receipt."""
    if delivery.get("die") == "before claim":
        die()
    guard.dies = delivery.get("die") == "before finish"
    key = {"recipe": "demo.payout", "version": "1", "fields": {"payout": delivery["payout"]}}
    fields = {
        "task": "payouts.send",
        "queue": "payouts",
        "subjects": [{"type": "payout", "id": delivery["payout"]}],
    }
    with counterfoil.once(key, guard, **fields) as claim:
        if not claim.mine and claim.skipped is not None:
            return {"skip": claim.skipped.receipt, "reason": claim.skipped.reason}
        work(delivery, journal)
    return {"done": counterfoil.ids.done_of(claim.token), "start": claim.token}


def main() -> None:
    """Answer deliveries until the input ends; then hand in what the spool holds."""
    folder = Path(sys.argv[1])
    guard = Dying(folder / "guard", run_for_s=RUN_FOR_S)
    counterfoil.configure(spool=folder / "spool", send=True)
    # Answers are lost on purpose here; each warning about one would only look like a fault.
    logging.getLogger("counterfoil").setLevel(logging.ERROR)
    for line in sys.stdin:
        answer = handle(json.loads(line), guard, folder / "journal")
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    counterfoil.close()


if __name__ == "__main__":
    main()
