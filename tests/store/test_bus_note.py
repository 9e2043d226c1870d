"""`manage.py bus_note`: what it says comes into the log, and counts from there on."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from events.projectors import folds
from kit.commands import UsageError
from ledger import keys
from tests.bus_desk import BusDesk, begin, numbered
from tests.databases import Database

MAINTAIN = ("bus_note", "maintain", "--project=acme", "--bus=i1/activity", "--reason=upgrade")


@pytest.fixture
def desk(sqlite_database: Database) -> BusDesk:
    keys.forget()
    folds.forget()
    return begin("acme")


def say(desk: BusDesk, *words: str) -> None:
    with desk.story.travel():
        call_command(*words)
    desk.story.wait(1)
    desk.story.catch_up()


def test_a_new_epoch_in_a_maintenance_is_planned(desk: BusDesk) -> None:
    say(desk, *MAINTAIN, "--from=2026-10-05T09:00:00Z", "--to=2026-10-05T23:00:00+02:00")

    desk.told(numbered(100)).told(numbered(1, "8"))

    assert desk.codes() == ["EPOCH_CHANGE_PLANNED"]
    assert desk.select("verb, actor, target", "bus_setting") == [
        ("maintain", "command line of the server", "bus:i1/activity")
    ]


def test_one_installation_under_two_names_is_not_held_against_itself(desk: BusDesk) -> None:
    token = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f"
    alias = ("bus_note", "alias", "--project=acme", "--reason=same Redis")
    say(desk, *alias, "--installation=i1", "--also=i2")

    desk.told(numbered(1, token), profile="opaque")
    desk.told(numbered(1, token, body="other"), installation="i2", profile="opaque")

    assert desk.codes() == []
    assert desk.select("name, alias_of", "bus_installation") == [("i1", "i2"), ("i2", "")]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--from=soon", "--to=2026-10-05T09:00:00Z"), UsageError),
        (("--from=2026-10-05T09:00:00", "--to=2026-10-05T10:00:00Z"), UsageError),
        (("--from=2026-10-05T09:00:00Z", "--to=2026-10-05T09:00:00Z"), CommandError),
        (("--from=2026-10-05T09:00:00Z", "--to=2026-10-06T09:00:00Z", "--bus=i1"), UsageError),
        (("--from=2026-10-05T09:00:00Z", "--to=2026-10-06T09:00:00Z", "--project=no"),
         CommandError),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said_and_notes_nothing(
    desk: BusDesk, words: tuple[str, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        call_command(*MAINTAIN, *words)

    assert desk.select("target", "access_action", "verb = 'maintain'") == []
