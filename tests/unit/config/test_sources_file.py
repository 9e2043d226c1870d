"""The sources file: what is read of it, what is refused, and how it is written again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.sources import comparing, exporting, reading
from config.sources.reading import BadFile, Entry

FILE = """
[bus.live]
redis_env = "BUS_REDIS"
channels = ["events:*"]
form = "json"
id = "$.seq"
epoch = "$.epoch"
channel = "channel:1"
density = "dense"
buffer = {events = 512, seconds = 300}
heartbeat = "$.type == 'hb'"
mask = ["$.actor_name"]

[bus.activity]
installation = "i1"
profile = "v2"
redis_env = "BUS_REDIS"
namespace = "blue"
metrics = ["http://127.0.0.1:9100/metrics=web-1"]

[oban.prod-1]
dsn_env = "OBAN_DSN"
table = "oban_jobs"

[loop.relay]
period = "45s"

[repo.st]
url = "https://git.example/st"
"""


def test_each_table_is_a_source_by_its_target() -> None:
    read = reading.read(FILE)

    assert list(read.entries) == ["bus:default/live", "bus:i1/activity", "source:oban/prod-1"]
    live, activity, oban = read.entries.values()
    assert live.settings["buffer"] == {"events": 512, "seconds": 300}
    assert live.settings["profile"] == "generic" and live.settings["redis_env"] == "BUS_REDIS"
    assert activity.settings["profile"] == "generation"
    assert "installation" not in activity.settings
    assert oban.settings == {"dsn_env": "OBAN_DSN", "table": "oban_jobs"}


def test_what_no_part_watches_yet_is_named() -> None:
    assert reading.read(FILE).unwatched == ("loop.relay", "repo.st")


def test_what_is_applied_is_written_so_that_reading_gives_it_again() -> None:
    entries = reading.read(FILE).entries

    assert reading.read(exporting.write(entries.values())).entries == entries


@given(st.text(min_size=1, max_size=30).filter(lambda text: "\r" not in text))
def test_any_text_comes_through_the_file_as_it_is(text: str) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > 255:
        return
    entry = Entry("bus", "live", "bus:default/live", {"channels": [text], "id": "$.seq"})

    try:
        read = reading.read(exporting.write([entry]))
    except UnicodeEncodeError:
        return

    assert read.entries["bus:default/live"].settings["channels"] == [text]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[bus", "no TOML"),
        ("bus = 1", "bus: holds no tables"),
        ("[bus]\nlive = 1", "bus.live: is no table"),
        ('[bus.live]\ncolour = "red"', "bus.live.colour: is no setting of a bus"),
        ('[bus.live]\nprofile = "v9"', "bus.live.profile"),
        ('[bus.live]\nchannels = ["a"]', "bus.live.id: says where an event has its number"),
        ('[bus.activity]\nredis = "redis://u:hunter2@c/0"', "write redis_env"),
        ('[bus.activity]\nredis_env = "redis://c"', "takes the name of a variable"),
        ('[bus.activity]\nmetrics = ["http://u:hunter2@c/metrics"]', "has a secret in it"),
        ('[bus.activity]\nnamespace = "A:b"', "takes lower-case letters"),
        ('[bus.activity]\ninstallation = "a/b"', "a name has 1 to 64"),
        ('[bus."a/b"]\nprofile = "v2"', "a name has 1 to 64"),
        ('[oban.prod-1]\ndsn = "postgresql://u:hunter2@h/app"', "write dsn_env"),
        ("[oban.prod-1]", "oban.prod-1.dsn_env: is missing"),
        ('[oban.prod-1]\ndsn_env = "A"\ncolour = 1', "oban.prod-1.colour: is no setting"),
    ],
)
def test_a_fault_says_where_it_is_and_what_to_write(text: str, fault: str) -> None:
    with pytest.raises(BadFile) as refused:
        reading.read(text)

    assert fault in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_every_fault_of_a_file_is_named_at_once() -> None:
    with pytest.raises(BadFile) as refused:
        reading.read('[bus.a]\ncolour = 1\n[bus.b]\nprofile = "v2"\nid = "$.x"\n[oban.c]')

    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "bus.a.colour", "bus.b.id", "oban.c.dsn_env",
    ]  # fmt: skip


def entry(name: str, **settings: object) -> Entry:
    return Entry("bus", name, f"bus:default/{name}", settings)


def test_a_difference_is_told_by_its_members() -> None:
    before = {"bus:default/a": entry("a", density="dense", keep=1), "bus:default/c": entry("c")}
    wanted = {"bus:default/a": entry("a", density="sparse", mask=[]), "bus:default/b": entry("b")}

    found = comparing.compare(
        reading.Sources(wanted, ("loop.x",)), before,
        [("bus:default/a", "the bus default/a"), ("source:oban/x", "the Oban table x")],
    )  # fmt: skip

    assert list(found.lines()) == [
        "+ bus.b: is not applied yet",
        '~ bus.a: density "dense" becomes "sparse"; keep 1 becomes unset; mask unset becomes []',
        "  bus.c: was applied and is not in the file; it stays as it is",
        "  the Oban table x: is in use and is not in the file",
        "  loop.x: is not watched by this version",
    ]
    assert found.differs
