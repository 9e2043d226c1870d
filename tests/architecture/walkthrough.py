"""Pages whose commands are run: each `sh run` fence in order, each `answer` fence compared.

A fence's variables are there in the next one, as in a terminal. A command that only reads is asked
again until its answer fits, since lists show a receipt a moment after it was stored.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.architecture import ROOT, documents
from tests.architecture.documents import Fence
from tests.servers import PATIENCE

_WRITES = re.compile(r"-X POST|-d '|manage\.py|counterfoil |> |mv ")


@dataclass(frozen=True)
class Step:
    """Commands, and the answer that a page shows for them, if it does."""

    commands: str
    answer: Fence | None

    @property
    def is_repeatable(self) -> bool:
        return not _WRITES.search(self.commands)


def iter_steps(text: str) -> Iterator[Step]:
    """Yield what a page asks its reader to do."""
    fences = list(documents.iter_fences(text))
    for fence, following in zip_longest(fences, fences[1:]):
        if fence is not None and "run" in fence.words:
            is_answer = following is not None and "answer" in following.words
            yield Step(fence.text, following if is_answer else None)


class Terminal:
    """A shell that keeps its variables, with words of the page put into place."""

    def __init__(self, folder: Path, environment: Mapping[str, str], words: Mapping[str, str]):
        self._variables = folder / "variables"
        self._variables.touch()
        self._environment, self._words = dict(environment), words

    def run(self, commands: str) -> str:
        """Run commands as they stand on the page and return what they print."""
        # All at once: what one word is put into place by may hold another.
        pattern = "|".join(map(re.escape, self._words))
        commands = re.sub(pattern, lambda found: self._words[found[0]], commands)
        kept = self._variables
        script = f"set -aeuo pipefail; . '{kept}'\n{commands}\nexport -p > '{kept}'"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=ROOT,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"{commands}\n{done.stdout}{done.stderr}")
        return done.stdout

    def follow(self, step: Step) -> None:
        """Run a step; raise AssertionError where the page shows another answer."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                check_answer(step, self.run(step.commands))
                return
            except AssertionError:
                if not step.is_repeatable or time.monotonic() > deadline:
                    raise


def check_answer(step: Step, printed: str) -> None:
    """Compare what was printed with what the page shows."""
    if step.answer is None:
        return
    if step.answer.words[0] == "json":
        shown, found = json.loads(step.answer.text), json.loads(printed)
        assert is_part(shown, found), f"{step.commands}\nanswered\n{printed}"
        return
    for line in step.answer.text.splitlines():
        pattern = ".*".join(re.escape(part) for part in line.split("…"))
        assert re.search(f"^{pattern}\r?$", printed, re.MULTILINE | re.IGNORECASE), (
            f"{line}\nis not in\n{printed}"
        )


def is_part(shown: Any, found: Any) -> bool:
    """Tell whether a shortened answer is part of a real one; lists have as many items in both."""
    if isinstance(shown, dict):
        return isinstance(found, dict) and all(
            name in found and is_part(value, found[name]) for name, value in shown.items()
        )
    if isinstance(shown, list):
        same = isinstance(found, list) and len(shown) == len(found)
        return same and all(map(is_part, shown, found))
    if isinstance(shown, str) and "…" in shown:
        pattern = ".*".join(re.escape(part) for part in shown.split("…"))
        return isinstance(found, str) and re.fullmatch(pattern, found) is not None
    return bool(shown == found)
