"""A page as of a leaf and a clock shows what a ledger cut after that leaf shows at that clock.

The cut is made: a second ledger that gets the log leaf by leaf, and is looked at as it is now.
Answers are compared whole, as JSON. Nothing of them is left out: deliveries are no leaves, so the
cut ledger gets those that had come by its clock.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from kit import http
from ledger import documents, keys
from ledger.domain import pointers
from ledger.domain.leaf import rfc3339
from ledger.models import EntrySubject, PointerEvent
from ledger.projectors.book import Book
from ledger.queries import lists
from tests import cuts, stories
from tests.databases import Database, copy_of_sqlite

QUERIES = (
    "",
    "pointer:unresolved",
    "-pointer:pending",
    "-pointer:dangling,resolved",
    "verdict:skip.original_missing,skip.already_done",
    "-verdict:skip.original_missing",
    "level:recorded",
    "executions:>1",
    "deliveries:>1",
    "-gen:>1 kind:skip",
    "after:7d -reason:already_done",
    "101",
)
Look = tuple[str, ...]
Views = dict[Look, bytes]


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


def look(project_id: int, at: Look, as_of: str = "") -> bytes:
    """Give the bytes of one answer."""
    what, *names = at
    if what == "list":
        asked = documents.asked(project_id, names[0], 7, "", as_of)
        return bytes(http.json_response(documents.receipt_list(project_id, asked)).content)
    if what == "export":
        asked = documents.asked(project_id, names[0], as_of_text=as_of)
        rows = list(lists.stream_receipts(project_id, asked))
        return bytes(http.json_response(rows).content)
    tell = {
        "receipt": documents.receipt,
        "explain": documents.explanation,
        "subject": documents.subject,
    }
    return bytes(http.json_response(tell[what](project_id, *names, as_of)).content)


def looks(leaf: int, chance: random.Random) -> list[Look]:
    """Choose what to look at in a ledger that ends with a leaf."""
    moved = PointerEvent.objects.filter(at_leaf=leaf).values_list("leaf_index", flat=True)
    chosen = {leaf, *moved, *chance.sample(range(leaf + 1), min(leaf + 1, 3))}
    found: list[Look] = [
        (what, f"n{one}") for one in sorted(chosen) for what in ("receipt", "explain")
    ]
    subjects = EntrySubject.objects.filter(leaf_index__in=chosen).values_list("type", "subject")
    found += [("subject", kind, name) for kind, name in sorted(set(subjects))]
    found += [("list", q) for q in chance.sample(QUERIES, 4)]
    return [*found, ("export", "")]


def look_at_cuts(log: cuts.Cut, project_id: int, leaves: list[int]) -> dict[tuple[str, int], Views]:
    """Grow a ledger leaf by leaf in the default database, and note what it shows at each.

    Noted by the text of `as_of`: the leaf's number, or a time between two heads, with the leaf
    that was the last then.
    """
    chance = random.Random(1)
    noted: dict[tuple[str, int], Views] = {}
    log.begin()
    for leaf in leaves:
        at = log.head(leaf).committed_at
        log.grow(leaf, at)
        stories.derive_in(project_id, 1)
        noted[f"n{leaf}", leaf] = note(project_id, at, looks(leaf, chance))
        later = at + timedelta(seconds=chance.choice((0.5, 60, 90_000)))
        if log.last_leaf_at(later) == leaf:
            log.deliver(leaf, later)
            noted[rfc3339(later), leaf] = note(project_id, later, looks(leaf, chance))
    return noted


def note(project_id: int, at: datetime, wanted: list[Look]) -> Views:
    with time_machine.travel(at, tick=False):
        return {one: look(project_id, one) for one in wanted}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [21, 22])
def test_a_page_as_of_a_leaf_is_the_page_of_a_ledger_cut_there(
    database: Database, seed: int, sqlite_template: Path, tmp_path: Path
) -> None:
    story = stories.tell(seed, 30)
    leaves = stories.leaves_of(story)
    log = cuts.take()

    folder = tmp_path / "cut"
    folder.mkdir()
    with copy_of_sqlite(sqlite_template, folder):
        noted = look_at_cuts(log, story.project.id, leaves)

    keys.forget()
    assert any(text[0] != "n" for text, _ in noted)
    with time_machine.travel(story.now + timedelta(days=30), tick=False):
        for (as_of, leaf), views in noted.items():
            for one, shown in views.items():
                assert look(story.project.id, one, as_of) == shown, (one, as_of, leaf)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [23, 24, 25])
def test_the_newest_event_of_a_pointer_is_what_following_it_then_finds(
    sqlite_database: Database, seed: int
) -> None:
    story = stories.tell(seed, 50)
    project_id = story.project.id

    for leaf in stories.leaves_of(story):
        book = Book(project_id, leaf + 1)
        for one in range(leaf + 1):
            found = pointers.find_pointer(book.get(one), book)
            events = PointerEvent.objects.filter(leaf_index=one, at_leaf__lte=leaf)
            # A receipt about a call has events of its verdict, though it points at nothing.
            newest = events.exclude(pointer_state="").order_by("at_leaf").last()
            told = newest and (
                newest.pointer_state, newest.outcome, newest.due_at, newest.target, newest.terminal
            )  # fmt: skip
            expected = found and (
                found.state, found.outcome, found.due_at, found.target_leaf, found.terminal_leaf
            )  # fmt: skip
            assert told == expected, (one, leaf)


def test_starts_and_deliveries_that_came_later_do_not_count_in_the_past(
    sqlite_database: Database,
) -> None:
    story = stories.tell(26, 0)
    job = {"job": {"id": "101"}, "source": {"system": "oban", "instance": "prod-1"}}
    first = {"kind": "start", "id": "first", **job}
    story.post(first)
    story.catch_up()
    leaf = max(stories.leaves_of(story))
    story.wait(60)
    story.post({"kind": "start", "id": "second", **job})
    story.post(first)
    story.wait(60)
    story.catch_up()

    def count(q: str, as_of: str = "") -> int:
        with time_machine.travel(story.now, tick=False):
            asked = documents.asked(story.project.id, q, as_of_text=as_of)
            return len(documents.receipt_list(story.project.id, asked)["items"])

    for q in ("executions:>1 id:first", "deliveries:>1 id:first"):
        assert (count(q), count(q, f"n{leaf}")) == (1, 0)


def test_a_near_match_lies_near_and_comes_only_when_it_has_come(
    sqlite_database: Database,
) -> None:
    story = stories.tell(27, 0)

    def keyed(kind: str, call: int) -> stories.Body:
        key = {"recipe": "calls", "fields": {"call": call, "who": "a"}}
        return {"kind": kind, "job": {"task": "payout"}, "key": key}

    given = [keyed("start", 1), keyed("skip", 2), *[keyed("start", 3 + at) for at in range(60)]]
    story.post(*given, token_id=story.tokens[0])
    story.catch_up()
    first = len(stories.leaves_of(story)) - len(given)

    def near(as_of: str = "") -> list[int]:
        with time_machine.travel(story.now, tick=False):
            found = documents.explanation(story.project.id, f"n{first + 1}", as_of)
        return [int(one["leaf_index"]) - first for one in found["near_matches"]]

    assert near(f"n{first + 1}") == [0]
    assert near(f"n{first + 3}") == [0, 2, 3]
    assert near()[:3] == [0, 2, 3]
