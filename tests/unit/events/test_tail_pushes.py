"""Messages are cut from a connection's bytes, wherever these end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from events.integrations import redis_pushes
from events.integrations.redis_pushes import Message, Pushes

PATTERN = "pad:events:*"


def by_pattern(channel: bytes, body: bytes, pattern: bytes = PATTERN.encode()) -> bytes:
    return written(b"pmessage", pattern, channel, body)


def by_name(channel: bytes, body: bytes) -> bytes:
    return written(b"message", channel, body)


def written(*parts: bytes) -> bytes:
    bulks = b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)
    return b"*%d\r\n%b" % (len(parts), bulks)


def cut(pushes: Pushes, raw: bytes, *ends: int) -> list[Message]:
    """Give what is cut of bytes that come in several parts."""
    found = []
    for start, end in zip((0, *sorted(ends)), (*sorted(ends), len(raw)), strict=True):
        found += pushes.cut(raw[start:end])
    return found


BODIES = st.lists(st.one_of(st.binary(max_size=60), st.just(b"\r\n*4\r\n$8\r\npmessage\r\n$0")))


@given(BODIES, st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_each_message_comes_out_once_and_in_order(
    bodies: list[bytes], ends: list[int], is_by_pattern: bool
) -> None:
    write = by_pattern if is_by_pattern else by_name
    raw = b"".join(write(b"pad:events:ws-%d" % n, body) for n, body in enumerate(bodies))
    pushes = Pushes((), [PATTERN]) if is_by_pattern else Pushes(["pad:events:ws-0"])

    found = cut(pushes, raw, *(min(end, len(raw)) for end in ends))

    assert found == [(b"pad:events:ws-%d" % n, b, len(b)) for n, b in enumerate(bodies)]


def test_answers_between_messages_are_passed_over() -> None:
    raw = b"*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n"
    raw += by_pattern(b"a", b"1") + b"*2\r\n$4\r\npong\r\n$0\r\n\r\n" + by_pattern(b"a", b"2")

    found = Pushes((), [PATTERN]).cut(raw)

    assert [body for _, body, _ in found] == [b"1", b"2"]


def test_messages_of_several_patterns_keep_their_order() -> None:
    raw = b"".join(by_pattern(b"c", b"%d" % n, b"ab"[n % 2 :][:1]) for n in range(6))

    found = Pushes((), ["a", "b"]).cut(raw)

    assert [body for _, body, _ in found] == [b"%d" % n for n in range(6)]


def test_an_error_between_messages_is_kept_as_text() -> None:
    pushes = Pushes((), [PATTERN])

    found = pushes.cut(b"-NOPERM no more\r\n" + by_pattern(b"a", b"1"))

    assert (pushes.faults, len(found)) == (["NOPERM no more"], 1)


def test_of_a_long_message_only_the_beginning_is_in_memory() -> None:
    length = redis_pushes.LONGEST + 5
    raw = by_pattern(b"a", b"x" * length) + by_pattern(b"a", b"short")
    pushes = Pushes((), [PATTERN])

    found = cut(pushes, raw, *range(70_000, len(raw), 70_000))

    [(channel, kept, told), after] = found
    assert (channel, len(kept), told) == (b"a", redis_pushes.BEGINNING, length)
    assert after == (b"a", b"short", 5)


def test_a_long_message_that_ends_with_its_chunk_does_not_take_the_next_one() -> None:
    long = by_pattern(b"a", b"x" * (redis_pushes.LONGEST + 1))
    pushes = Pushes((), [PATTERN])

    found = cut(pushes, long + by_pattern(b"a", b"1"), 100_000, len(long) - 2, len(long))

    assert [told for _, _, told in found] == [redis_pushes.LONGEST + 1, 1]
