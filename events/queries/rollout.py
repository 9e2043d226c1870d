"""The rollout board of an installation, from what its replicas told and what its buses carry.

Source: reference/pad.md sections 4 and 7 (point 2).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from events.domain.profiles import ACTIVITY_PROFILES
from events.domain.records import PREFIXED
from events.domain.roll_counters import COUNTERS, Sample
from events.domain.roll_phases import version_of
from events.domain.rollout import Board, Cell, ReplicaFacts, Row, board
from events.domain.times import moment, moment_or_none
from events.queries import bus_documents, buses, installations, rows
from events.queries.rows import Document
from kit import bulk
from ledger.queries.as_of import AsOf

REPLICAS, SAMPLES = 500, 20_000
LOOKED = "looked"
"""Stands for no counter: when a replica was looked at first and last."""
_METRICS = (
    "SELECT replica, name, at, value FROM bus_metric WHERE project_id = %s "
    "AND installation_id = %s AND (name LIKE 'pad_event_sequence_resets_total%%' "
    "OR name LIKE 'pad_event_resume_gaps_total%%') ORDER BY replica, name, leaf_index LIMIT %s"
)
_EPOCHS = (
    "SELECT max(last_at) FROM bus_space WHERE project_id = %s AND bus IN "
    "(SELECT bus FROM bus WHERE project_id = %s AND installation_id = %s) AND epoch IS NOT NULL"
)


def rollout_document(project_id: int, installation: str, cut: AsOf) -> Document:
    """Give the board: each replica with its phase and its counters beside what to expect."""
    row = installations.get_installation(project_id, installation)
    told = _replicas(project_id, installation)
    made = board(
        _facts(project_id, installation, told), is_prefixed_seen=_is_prefixed(project_id, row)
    )
    by_name = {one["replica"]: one for one in told}
    return {
        "id": row["installation"],
        "name": row["name"],
        **_mix(made),
        "counters": list(COUNTERS),
        "items": [_row(one, by_name[one.replica]) for one in made.rows],
        **bus_documents.around_page(project_id, cut),
    }


def _replicas(project_id: int, installation: str) -> list[Document]:
    where = (
        "FROM bus_replica WHERE project_id = %s AND installation_id = %s ORDER BY replica LIMIT %s"
    )
    columns = "replica, phase, heartbeat_phase, namespace, started_at, sampled_at, first_leaf"
    return rows.select(columns, where, [project_id, installation, REPLICAS])


def _facts(project_id: int, installation: str, told: Sequence[Document]) -> list[ReplicaFacts]:
    samples: dict[str, dict[str, list[Sample]]] = defaultdict(lambda: defaultdict(list))
    for replica, name, at, value in bulk.select_rows(_METRICS, [project_id, installation, SAMPLES]):
        samples[replica][name].append(Sample(at, value))
    ((epoch_at,),) = bulk.select_rows(_EPOCHS, [project_id, project_id, installation])
    first = _first_looks(project_id, installation)
    profiles = _profiles(project_id, installation)
    return [
        ReplicaFacts(
            replica=one["replica"],
            phase=one["phase"],
            heartbeat_phase=one["heartbeat_phase"],
            version=version_of(one["phase"], one["heartbeat_phase"], profiles.get(one["replica"])),
            knows_epoch=epoch_at is not None and epoch_at >= (one["started_at"] or 0),
            metrics={
                **samples[one["replica"]],
                LOOKED: [
                    Sample(first.get(one["replica"]) or one["sampled_at"], 0),
                    Sample(one["sampled_at"], 0),
                ],
            },
        )
        for one in told
    ]


def _profiles(project_id: int, installation: str) -> dict[str, str]:
    """Give the profile that the newest segment of each replica's own lane names."""
    found = bulk.select_rows(
        "SELECT l.replica, l.profile FROM bus_lane l JOIN bus b ON b.project_id = l.project_id "  # noqa: S608
        "AND b.bus = l.bus WHERE l.project_id = %s AND b.installation_id = %s "
        f"AND l.profile IN ({rows.marks(ACTIVITY_PROFILES)}) ORDER BY l.last_leaf",
        [project_id, installation, *ACTIVITY_PROFILES],
    )
    return dict(found)


def _first_looks(project_id: int, installation: str) -> dict[str, int]:
    """Give when each replica first told of itself."""
    return dict(
        bulk.select_rows(
            "SELECT replica, min(at) FROM bus_phase WHERE project_id = %s "
            "AND installation_id = %s GROUP BY replica",
            [project_id, installation],
        )
    )


def _is_prefixed(project_id: int, row: Document) -> bool:
    """Tell whether the newest message of an activity bus came with an epoch."""
    listed = installations.bus_rows(project_id, [row["installation"]])
    lanes = buses.lanes_of(project_id, [one["bus"] for one in listed])
    return any(one["form"] == PREFIXED for one in lanes if one["profile"] in ACTIVITY_PROFILES)


def _mix(made: Board) -> Document:
    return {"mix": made.mix, "sentence": made.sentence, "illegal": made.is_illegal}


def _row(one: Row, told: Document) -> Document:
    return {
        "replica": one.replica,
        "state": one.state or None,
        "label": one.label,
        "rule": one.rule,
        "phase": told["phase"] or None,
        "heartbeat_phase": one.heartbeat_phase or None,
        "namespace": told["namespace"] or None,
        "started_at": moment_or_none(told["started_at"]),
        "sampled_at": moment(told["sampled_at"]),
        "verdict": one.verdict,
        "sentence": one.sentence or None,
        "cells": [_cell(cell) for cell in one.cells],
    }


def _cell(cell: Cell) -> Document:
    growth = cell.growth
    return {
        "counter": cell.counter,
        "total": None if growth is None else growth.total,
        "rises": None if growth is None else growth.rises,
        "restarts": None if growth is None else growth.restarts,
        "last": None if growth is None else growth.last,
        "absent": cell.is_absent,
        "verdict": cell.judged.verdict,
        "expected": cell.judged.expected or None,
        "rule": cell.judged.rule,
        "note": cell.judged.note or None,
    }
