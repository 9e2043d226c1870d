"""What a resume would get: by the rule, by each version of the replica, and what was answered.

Source: reference/events-and-loops.md section 5.3; contract section 5, "resume".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from events.domain.given_answers import given_answer
from events.domain.probes import Probe, probes
from events.domain.profiles import ACTIVITY_PROFILES
from events.domain.resume import SERVE, Lane, answer
from events.domain.simulate import Compared, Simulation
from events.domain.times import moment, moment_or_none
from events.queries import answers
from events.queries.buffer_view import View
from events.queries.history import CAP, History, history_of
from events.queries.rows import Document
from ledger.queries.as_of import AsOf

LISTED = 100
GIVENS = 20
VERSIONS = dict(zip(ACTIVITY_PROFILES, ("v0", "v1", "v2", "v3"), strict=True))


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place that a client names: the text of its cursor, with its epoch where it has one."""

    text: str
    epoch: str | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """A lane at a moment with the models of some versions, of which any cursor can be asked."""

    view: View
    history: History
    lane: Lane
    models: Sequence[Simulation]

    def sent(self, cursor: str) -> list[int]:
        """Give the ids that the rule lets a client have: those held above its cursor."""
        number = int(cursor)
        return [one.id for one in self.view.ordered if one.id > number]


def bench_of(view: View, versions: Sequence[str]) -> Bench:
    """Play what the lane was sent to the models of some versions."""
    history = history_of(view)
    models = [
        Simulation(
            version,
            history.own,
            history.others,
            scope=view.channel,
            at=view.at,
            capacity=view.capacity,
        )
        for version in versions
    ]
    return Bench(view, history, view.vouched, models)


def resume_document(bench: Bench, cursor: Cursor, cut: AsOf) -> Document:
    """Give the answers to one cursor, with those at the edges and those really given."""
    safe = answer(bench.lane, cursor.text, cursor.epoch)
    compared = [model.ask(cursor.text, cursor.epoch) for model in bench.models]
    given = answers.of_lane(
        bench.view.project_id, bench.view.lane["lane"], bench.view.channel, cut, GIVENS
    )
    ids = bench.sent(cursor.text) if safe.answer == SERVE else []
    missed = next((one.missed for one in compared if one.missed), ())
    return {
        "lane": bench.view.lane["lane"],
        "channel": bench.view.channel or None,
        "at": moment(bench.view.at),
        "cursor": cursor.text,
        "epoch": cursor.epoch,
        "answer": safe.answer,
        "rule": safe.rule,
        "sentence": safe.sentence,
        "ids": _listed(ids),
        "count": len(ids),
        "would_miss": _listed([one.id for one in missed]),
        "would_miss_count": len(missed),
        "given": _newest_given(given, cursor),
        "versions": [_version(one, model) for one, model in _pairs(compared, bench)],
        "probes": [_probe(bench, one) for one in probes(bench.lane)],
        "givens": [_given(one) for one in given],
        "lane_then": _lane(bench.lane),
        "window": {
            "messages": bench.history.count,
            "cap": CAP,
            "capped": bench.history.is_capped,
            "from": moment_or_none(bench.history.first_at),
            "to": moment_or_none(bench.history.last_at),
        },
    }


def _pairs(compared: Sequence[Compared], bench: Bench) -> list[tuple[Compared, Simulation]]:
    return list(zip(compared, bench.models, strict=True))


def _listed(ids: Sequence[int]) -> list[str]:
    return [str(one) for one in ids[:LISTED]]


def _lane(lane: Lane) -> Document:
    """Give what the lane could vouch for, by which the rule answers."""
    return {
        "epoch": lane.epoch,
        "floor": None if lane.cold else str(lane.floor),
        "high_water": None if lane.cold else str(lane.high_water),
        "cold": lane.cold,
        "boundaries": [
            {"old_high_water": str(one.old_high_water), "kind": one.kind, "epoch": one.epoch}
            for one in lane.boundaries
        ],
    }


def _version(one: Compared, model: Simulation) -> Document:
    profile = model.replica.version.profile
    return {
        "version": _name_of(model),
        "profile": profile,
        "answer": one.given.kind,
        "word": one.given.answer,
        "rule": one.given.rule,
        "sentence": one.given.sentence,
        "ids": _listed(one.given.ids),
        "count": len(one.given.ids),
        "safe": {"answer": one.safe.answer, "rule": one.safe.rule, "sentence": one.safe.sentence},
        "would_miss": _listed([each.id for each in one.missed]),
        "would_miss_count": len(one.missed),
        "difference": one.code,
        "resets": dict(sorted(model.replica.resets.items())),
    }


def _name_of(model: Simulation) -> str:
    """Name what a model is of: a version of the activity bus, or the profile of another."""
    profile = model.replica.version.profile
    return VERSIONS.get(profile, profile)


def _probe(bench: Bench, probe: Probe) -> Document:
    edge = Cursor(str(probe.cursor), probe.epoch)
    safe = answer(bench.lane, edge.text, edge.epoch)
    compared = [model.ask(edge.text, edge.epoch) for model in bench.models]
    return {
        "name": probe.label,
        "cursor": edge.text,
        "epoch": edge.epoch,
        "answer": safe.answer,
        "rule": safe.rule,
        "sentence": safe.sentence,
        "versions": [
            {
                "version": _name_of(model),
                "answer": one.given.kind,
                "difference": one.code,
            }
            for one, model in _pairs(compared, bench)
        ],
    }


def _newest_given(given: Sequence[Document], cursor: Cursor) -> Document | None:
    """Give the newest answer that was really given to this very cursor."""
    own = (one for one in given if (one["cursor"], one["cursor_epoch"]) == (
        cursor.text, cursor.epoch))  # fmt: skip
    found = next(own, None)
    if found is None:
        return None
    return {
        "answer": given_answer(found["given"]),
        "word": found["given"],
        "at": found["at"],
        "ref": found["ref"],
        "code": found["code"],
    }


def _given(one: Document) -> Document:
    return {
        "cursor": one["cursor"],
        "epoch": one["cursor_epoch"],
        "answer": given_answer(one["given"]),
        "word": one["given"],
        "code": one["code"],
        "at": one["at"],
        "ref": one["ref"],
    }
