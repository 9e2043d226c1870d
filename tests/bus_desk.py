"""A project whose buses a test tells of, message by message, with a clock that the test moves."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from events.domain.records import BARE, FRAME, JUNK, PREFIXED
from events.domain.rows import Row
from events.domain.segments import Builder, Lane
from events.domain.times import micros
from kit import bulk, ids
from ledger.domain.leaf import rfc3339
from tests import stories

Body = dict[str, Any]
BUS = ids.public_id("b", "i1", "activity")
FRAME_ROW = Row(0, FRAME, None, None, "", "", 4, "hb|1")
JUNK_ROW = Row(0, JUNK, None, None, "ws-1", "j" * 16, 9, note="json")


def lane_id(replica: str = "tail", installation: str = "i1", bus: str = "activity") -> str:
    return ids.public_id("l", installation, bus, replica)


def numbered(number: int, epoch: str | None = "7", scope: str = "ws-1", body: str = "") -> Row:
    """Give a message at the start of time; `told` moves it. Its body goes by its number."""
    printed = hashlib.sha256(f"{number}{body}".encode()).hexdigest()[:16]
    form = BARE if epoch is None else PREFIXED
    return Row(0, form, epoch, number, scope, printed, 300, f'{{"id":{number}}}')


@dataclass
class BusDesk:
    """Tells a project's ledger of buses."""

    story: stories.Story
    builders: dict[tuple[str, ...], Builder] = field(default_factory=dict)

    @property
    def project_id(self) -> int:
        return self.story.project.id

    def wait(self, seconds: float) -> BusDesk:
        self.story.wait(seconds)
        return self

    def segment(
        self,
        *found: Row,
        replica: str = "tail",
        installation: str = "i1",
        bus: str = "activity",
        profile: str = "generation",
    ) -> bytes:
        """Make the receipt of a segment, its messages a millisecond apart from now on."""
        key = (installation, bus, replica, profile)
        incarnation = "4d0d1e0a-0000-4000-8000-000000000001"
        builder = self.builders.setdefault(key, Builder(Lane(*key, incarnation)))
        at = micros(self.story.now)
        for place, row in enumerate(found):
            assert builder.add(row._replace(at=at + 1_000 * place)) is None
        made = builder.close()
        assert made is not None
        return made.raw

    def tell(self, *bodies: Body | bytes) -> BusDesk:
        """Hand receipts in as our own, and follow them into the tables."""
        self.story.watch(bodies)
        self.story.wait(1)
        self.story.catch_up()
        return self

    def told(self, *found: Row, **lane: str) -> BusDesk:
        """Tell of a segment with these messages."""
        return self.tell(self.segment(*found, **lane))

    def observe(self, what: str, **members: Any) -> BusDesk:
        now = rfc3339(self.story.now)
        about = {"installation": "i1", "bus": "activity", "sampled_at": now}
        return self.tell({"kind": "observe", "what": what, **about, **members})

    def act(self, verb: str, target: str = "bus:i1/activity", **members: Any) -> BusDesk:
        return self.tell({"kind": "act", "act": {"verb": verb, "target": target}, **members})

    def select(self, columns: str, table: str, where: str = "project_id > 0") -> list[Any]:
        """Give rows of a table by their columns, in order; of one column alone its values."""
        statement = f"SELECT {columns} FROM {table} WHERE project_id = %s AND {where}"  # noqa: S608
        rows = bulk.select_rows(f"{statement} ORDER BY {columns}", [self.project_id])
        return rows if ", " in columns else [value for (value,) in rows]

    def codes(self) -> list[str]:
        """Give the codes of the findings that stand."""
        return list(self.select("code", "bus_finding", "until_leaf IS NULL"))


def begin(slug: str = "") -> BusDesk:
    """Make a project whose ledger is empty."""
    with stories.time_machine.travel(stories.BEGINS, tick=False):
        return BusDesk(stories.Story(stories.factories.make_project(slug), 1))
