"""The true ID space of each message, found from the bands that the detectors drew."""

from __future__ import annotations

from collections.abc import Iterable

from events.domain import wire
from events.domain.decoded import Decoded, Frame
from events.domain.lane_facts import SpaceFacts
from events.domain.records import FRAME, JUNK, SECOND, Record
from events.domain.simulate import Seen, compare
from events.domain.stream import Stream, StreamSettings
from events.domain.true_spaces import TrueSpaces, seen_of
from tests.unit.events.replica_cast import WS, bare, hole, prefixed, record

END = 10_000 * SECOND


def settings(profile: str = "generation") -> StreamSettings:
    """Give the settings of an activity bus."""
    return StreamSettings("i1", "activity", profile, "sparse")


def bands_of(records: Iterable[Record]) -> tuple[list[tuple[Record, int]], list[SpaceFacts]]:
    """Run a lane through the detectors; give its records with their bands, and the bands."""
    stream = Stream(settings())
    messages = [(one, stream.take(one)) for one in records]
    bands = [
        SpaceFacts(one.ordinal, one.epoch, one.kind, one.born_at, one.last_at, one.first,
                   one.greatest)
        for one in stream.drain().spaces
    ]  # fmt: skip
    return messages, bands


def true_spaces(*records: Record) -> list[int]:
    """Give the true space of each record."""
    return [one.space for one in told(*records)]


def told(*records: Record) -> list[Seen]:
    """Give the records with their true spaces."""
    messages, bands = bands_of(records)
    return seen_of(messages, TrueSpaces(bands))


def test_messages_of_both_forms_that_take_turns_are_of_one_space() -> None:
    spaces = true_spaces(bare(1), bare(2, 1), prefixed(7, 3, 2), bare(4, 3), prefixed(7, 5, 4))

    assert len(set(spaces)) == 1


def test_messages_before_an_epoch_that_ends_them_are_of_a_space_of_their_own() -> None:
    spaces = true_spaces(bare(1), bare(2, 1), prefixed(7, 1, 2), prefixed(7, 2, 3))

    assert spaces == [spaces[0]] * 2 + [spaces[2]] * 2
    assert spaces[0] < spaces[2]


def test_bare_messages_count_to_the_epoch_in_force_when_they_came() -> None:
    spaces = true_spaces(
        prefixed(7, 1), bare(2, 1), prefixed(8, 3, 2), bare(4, 3), prefixed(8, 5, 4)
    )

    assert [spaces[1], spaces[3]] == [spaces[0], spaces[2]]
    assert spaces[0] < spaces[2]


def test_a_restart_that_the_numbers_prove_is_a_space_of_its_own() -> None:
    spaces = true_spaces(*(bare(id, n) for n, id in enumerate((100, 1, 2, 3, 4))))

    assert spaces[0] not in spaces[1:] and len(set(spaces[1:])) == 1


def test_a_lone_low_id_is_of_the_space_that_it_came_late_to() -> None:
    spaces = true_spaces(*(bare(id, n) for n, id in enumerate((4, 6, 9, 5, 10, 11))))

    assert len(set(spaces)) == 1


def band(ordinal: int, kind: str, epoch: str | None, born: int, last: int) -> SpaceFacts:
    """Make a band by what decides where its messages belong."""
    return SpaceFacts(ordinal, epoch, kind, born, last, 1, 9)


def test_a_restart_of_bare_ids_while_an_epoch_is_in_force_is_a_space_of_its_own() -> None:
    spaces = TrueSpaces([
        band(0, "adopted", "7", 0, 90),
        band(1, "epoch", None, 10, 90),
        band(2, "reset", None, 50, 90),
    ])  # fmt: skip

    assert [spaces.space_of(ordinal, 60) for ordinal in (0, 1, 2)] == [0, 0, 2]


