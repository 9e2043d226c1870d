"""What a receipt states that is about no one job: a heartbeat, an observation, a tally, a move."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ledger.domain import plain, policies
from ledger.domain.act_accounts import who
from ledger.domain.naming import job_words
from ledger.domain.statement import Statement

Fields = list[tuple[str, str]]
MOST = 12
"""Channels or tasks that are told one by one."""

NOT_JUDGED = "Kept as it is: receipts of this kind are not judged."


def _heartbeat(statement: Statement) -> str:
    loop = f"the loop {statement.loop}" if statement.loop else "a loop that is not named"
    beat = plain.name_of(statement.body.get("beat"))
    says = f"says “{beat}”" if beat else "gives no state"
    return f"A heartbeat of {loop}: the producer {says} and {_channels_read(statement)}"


def _channels_read(statement: Statement) -> str:
    read = _channels(statement)
    if not read:
        return "names no channel"
    if len(read) > 1:
        return f"tells how far it read {len(read)} channels"
    name, told = read[0]
    return f"tells how far it read {name}: {told}"


def _channels(statement: Statement) -> Fields:
    found = []
    for each in plain.list_of(statement.body.get("channels")):
        one = plain.object_of(each)
        name = plain.name_of(one.get("channel")) or "a channel without a name"
        found.append((name, _reach(one)))
    return found


def _reach(channel: Mapping[str, object]) -> str:
    first, last = plain.name_of(channel.get("from")), plain.name_of(channel.get("to"))
    told = f"after {first} through {last}" if first and last else last or first or "not said"
    if first and first == last:
        told = f"nothing new after {last}"
    outcome = plain.name_of(channel.get("outcome"))
    return f"{told}, {outcome}" if outcome else told


def _observation(statement: Statement) -> str:
    if statement.is_row and statement.job is not None:
        state = f" as “{statement.job_state}”" if statement.job_state else ""
        return f"An observation: {job_words(statement.job)} stood in its table{state}"
    named = _OBSERVED.get(statement.what)
    if named is not None:
        return f"An observation: {named(statement.body)}"
    what = f" of “{statement.what}”" if statement.what else ", and what was observed is not said"
    return f"An observation{what}"


def _heads(body: Mapping[str, object]) -> str:
    heads = plain.list_of(body.get("heads"))
    count = "1 channel" if len(heads) == 1 else f"{len(heads):,} channels"
    return f"how far {count} reached, sampled by the producer"


def _resume(body: Mapping[str, object]) -> str:
    cursor, answer = plain.name_of(body.get("cursor")), plain.name_of(body.get("answer"))
    return f"a resume at {cursor or 'no cursor'} was answered with “{answer or 'nothing'}”"


def _policy(body: Mapping[str, object]) -> str:
    version = plain.name_of(body.get("version"))
    return f"what the producer records singly, tallies or never sends{_version(version)}"


def _version(version: str) -> str:
    return f", version {version}" if version else ""


def _feed(body: Mapping[str, object]) -> str:
    spool = plain.name_of(body.get("spool")) or "a spool that is not named"
    written = plain.name_of(body.get("written"))
    told = f"{written} written" if written else "nothing of how much it wrote"
    closed = ", and closes" if body.get("closed") is True else ""
    return f"the spool {spool} says of itself: {told}{closed}"


def _arrived(body: Mapping[str, object]) -> str:
    spool = plain.name_of(body.get("spool")) or "a spool that is not named"
    ranges = [plain.list_of(one) for one in plain.list_of(body.get("ranges"))]
    told = [
        f"{plain.name_of(one[0])} to {plain.name_of(one[1])}" for one in ranges if len(one) == 2
    ]
    more = f" and {len(told) - MOST:,} more ranges" if len(told) > MOST else ""
    return f"of the spool {spool} these numbers arrived: {', '.join(told[:MOST])}{more}"


def _import(body: Mapping[str, object]) -> str:
    told = plain.object_of(body.get("import"))
    file = plain.name_of(told.get("file")) or "a file that is not named"
    taken, lines = _number(told, "taken"), _number(told, "lines")
    return f"the file {file} was imported: {taken:,} of its {lines:,} lines make receipts"


def _tasks(body: Mapping[str, object]) -> str:
    tasks = plain.list_of(body.get("tasks"))
    count = "1 task" if len(tasks) == 1 else f"{len(tasks):,} tasks"
    return f"in which ways the ledger can learn of {count}"


_OBSERVED: dict[str, Callable[[Mapping[str, object]], str]] = {
    "heads": _heads,
    "resume": _resume,
    "policy": _policy,
    "tasks": _tasks,
    "feed": _feed,
    "arrived": _arrived,
    "import": _import,
    "segment": lambda body: "messages of a lane, kept as one segment",
    "buffer": lambda body: "what a replica held in its buffer",
}


def _tally(statement: Statement) -> str:
    counted = _counts(statement)
    done = sum(_number(one, "done") for one in counted)
    retried = sum(_number(one, "retried") for one in counted)
    return f"A tally: the producer counts {done:,} done and {retried:,} retried, in one receipt"


def _counts(statement: Statement) -> list[Mapping[str, object]]:
    return [plain.object_of(one) for one in plain.list_of(statement.body.get("counts"))]


def _number(one: Mapping[str, object], name: str) -> int:
    return plain.integer_of(one.get(name)) or 0


def _decision(statement: Statement) -> str:
    move = plain.name_of(statement.body.get("move")) or "something"
    decision = plain.name_of(statement.body.get("decision")) or "a decision that is not named"
    return f"A move: the producer says that {who(statement)} gave “{move}” on {decision}"


def _other(statement: Statement) -> str:
    word = f"the kind “{statement.word}”" if statement.word else "no kind"
    return f"Kept as it came: a receipt of {word}, for which there are no rules"


ACCOUNTS: dict[str, Callable[[Statement], str]] = {
    "heartbeat": _heartbeat,
    "observe": _observation,
    "tally": _tally,
    "decide": _decision,
    "other": _other,
}
"""What each of these kinds says, as a sentence without its full stop."""

_FIELDS: dict[str, tuple[str, ...]] = {
    "heartbeat": ("loop", "beat", "n", "incarnation", "run_id", "period_s", "grace_s"),
    "observe": (
        "what", "bus", "replica", "channel", "epoch", "cursor", "answer", "served", "first",
        "last", "floor", "high_water", "capacity", "version", "sampled_at",
    ),
    "tally": ("policy",),
    "decide": ("decision", "move", "text_hash", "commit"),
    "other": (),
}  # fmt: skip


_IMPORT = (
    "file", "sha256", "bytes", "map", "map_sha256", "covers", "lines", "taken", "left_out",
    "told_live", "set_aside", "receipts", "first_at", "last_at",
)  # fmt: skip


def fields(statement: Statement) -> Fields:
    """Return what was sent, name by name, and one line for each channel or task."""
    names = _FIELDS[statement.kind]
    found = [(name, plain.name_of(statement.body.get(name))) for name in names]
    if statement.kind == "decide" and who(statement) != "somebody":
        found.append(("who", who(statement)))
    return [(name, value) for name, value in [*found, *_lines(statement)] if value]


def _lines(statement: Statement) -> Fields:
    if statement.kind == "heartbeat":
        return _cut(_channels(statement), "channels")
    if statement.kind == "observe" and statement.what in _LINES:
        return _LINES[statement.what](statement.body)
    if statement.kind != "tally":
        return []
    window = plain.object_of(statement.body.get("window"))
    bounds = [(name, plain.name_of(window.get(name))) for name in ("from", "to")]
    return [*bounds, *_cut([_count_line(one) for one in _counts(statement)], "tasks")]


def _import_lines(body: Mapping[str, object]) -> Fields:
    told = plain.object_of(body.get("import"))
    return [(name, plain.name_of(told.get(name))) for name in _IMPORT]


def _policy_lines(body: Mapping[str, object]) -> Fields:
    return [(name, _patterns(plain.list_of(body.get(name)))) for name in policies.CHOICES]


def _patterns(listed: list[object]) -> str:
    more = f" and {len(listed) - MOST:,} more" if len(listed) > MOST else ""
    return " ".join(plain.name_of(each) for each in listed[:MOST]) + more


def _task_lines(body: Mapping[str, object]) -> Fields:
    found = (plain.object_of(each) for each in plain.list_of(body.get("tasks")))
    named = ((plain.name_of(each.get("task")), each) for each in found)
    lines = [(name, _ways(each)) for name, each in named if name]
    return [("celery", plain.name_of(body.get("celery"))), *_cut(lines, "tasks")]


def _ways(task: Mapping[str, object]) -> str:
    return ", ".join(plain.name_of(way) for way in plain.list_of(task.get("sees"))) or "nothing"


_LINES: dict[str, Callable[[Mapping[str, object]], Fields]] = {
    "import": _import_lines,
    "policy": _policy_lines,
    "tasks": _task_lines,
}
"""What some observations state line by line."""


def _count_line(one: Mapping[str, object]) -> tuple[str, str]:
    task = plain.name_of(one.get("task")) or "work without a name"
    return task, f"{_number(one, 'done'):,} done, {_number(one, 'retried'):,} retried"


def _cut(lines: Fields, name: str) -> Fields:
    more = len(lines) - MOST
    return lines if more <= 0 else [*lines[:MOST], (f"more {name}", f"{more:,}")]
