"""The table that a measurement prints: what, the figure seen, the aim, reached or not."""

from __future__ import annotations

import os
import statistics
from collections.abc import Sequence


class Table:
    """Prints a line as soon as its figure is there."""

    def __init__(self, title: str) -> None:
        print(f"\n{title}; load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")

    def note(self, what: str, figure: str, aim: str = "", reached: bool | None = None) -> None:
        """Print one figure, and beside an aim whether it was reached."""
        word = {None: "", True: "reached", False: "NOT reached"}[reached]
        print(f"  {what:<44} {figure:>30}   {aim:<12} {word}".rstrip(), flush=True)

    def compare(self, what: str, ours: Sequence[float], bare: Sequence[float], aim: float) -> None:
        """Print rates that were taken in turns with the bare ones, and their ratio."""
        ratios = [one / other for one, other in zip(ours, bare, strict=True)]
        ratio = statistics.median(ratios)
        self.note(what, f"{statistics.median(ours):,.0f} a second")
        self.note("  the bare database", f"{statistics.median(bare):,.0f} a second")
        spread = f"{ratio:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        self.note("  ratio: median (least to greatest)", spread, f">= {aim:.2f}", ratio >= aim)


def milliseconds(seconds: float) -> str:
    """Write a time for a person."""
    return f"{seconds * 1000:,.1f} ms"