def test_stray_ids_are_of_the_space_that_the_lane_was_in() -> None:
    stray = band(3, "stray", "7", 20, 90)
    named = TrueSpaces([band(0, "adopted", "7", 0, 90), band(1, "epoch", "8", 50, 90), stray])
    bare_only = TrueSpaces([band(0, "adopted", None, 0, 90), band(3, "stray", None, 20, 90)])

    assert [named.space_of(3, at) for at in (20, 60)] == [0, 1]
    assert bare_only.space_of(3, 20) == 0


def test_a_band_that_is_not_known_has_no_space() -> None:
    assert TrueSpaces([]).space_of(4, 0) == -1


def test_what_is_no_message_is_of_no_space() -> None:
    spaces = true_spaces(bare(1), record(FRAME, 1), record(JUNK, 2), hole(3, 4))

    assert spaces[1:] == [-1, -1, -1]


def test_the_roll_to_epochs_costs_one_needless_resync() -> None:
    own = told(bare(1), bare(2, 1), prefixed(7, 3, 2), bare(4, 3), prefixed(7, 5, 4))

    found = compare("v2", own, 2, scope=WS, at=END)

    assert (found.safe.answer, found.code) == ("serve", "NEEDLESS_RESYNC")


def test_another_lanes_spaces_are_ours_by_epoch_or_by_place() -> None:
    _, ours = bands_of([bare(1), prefixed(7, 5, 1), prefixed(8, 1, 2)])
    messages, theirs = bands_of([prefixed(7, 5, 1), prefixed(8, 1, 2), prefixed(9, 1, 3)])

    spaces = TrueSpaces(ours)
    seen = seen_of(messages, TrueSpaces(theirs), spaces.aligned(theirs))

    by_epoch = {one.epoch: one.ordinal for one in ours}
    assert [one.space for one in seen[:2]] == [by_epoch["7"], by_epoch["8"]]
    assert seen[2].space > max(by_epoch.values())


def test_what_our_lane_never_heard_of_is_missed() -> None:
    _, bands = bands_of([prefixed(7, 5, 1)])
    messages, theirs = bands_of([prefixed(7, 5, 1), prefixed(8, 1, 2)])
    spaces = TrueSpaces(bands)

    found = compare(
        "v2", told(prefixed(7, 5, 1)), 5, scope=WS, at=END,
        others=seen_of(messages, TrueSpaces(theirs), spaces.aligned(theirs)),
    )  # fmt: skip

    assert (found.code, [(one.epoch, one.id) for one in found.missed]) == (
        "SILENT_SKIP",
        [("8", 1)],
    )


BODY = '{"id":0,"type":"item_updated","workspace_id":"ws-1","timestamp":1}'


def received(profile: str, *texts: str) -> list[Record]:
    """Give what a tail records of these messages, read by a profile's decoder."""
    found = []
    for place, text in enumerate(texts):
        decoded = wire.decode(profile, WS, text.encode())
        if isinstance(decoded, Decoded):
            more = {"epoch": decoded.epoch, "id": decoded.id}
            found.append(record(decoded.form, place, **more))
        else:
            found.append(record(FRAME if isinstance(decoded, Frame) else JUNK, place))
    return found


def code_of(version: str, cursor: int, *texts: str) -> str | None:
    """Send messages to a version as bytes, and compare its answer with the safe one."""
    return compare(version, told(*received("v3", *texts)), cursor, scope=WS, at=END).code


def test_cases_29_and_30_from_the_bytes_on() -> None:
    good = f"7|5|{BODY}"

    for text in ("garbage", "7|4242|null", f"7|6|{BODY.replace('ws-1', 'ws-2')}"):
        assert code_of("v2", 5, good, text) is None
        assert code_of("v1", 5, good, text) == "SILENT_SKIP"


def test_case_59_a_frame_from_the_bytes_on() -> None:
    assert code_of("v3", 5, f"7|5|{BODY}", "hb|1") is None
    assert code_of("v2", 5, f"7|5|{BODY}", "hb|1") == "NEEDLESS_RESYNC"
