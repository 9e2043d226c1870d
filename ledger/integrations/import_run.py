"""One file of history into one project: lines are read, made into receipts, and stored.

Memory holds one batch. Nothing is written for a line that is on record already, and the receipt
of the import is written last: a run that breaks off leaves none, and the same command goes on.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from kit import clock
from ledger import ingest, store
from ledger.domain import canonical, imports, plain
from ledger.domain.draft import ACCEPTED, Draft, Envelope
from ledger.domain.import_maps import Map, with_format
from ledger.domain.import_values import LineFault
from ledger.domain.reading import MAX_BODY
from ledger.integrations.import_files import Line, Source, find_format
from ledger.integrations.import_repeats import Repeats
from ledger.queries import on_record
from ledger.registry import registry

BATCH = 250
"""Lines that are stored at once: on SQLite a longer batch would keep the server waiting."""

SAMPLES = 3
FAULTS_KEPT = 100
OTHERWISE = LineFault("on_record", "is on record with other content, as another map read it")

Report = Callable[["Progress"], None]


@dataclass(frozen=True, slots=True)
class Job:
    """What to import: one file, by a map, as history of a source of a project.

    `covers` is the time that the file tells of, where somebody knows it to be longer than from
    its first line to its last. What happened at `live_since` or later was told live.
    """

    project_id: int
    source: tuple[str, str]
    path: Path
    chosen: Map
    is_dry: bool = False
    covers: tuple[datetime | None, datetime | None] = (None, None)
    live_since: datetime | None = None


@dataclass(slots=True)
class Progress:
    """How far an import has come, and what became of the lines."""

    lines: int = 0
    taken: int = 0
    left_out: int = 0
    told_live: int = 0
    set_aside: int = 0
    receipts: int = 0
    written: int = 0
    on_record: int = 0
    length: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    is_torn: bool = False
    import_is_new: bool = False
    samples: list[dict[str, Any]] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that was set aside: its number, why, and its bytes."""

    number: int
    why: LineFault
    raw: bytes


