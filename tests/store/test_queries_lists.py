"""The list of receipts against a plain filter in Python over what the receipts say."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import eq, ge, gt, le, lt
from typing import Any

import pytest
import time_machine

from access.models import ApiToken
from kit import counts
from kit.http import ProblemError
from kit.search import Query, Term, moment, render
from ledger import documents, keys, statements
from ledger.domain import words
from ledger.domain.names import column
from ledger.domain.statement import Statement, normal_id
from ledger.models import Leaf, ReceiptBody
from ledger.queries import feeds, lists, where
from ledger.queries.fields import FIELDS
from tests import stories
from tests.databases import Database

Item = dict[str, Any]
COMPARES: dict[str, Callable[[int, int], bool]] = {
    "=": eq, ">": gt, ">=": ge, "<": lt, "<=": le,
}  # fmt: skip
ENDLESS = 500


@dataclass(frozen=True)
class Fact:
    """What one receipt says, and how the list without a query shows it."""

    statement: Statement
    item: Item
    body: Any
    producer: str
    executions: int


@dataclass(frozen=True)
class Told:
    """A story with its facts, newest first, as they are at one clock."""

    story: stories.Story
    now: datetime
    facts: list[Fact]

    def list(self, q: str, **given: Any) -> Item:
        with time_machine.travel(self.now, tick=False):
            asked = documents.asked(self.story.project.id, q, **{"limit": ENDLESS, **given})
            return documents.receipt_list(self.story.project.id, asked)

    def refs(self, q: str, **given: Any) -> list[str]:
        return [item["ref"] for item in self.list(q, **given)["items"]]

    def filter(self, query: Query) -> list[str]:
        """Give the refs that a query selects, by the plain filter."""
        return [fact.item["ref"] for fact in self.facts if is_met(fact, query, self.now)]


@pytest.fixture(scope="module")
def told(shared_database: Database) -> Iterator[Told]:
    keys.forget()
    story = stories.tell(51, 110)
    now = story.now + timedelta(hours=30)
    with time_machine.travel(now, tick=False):
        asked = documents.asked(story.project.id, "", ENDLESS)
        items = documents.receipt_list(story.project.id, asked)["items"]
    yield Told(story, now, facts_of(story, items))
    keys.forget()


def facts_of(story: stories.Story, items: list[Item]) -> list[Fact]:
    receipts = dict(Leaf.objects.values_list("leaf_index", "receipt"))
    raws = {pk: bytes(raw) for pk, raw in ReceiptBody.objects.values_list("pk", "raw")}
    known = statements.load_leaves(story.project.id, receipts)
    names = dict(ApiToken.objects.values_list("pk", "name"))
    starts = [one.job for one in known.values() if one.kind == "start" and one.job is not None]
    facts = []
    for item in items:
        leaf = int(item["leaf_index"])
        one = known[leaf]
        facts.append(
            Fact(
                one,
                item,
                parse(raws[receipts[leaf]]),
                names.get(one.token_id or 0, ""),
                starts.count(one.job) if one.job is not None else 0,
            )
        )
    return facts


def parse(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return {}


def is_met(fact: Fact, query: Query, now: datetime) -> bool:
    terms = all(is_term_met(fact, term, now) != term.negated for term in query.terms)
    return terms and all(is_word_met(fact, word) for word in query.words)


def is_term_met(fact: Fact, term: Term, now: datetime) -> bool:
    if term.path is not None:
        return any(member(fact.body, term) == value for value in term.values)
    if term.name in ("executions", "deliveries"):
        number = fact.executions if term.name == "executions" else fact.item["deliveries"]
        return any(COMPARES[term.comparison](number, int(value)) for value in term.values)
    if term.name == "gen" and term.comparison != "=":
        digits = fact.statement.generation
        is_number = digits.isascii() and digits.isdigit()
        return is_number and COMPARES[term.comparison](int(digits), int(term.values[0]))
    if "after" in term.name or "before" in term.name:
        return any(is_time_met(fact.statement, term.name, moment(v, now)) for v in term.values)
    return any(VALUES[term.name](fact, value) for value in term.values)


def is_time_met(one: Statement, name: str, at: datetime) -> bool:
    own = one.received_at if name.startswith("received") else one.happened_at
    return own >= at if name.endswith("after") else own < at


def member(body: Any, term: Term) -> str | None:
    path = [term.name, *(["fields"] if term.name == "key" else []), *(term.path or "").split(".")]
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    if isinstance(body, bool):
        return json.dumps(body)
    return None if body is None or isinstance(body, dict | list) else str(body)


def pointer_state(fact: Fact) -> str:
    return (fact.item["pointer"] or {}).get("state", "")


def named(one: Statement) -> str:
    if one.pointer is None:
        return ""
    return one.pointer.receipt or (one.pointer.job.text() if one.pointer.job else "")


def ruled(one: Statement) -> str:
    if one.rule is not None and one.rule.name:
        return one.rule.name
    return one.switch.name if one.switch is not None else ""


def is_source(one: Statement, value: str) -> bool:
    return f"{one.system}/{one.instance}" == value if "/" in value else one.system == value


def is_job(one: Statement, value: str) -> bool:
    if one.job is None:
        return False
    return column(value) in (column(one.job.text()), one.job.number)


VALUES: dict[str, Callable[[Fact, str], bool]] = {
    "id": lambda fact, value: fact.statement.id_key == normal_id(value),
    "kind": lambda fact, value: fact.statement.kind == value,
    "verdict": lambda fact, value: fact.item["verdict"]["code"] == value,
    "reason": lambda fact, value: (fact.statement.reason or "") == column(value),
    "task": lambda fact, value: fact.statement.task == column(value),
    "queue": lambda fact, value: fact.statement.queue == column(value),
    "source": lambda fact, value: is_source(fact.statement, value),
    "producer": lambda fact, value: fact.producer == value,
    "scope": lambda fact, value: fact.statement.scope == column(value),
    "invoke": lambda fact, value: fact.statement.invoke_id == column(value),
    "gen": lambda fact, value: fact.statement.generation == value,
    "job": lambda fact, value: is_job(fact.statement, value),
    "key": lambda fact, value: (fact.statement.key_digest or "") == value,
    "recipe": lambda fact, value: fact.statement.recipe == value,
    "original": lambda fact, value: column(named(fact.statement)) == column(value),
    "pointer": lambda fact, value: (
        pointer_state(fact) in words.UNRESOLVED
        if value == "unresolved"
        else pointer_state(fact) == value
    ),
    "outcome": lambda fact, value: (fact.item["pointer"] or {}).get("outcome") == value,
    "state": lambda fact, value: fact.statement.state == value,
    "level": lambda fact, value: fact.item["level"] == value,
    "rule": lambda fact, value: ruled(fact.statement) == column(value),
    "actor": lambda fact, value: (
        (fact.statement.actor_id or fact.statement.actor_label) == column(value)
    ),
    "subject": lambda fact, value: tuple(value.split(":", 1)) in fact.statement.subjects,
    "trace": lambda fact, value: fact.statement.trace_id == value,
}


def is_word_met(fact: Fact, word: str) -> bool:
    one = fact.statement
    names = {one.id_key, one.scope, one.trace_id, *(name for _, name in one.subjects)}
    job = {one.job.number, one.job.text()} if one.job is not None else set()
    return (
        bool({normal_id(word), column(word)} & {*names, *job} - {""})
        or word in (fact.item["ref"], f"n{fact.item['leaf_index']}")
    )  # fmt: skip


def values_of(told: Told, name: str) -> list[str]:
    """Give values of a qualifier: some that the story has, and some that it has not."""
    if name in ("executions", "deliveries"):
        return ["0", "1", "2", "3"]
    if "after" in name or "before" in name:
        times = [str(told.facts[at].statement.happened_at.isoformat()) for at in (0, 9, -1)]
        return [*times, told.facts[4].statement.received_at.isoformat(), "7d", "2026-10-06"]
    if name == "pointer":
        return [*words.POINTER_STATES, "unresolved"]
    one = FIELDS[name]
    if one.type == "word":
        return list(one.allowed)
    return seen(told, name)


def seen(told: Told, name: str) -> list[str]:
    read: dict[str, Callable[[Fact], str]] = {
        "id": lambda fact: fact.statement.id_text,
        "verdict": lambda fact: fact.item["verdict"]["code"],
        "reason": lambda fact: fact.statement.reason or "",
        "source": lambda fact: fact.statement.source,
        "producer": lambda fact: fact.producer,
        "gen": lambda fact: fact.statement.generation,
        "job": lambda fact: fact.statement.job.text() if fact.statement.job else "",
        "key": lambda fact: fact.statement.key_digest or "",
        "original": lambda fact: named(fact.statement),
        "rule": lambda fact: ruled(fact.statement),
        "actor": lambda fact: fact.statement.actor_id,
        "subject": lambda fact: ":".join(next(iter(fact.statement.subjects), ("x", "y"))),
        "trace": lambda fact: fact.statement.trace_id,
        "invoke": lambda fact: fact.statement.invoke_id,
    }
    tell = read.get(name, lambda fact: getattr(fact.statement, name))
    found = sorted({tell(fact) for fact in told.facts} - {""})
    more = ["101", "oban/", "none"] if name in ("job", "source") else ["x" * 300, "none"]
    return [*found, *more] if name != "subject" else [*found, "payout:none"]


def check(told: Told, *terms: Term, texts: tuple[str, ...] = ()) -> int:
    """Hold one query against the plain filter; gives how many rows it selects."""
    q = render(terms, texts)
    query = lists.parse_query(q)
    assert not query.faults, (q, query.faults)
    found = told.refs(q)
    assert found == told.filter(query), q
    return len(found)


NAMES = sorted(name for name, spec in FIELDS.items() if spec.type != "path")


@pytest.mark.parametrize("most", [4, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", NAMES)
def test_a_qualifier_selects_what_a_plain_filter_does(told: Told, name: str, most: int) -> None:
    chance = random.Random(name)
    values = values_of(told, name)
    picked = values if len(values) <= most else chance.sample(values, most)
    selected = 0
    for value in picked:
        selected += check(told, Term(name, (value,)))
        check(told, Term(name, (value,), negated=True))
    check(told, Term(name, tuple(picked[:3])))
    check(told, Term(name, tuple(picked[:3]), negated=True))

    assert selected


@pytest.mark.parametrize("name", ["gen", "executions", "deliveries"])
@pytest.mark.parametrize("comparison", [">", ">=", "<", "<="])
def test_numbers_are_compared_as_numbers(told: Told, name: str, comparison: str) -> None:
    for value in ("1", "2", "9", "10"):
        check(told, Term(name, (value,), comparison=comparison))
        check(told, Term(name, (value,), negated=True, comparison=comparison))


@pytest.mark.parametrize("queries", [20, pytest.param(80, marks=pytest.mark.slow)])
def test_terms_together_narrow_the_list(told: Told, queries: int) -> None:
    chance = random.Random(5)
    selected = 0
    for _ in range(queries):
        terms = []
        for name in chance.sample(NAMES, chance.choice((2, 3))):
            values = values_of(told, name)
            picked = tuple(chance.sample(values, min(len(values), chance.choice((1, 2, 6)))))
            terms.append(Term(name, picked, negated=chance.random() < 0.5))
        selected += bool(check(told, *terms))

    assert selected > queries // 6


def test_a_bare_word_is_looked_for_among_the_ids(told: Told) -> None:
    fact = told.facts[7]
    texts = ["101", "102", "e1", "PO-1", "PO-2", *stories.IDS, "oban/prod-1/101", "none", "n3",
             fact.item["ref"], "4bf92f3577b34da6a3ce929d0e0e4736", "link-1", "x" * 300]  # fmt: skip

    found = [check(told, texts=(text,)) for text in texts]
    check(told, Term("kind", ("skip",)), texts=("101",))
    check(told, texts=("101", "PO-1"))

    assert sum(map(bool, found)) > 8


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("key", "call", "1"),
        ("key", "who", "a"),
        ("key", "nothing", "1"),
        ("data", "event", "stop"),
        ("data", "n", "1.5"),
        ("data", "n", "2"),
        ("data", "event.deeper", "stop"),
    ],
)
def test_a_path_is_read_from_the_bodies(told: Told, name: str, path: str, value: str) -> None:
    check(told, Term(name, (value,), path=path))
    check(told, Term(name, (value,), path=path, negated=True))
    check(told, Term(name, (value,), path=path), Term("kind", ("done", "skip")))


def pages(told: Told, q: str, limit: int, between: Callable[[], None] = lambda: None) -> list[Item]:
    found = [told.list(q, limit=limit)]
    while found[-1]["next"] is not None:
        between()
        found.append(told.list(q, limit=limit, cursor=found[-1]["next"]))
    return found


@pytest.mark.parametrize("q", ["", "kind:skip", "-pointer:resolved", "data.event:stop", "101"])
@pytest.mark.parametrize("limit", [1, 7, 500])
def test_pages_visit_each_row_once(told: Told, q: str, limit: int) -> None:
    if limit == 1 and q == "":
        q = "kind:start"

    found = pages(told, q, limit)

    assert [item["ref"] for page in found for item in page["items"]] == told.refs(q)
    assert {len(page["items"]) for page in found[:-1]} <= {limit}


def test_rows_that_arrive_meanwhile_are_counted_and_move_no_page(
    sqlite_database: Database,
) -> None:
    story = stories.tell(52, 25)
    told = Told(story, story.now + timedelta(hours=1), [])
    before = told.refs("kind:done,skip,start")
    arrived = 0

    def arrive() -> None:
        nonlocal arrived
        story.post({"kind": "done"}, {"kind": "heartbeat"})
        story.catch_up()
        arrived += 1

    found = pages(told, "kind:done,skip,start", 3, arrive)

    assert [item["ref"] for page in found for item in page["items"]] == before
    assert [page["newer"] for page in found] == list(range(arrived + 1))


def test_a_small_list_is_counted_exactly_and_a_large_one_to_the_cap(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = told.list("")
    assert (everything["count"].value, everything["count"].method) == (len(told.facts), "exact")
    some = told.list("kind:skip", limit=2)["count"]
    assert (some.value, some.method) == (len(told.refs("kind:skip")), "exact")

    monkeypatch.setitem(counts.capped.__kwdefaults__, "cap", 5)

    capped = told.list("kind:skip")["count"]
    assert (capped.value, capped.method) == (5, "capped")


def test_a_list_of_all_says_that_all_was_searched(told: Told) -> None:
    document = told.list("task:mail.send", limit=1)
    window, is_whole = document["window"], not document["feed"]["incomplete"]

    assert (window["searched"], window["complete"], window["lag"]) == (
        len(told.facts), is_whole, 0,
    )  # fmt: skip
    assert window["from"] <= window["to"] <= told.now


def test_a_search_without_an_index_looks_at_the_newest_and_says_so(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, "SCANNED", 10)

    for q in ("queue:q1", "-task:none", "kind:skip,done,start"):
        window = told.list(q)["window"]
        assert (window["searched"], window["complete"]) == (10, False)
        newest = [fact.item["ref"] for fact in told.facts[:10]]
        assert told.refs(q) == [ref for ref in told.filter(lists.parse_query(q)) if ref in newest]
    by_index = told.list("task:mail.send")
    assert by_index["window"]["complete"] is feeds.is_whole(by_index["feed"])


def test_a_search_of_bodies_stops_goes_on_with_the_next_page_and_claims_no_more(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = told.refs("data.event:stop")
    monkeypatch.setattr(lists, "BODIES_READ", 10)
    monkeypatch.setattr(lists, "CHUNK", 5)

    found = pages(told, "data.event:stop", 50)

    assert [item["ref"] for page in found for item in page["items"]] == everything
    assert len(found) > 3
    assert {page["count"].method for page in found} == {"capped"}
    assert [page["window"]["complete"] for page in found[:-1]] == [False] * (len(found) - 1)
    assert found[0]["window"]["searched"] == 10


@pytest.mark.parametrize(
    "q", ["colour:red", "kind:nonsense", "gen:>x", 'task:"open', "key.:1", "subject:payout", "-a"]
)
def test_a_query_that_is_not_understood_selects_nothing(told: Told, q: str) -> None:
    with pytest.raises(ProblemError) as raised:
        told.list(q)

    assert raised.value.status == 400


def test_an_export_streams_the_rows_of_the_list(told: Told) -> None:
    with time_machine.travel(told.now, tick=False):
        asked = documents.asked(told.story.project.id, "kind:skip,done")
        rows = list(lists.stream_receipts(told.story.project.id, asked))

    assert rows == told.list("kind:skip,done")["items"]
