"""What an explanation tells of the same job, key and object, and of the skips that rest on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine

from access.models import ApiToken
from access.rows import Actor, ProjectRow
from config import follower
from kit import ids
from ledger import documents, ingest, keys, redrive
from ledger.domain import verdicts
from ledger.domain.draft import Envelope
from ledger.models import Entry, Receipt
from ledger.projectors.receipts import ReceiptsProjector
from ledger.queries import dependents
from tests import factories
from tests.databases import Database

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
ALICE = Actor("person", "u-17", "Alice")
JOB: dict[str, Any] = {"id": "101", "task": "mail.send"}
PAYOUT = [{"type": "payout", "id": "PO-88213"}]
Body = dict[str, Any]


@dataclass
class Told:
    """A project with what was posted to it, explained by number."""

    project: ProjectRow
    token: int

    def post(self, *given: Body | bytes) -> list[Receipt]:
        raws = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in given]
        outcomes = ingest.ingest(raws, Envelope(self.project.id, NINE, token_id=self.token))
        follower.catch_up()
        return [Receipt.objects.get(pk=one.receipt) for one in outcomes]

    def explain(self, receipt: Receipt, as_of: str = "") -> Body:
        return documents.explanation(self.project.id, ids.ref_of(receipt.pk), as_of)

    def leaf(self, receipt: Receipt) -> int:
        return int(Entry.objects.get(receipt=receipt.pk).leaf_index)


@pytest.fixture
def told(sqlite_database: Database) -> Iterator[Told]:
    keys.forget()
    with time_machine.travel(NINE, tick=False):
        project = factories.make_project("acme")
        listing, _ = factories.make_token(project, source="oban/prod-1")
        yield Told(project, ApiToken.objects.get(prefix=listing.prefix).pk)


def kinds_of(group: Body) -> list[str]:
    return [item["kind"] for item in group["items"]]


def test_a_start_tells_the_rest_of_its_job_and_how_it_ended(told: Told) -> None:
    _, begun, done = told.post(
        {"kind": "enqueue", "job": JOB}, {"kind": "start", "job": JOB}, {"kind": "done", "job": JOB}
    )

    found = told.explain(begun)

    (group,) = found["known"]["groups"]
    assert (group["of"], group["name"]) == ("job", "oban/prod-1/101")
    assert kinds_of(group) == ["enqueue", "done"]
    assert found["known"]["ended"]["ref"] == ids.ref_of(done.pk)
    assert found["will_run"]["answer"] == "no"
    assert found["will_run"]["because"] == f"№{told.leaf(done)} says that the work is done"


def test_the_list_that_a_group_leads_to_holds_what_it_shows(told: Told) -> None:
    key = {"recipe": "mail", "fields": {"to": 7}}
    first, _, _ = told.post(
        {"kind": "start", "job": JOB, "key": key, "subjects": PAYOUT},
        {"kind": "start", "job": {"id": "102"}, "key": key},
        {"kind": "done", "job": {"id": "103"}, "subjects": PAYOUT},
    )

    groups = {one["of"]: one for one in told.explain(first)["known"]["groups"]}

    assert sorted(groups) == ["key", "payout"]
    for group in groups.values():
        asked = documents.asked(told.project.id, group["q"])
        listed = [one["ref"] for one in documents.receipt_list(told.project.id, asked)["items"]]
        assert {item["ref"] for item in group["items"]} <= set(listed)


def test_an_original_names_the_skips_that_rest_on_it_directly_and_through_others(
    told: Told,
) -> None:
    original, *skips = told.post(
        {"kind": "done", "id": "a", "job": JOB},
        {"kind": "skip", "reason": "already_done", "original": {"receipt": "a"}},
        {"kind": "skip", "id": "b", "original": {"job": "101"}},
        {"kind": "skip", "original": {"receipt": "b"}},
        {"kind": "skip", "original": {"receipt": "elsewhere"}},
    )

    found = told.explain(original)["dependents"]

    assert found["count"] == {"value": 3, "method": "exact"}
    wanted = [ids.ref_of(one.pk) for one in reversed(skips[:3])]
    assert [item["ref"] for item in found["items"]] == wanted
    assert found["items"][-1]["reason_words"] == "already done"


def test_only_what_had_come_by_then_is_told_of_the_past(told: Told) -> None:
    (original,) = told.post({"kind": "start", "id": "a", "job": JOB})
    told.post({"kind": "done", "job": JOB}, {"kind": "skip", "original": {"receipt": "a"}})

    found = told.explain(original, f"n{told.leaf(original)}")

    assert found["known"]["groups"] == []
    assert found["dependents"]["count"]["value"] == 0
    assert found["will_run"]["because"] == "it was started, and no end of it is on record"


def test_of_a_name_that_too_many_asked_for_the_count_says_that_it_is_cut(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dependents, "WAITS", 2)
    original, *_ = told.post(
        {"kind": "done", "id": "a"},
        *({"kind": "skip", "id": f"s{n}", "original": {"receipt": "a"}} for n in range(3)),
    )

    assert told.explain(original)["dependents"]["count"] == {"value": 2, "method": "capped"}


def test_an_act_of_ours_tells_who_did_what_to_which_receipt_and_why(told: Told) -> None:
    (aside,) = told.post(b"'done'")
    redrive.close(told.project.id, aside, ALICE, "a test of the producer")
    follower.catch_up()
    act = Receipt.objects.get(
        pk=Entry.objects.filter(project_id=told.project.id, kind="act").latest("leaf_index").receipt
    )

    found = told.explain(act)

    ref = ids.ref_of(aside.pk)
    assert found["verdict"]["sentence"] == f"An act in this ledger: Alice closed receipt:{ref}."
    assert found["verdict"]["decisive"] == "The reason given: “a test of the producer”."
    assert found["act"]["said_by"] == "ledger"
    assert found["times"]["occurred"]["by"] == "ledger"
    assert [item["ref"] for item in found["known"]["groups"][0]["items"]] == [ref]
    assert "producer told the truth" not in " ".join(found["cannot_know"])


def test_an_act_of_a_producer_cannot_pass_for_ours(told: Told) -> None:
    claim = {"verb": "close", "target": "receipt:r0", "reason": "x"}
    source = {"system": "counterfoil", "via": "client"}
    (act,) = told.post({"kind": "act", "act": claim, "actor": {"id": "u-17"}, "source": source})

    found = told.explain(act)

    assert found["verdict"]["sentence"].startswith("An act: the producer says that u-17")
    assert found["act"]["said_by"] == "producer"


def raise_rules(monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a release whose rules call a paused skip something else; gives the version before."""
    before = str(ReceiptsProjector().rules_version)
    monkeypatch.setattr(ReceiptsProjector, "rules_version", int(before) + 1)
    by_reason = {**verdicts.BY_REASON, "paused": "skip.draining"}
    monkeypatch.setattr(verdicts, "BY_REASON", by_reason)
    return before