class Import:
    """One run over one file."""

    def __init__(
        self, job: Job, on_fault: Callable[[Fault], None], on_batch: Report = lambda _: None
    ) -> None:
        """Take what is told of each line that is set aside, and after each batch."""
        self._job = job
        self._on_fault, self._on_batch = on_fault, on_batch
        self._instance = "/".join(job.source)
        self.progress = Progress()

    def run(self) -> Progress:
        """Read the file to its end; raises Unreadable or BadMap when that cannot be done."""
        with closing(Source(self._job.path)) as source, closing(Repeats()) as repeats:
            chosen = with_format(self._job.chosen, find_format(self._job.chosen, source.head))
            lines = source.lines(chosen)
            while batch := list(itertools.islice(lines, BATCH)):
                self._take(batch, repeats)
                self.progress.length = source.length
                self._on_batch(self.progress)
            self.progress.length, self.progress.is_torn = source.length, source.is_torn
            if self.progress.receipts and not self._job.is_dry:
                self._finish(source)
        return self.progress

    def _take(self, batch: Sequence[Line], repeats: Repeats) -> None:
        self.progress.lines += len(batch)
        made = list(self._read(batch))
        digests = [hashlib.sha256(line.raw).digest() for line, _ in made]
        drafts: list[tuple[Line, Draft, dict[str, Any]]] = []
        for (line, receipts), digest, ordinal in zip(
            made, digests, repeats.take(digests), strict=True
        ):
            drafts += self._prepare(line, receipts, digest.hex(), ordinal)
        self._store(drafts)

    def _read(self, batch: Sequence[Line]) -> Iterator[tuple[Line, list[dict[str, Any]]]]:
        """Give the lines that make receipts, with these."""
        for line in batch:
            try:
                made = self._make(line)
            except LineFault as why:
                self._set_aside(line, why)
                continue
            receipts = [one for one in made if not self._is_told_live(one)]
            if receipts:
                yield line, receipts
            elif made:
                self.progress.told_live += 1
            else:
                self.progress.left_out += 1

    def _is_told_live(self, receipt: dict[str, Any]) -> bool:
        since = self._job.live_since
        at = plain.time_of(receipt.get("occurred_at"))
        return since is not None and at is not None and at >= since

    def _make(self, line: Line) -> list[dict[str, Any]]:
        if line.fault is not None:
            raise line.fault
        chosen = self._job.chosen
        if chosen.rows:
            return [registry.row_readers[chosen.rows](line.record, self._job.source[1])]
        return chosen.make(line.record)

    def _prepare(
        self, line: Line, receipts: Sequence[dict[str, Any]], digest: str, ordinal: int
    ) -> list[tuple[Line, Draft, dict[str, Any]]]:
        """Make drafts of a line's receipts; none where one of them would be set aside."""
        found = []
        try:
            for part, receipt in enumerate(receipts):
                name = imports.line_id(self._instance, digest, ordinal, part)
                body = self._body(receipt, name)
                found.append((line, self._draft(body), body))
        except LineFault as why:
            self._set_aside(line, why)
            return []
        self.progress.taken += 1
        return found

    def _body(self, receipt: dict[str, Any], name: str) -> dict[str, Any]:
        system, instance = self._job.source
        source = {"system": system, "instance": instance, "via": imports.WHAT}
        return {"schema": imports.SCHEMA, "id": name, **receipt, "source": source}

    def _draft(self, body: dict[str, Any]) -> Draft:
        raw = canonical.canonical_text(body, without=())
        if len(raw) > MAX_BODY:
            raise LineFault("long", f"makes a receipt of {len(raw):,} bytes; {MAX_BODY:,} are kept")
        draft = ingest.prepare(raw, Envelope(self._job.project_id, clock.now()))
        if draft.state != ACCEPTED:
            first = draft.faults[0]
            raise LineFault(first.code, f"makes no receipt: {first.pointer} {first.detail}")
        return draft

    def _store(self, drafts: Sequence[tuple[Line, Draft, dict[str, Any]]]) -> None:
        standings = on_record.standing_of(self._job.project_id, [draft for _, draft, _ in drafts])
        fresh: dict[bytes, Draft] = {}
        refused: dict[int, Line] = {}
        for (line, draft, body), standing in zip(drafts, standings, strict=True):
            # A map may give ids of its own, and two lines of a batch the same one.
            if (same := fresh.get(draft.id_key)) is not None:
                standing = on_record.standing(draft, same.fingerprint)
            if standing == on_record.OTHER:
                refused[line.number] = line
                continue
            self._count(body, is_new=standing == on_record.NEW)
            if standing == on_record.NEW:
                fresh[draft.id_key] = draft
        for line in refused.values():
            self.progress.taken -= 1
            self._set_aside(line, OTHERWISE)
        if fresh and not self._job.is_dry:
            store.append(list(fresh.values()))

    def _count(self, body: dict[str, Any], *, is_new: bool) -> None:
        progress = self.progress
        progress.receipts += 1
        progress.written += is_new
        progress.on_record += not is_new
        if is_new and len(progress.samples) < SAMPLES:
            progress.samples.append(body)
        at = plain.time_of(body.get("occurred_at"))
        if at is not None:
            progress.first_at = min(at, progress.first_at or at)
            progress.last_at = max(at, progress.last_at or at)

    def _set_aside(self, line: Line, why: LineFault) -> None:
        self.progress.set_aside += 1
        if len(self.progress.faults) < FAULTS_KEPT:
            self.progress.faults.append((line.number, why.code))
        self._on_fault(Fault(line.number, why, line.raw))

    def _finish(self, source: Source) -> None:
        """Store the receipt of the import, unless the same one is on record."""
        progress, job = self.progress, self._job
        # A file that goes on beyond the first live receipt leaves no time between the two.
        until = job.live_since if progress.told_live else None
        told = imports.Told(
            source=job.source,
            file=job.path.name,
            file_sha256=source.sha256,
            length=source.length,
            map_name=job.chosen.name,
            map_sha256=job.chosen.digest,
            covers=job.chosen.covers,
            lines=progress.lines,
            taken=progress.taken,
            left_out=progress.left_out,
            told_live=progress.told_live,
            set_aside=progress.set_aside,
            receipts=progress.receipts,
            first_at=min(filter(None, (progress.first_at, job.covers[0])), default=None),
            last_at=max(filter(None, (progress.last_at, job.covers[1], until)), default=None),
            faults=tuple(progress.faults),
        )
        draft = self._draft(imports.import_receipt(told))
        (standing,) = on_record.standing_of(job.project_id, [draft])
        progress.import_is_new = standing != on_record.SAME
        if progress.import_is_new:
            store.append([draft])
