"""What an integration has put in the spool, without sending it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import counterfoil


@contextmanager
def default_client(spool: Path, **settings: Any) -> Iterator[counterfoil.Client]:
    """Make the client of this process one that writes to the spool, and close it afterwards."""
    before, counterfoil._default = counterfoil._default, None
    try:
        yield counterfoil.configure(spool=spool, send=False, **settings)
    finally:
        counterfoil.close()
        counterfoil._default = before


def policy_file(folder: Path, **policy: Any) -> Path:
    """Write a recording policy and return its path."""
    path = folder / "policy.json"
    path.write_text(json.dumps(policy))
    return path


def receipts(spool: Path, **wanted: Any) -> list[dict[str, Any]]:
    """Return the receipts in the spool by time; a word like `job_id` compares a member of `job`."""
    files = spool.iterdir() if spool.is_dir() else ()
    lines = [
        json.loads(line)
        for file in files
        if file.suffix in (".open", ".ready")
        for line in file.read_bytes().splitlines()
        if line.startswith(b'{"schema"')
    ]
    found = [line for line in lines if all(_of(line, n) == v for n, v in wanted.items())]
    return sorted(found, key=lambda line: str(line["occurred_at"]))


def text_of(spool: Path) -> str:
    """Return all bytes of the spool as text, for a search in it."""
    return "".join(path.read_text(errors="replace") for path in sorted(spool.iterdir()))


def _of(receipt: dict[str, Any], name: str) -> Any:
    if name.startswith("job_"):
        return receipt.get("job", {}).get(name.removeprefix("job_"))
    return receipt.get(name)