def test_a_receipt_that_was_judged_again_tells_what_it_was_and_under_which_rules(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused: Body = {"kind": "skip", "reason": "paused", "rule": {"name": "r"}}
    changed, same = told.post(paused, {"kind": "done"})
    before = raise_rules(monkeypatch)

    follower.catch_up()

    verdict = told.explain(changed)["verdict"]
    assert (verdict["code"], verdict["rules_version"]) == ("skip.draining", str(int(before) + 1))
    was = verdict["was"]
    assert (was["code"], was["word"]) == ("skip.paused", "skip, paused")
    assert was["rules_version"] == before
    assert told.explain(same)["verdict"]["was"] is None


def test_the_act_of_judging_again_leads_to_what_it_judged(
    told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    (changed,) = told.post({"kind": "skip", "reason": "paused", "rule": {"name": "r"}})
    raise_rules(monkeypatch)
    follower.catch_up()
    was = told.explain(changed)["verdict"]["was"]

    act = documents.explanation(told.project.id, was["act"]["ref"])

    assert act["verdict"]["sentence"] == (
        "Judged again: after a change of rules, 1 receipt is judged otherwise by this ledger."
    )
    assert act["verdict"]["decisive"] == "1 from skip.paused to skip.draining."
    groups = {one["of"]: one for one in act["known"]["groups"]}
    assert [item["ref"] for item in groups["judged"]["items"]] == [ids.ref_of(changed.pk)]


def test_a_producer_cannot_have_a_receipt_look_judged_again(told: Told) -> None:
    (done,) = told.post({"kind": "done"})
    ref = ids.ref_of(done.pk)
    told.post(
        {
            "kind": "act",
            "subjects": [{"type": "rules", "id": "receipts"}],
            "act": {"verb": "judged again", "rules_before": {"receipts": "1"}},
            "data": {"was": {ref: "fail"}},
        }
    )

    assert told.explain(done)["verdict"]["was"] is None
