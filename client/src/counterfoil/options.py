"""The options of the `counterfoil` command."""

from __future__ import annotations

import argparse
import json
from typing import Any, NoReturn

from counterfoil import receipts
from counterfoil.errors import CounterfoilError

USAGE = 3


class Parser(argparse.ArgumentParser):
    """Ends with exit code 3 for wrong options, as all commands of Counterfoil do."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and how the command is used."""
        self.exit(USAGE, f"{self.format_usage()}{self.prog}: {message}\n")


def build() -> Parser:
    """Give the parser of all commands."""
    parser = Parser(
        prog="counterfoil",
        description="Write receipts to the spool and deliver them to a Counterfoil server.",
        epilog="The token is never an argument: set COUNTERFOIL_TOKEN_FILE or COUNTERFOIL_TOKEN.",
    )
    parser.add_argument("--spool", metavar="DIR", help="the spool directory (COUNTERFOIL_SPOOL)")
    parser.add_argument("--url", help="the server's address (COUNTERFOIL_URL)")
    parser.add_argument("--token-file", metavar="FILE", help="COUNTERFOIL_TOKEN_FILE")
    parser.add_argument("--source", metavar="SYSTEM/INSTANCE", help="COUNTERFOIL_SOURCE")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_receipt(commands)
    _add_skip(commands)
    _add_act(commands)
    _add_beat(commands)
    _add_run(commands)
    _add_forward(commands)
    _add_spool(commands)
    return parser


def key_of(text: str) -> dict[str, Any]:
    """Read a key as NAME=VALUE[,NAME=VALUE…], with RECIPE: before it when it has one."""
    head, colon, rest = text.partition(":")
    recipe, pairs = (head, rest) if colon and "=" not in head else ("", text)
    fields = dict(pair.partition("=")[::2] for pair in pairs.split(","))
    if not all(name and "=" in pair for name, pair in zip(fields, pairs.split(","))):
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=VALUE or RECIPE:NAME=VALUE,…")
    return {"recipe": recipe, "fields": fields} if recipe else {"fields": fields}


def original_of(text: str) -> dict[str, str] | None:
    """Read an original as receipt:ID, job:ID or none."""
    if text == "none":
        return None
    kind, _, name = text.partition(":")
    if kind not in ("receipt", "job") or not name:
        raise argparse.ArgumentTypeError(f"{text!r}: write receipt:ID, job:ID or none")
    return {kind: name}


def object_of(text: str) -> dict[str, Any]:
    """Read a JSON object."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise argparse.ArgumentTypeError("a JSON object is wanted")
    return found


def subject_of(text: str) -> dict[str, str]:
    """Read a subject as TYPE:ID."""
    return _checked(receipts.subject_of, text)


def channel_of(text: str) -> dict[str, str]:
    """Read a channel as CHANNEL:FROM..TO."""
    return _checked(receipts.channel_of, text)


def seconds_of(text: str) -> float:
    """Read a length of time: 45, 45s, 2m, 1h or 1d."""
    unit = {"s": 1, "m": 60, "h": 3600, "d": 86400}.get(text[-1:], 0)
    try:
        seconds = float(text[:-1] if unit else text) * (unit or 1)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r}: write a length of time as 45s, 2m, 1h or 1d")
    return seconds


def _checked(read: Any, text: str) -> dict[str, str]:
    try:
        found: dict[str, str] = read(text)
    except CounterfoilError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return found


def _add_common(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--id", help="the receipt's id; without it a UUIDv7 is made")
    add("--at", dest="occurred_at", metavar="TIME", help="when it happened (RFC 3339); now")
    add("--task"), add("--queue"), add("--job", metavar="ID", help="the job's number")
    add("--subject", dest="subjects", action="append", type=subject_of, metavar="TYPE:ID")
    add("--key", type=key_of, metavar="[RECIPE:]NAME=VALUE,…")
    add("--data", type=object_of, metavar="JSON")
    add("--fields", type=object_of, default={}, metavar="JSON", help="any further fields")
    _add_no_send(parser)


def _add_no_send(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-send", action="store_true", help="only put it in the spool")


def _add_receipt(commands: Any) -> None:
    parser = commands.add_parser("receipt", help="write a receipt")
    parser.add_argument("kind", help="done, start, fail, enqueue, observe, …")
    parser.add_argument("--reason")
    parser.add_argument("--durable", action="store_true", help="on disk before it is reported")
    _add_common(parser)


def _add_skip(commands: Any) -> None:
    parser = commands.add_parser("skip", help="write that something was not done, and why")
    parser.add_argument("--reason", help="already_done, in_flight, rate_limited, …")
    pointer = parser.add_mutually_exclusive_group()
    pointer.add_argument("--original", type=original_of, default=argparse.SUPPRESS)
    pointer.add_argument("--holder", default=argparse.SUPPRESS, help="the name a guard gave")
    parser.add_argument("--rule", metavar="NAME", help="the rule that explains it")
    parser.add_argument("--rule-version", metavar="V")
    _add_common(parser)


def _add_act(commands: Any) -> None:
    parser = commands.add_parser("act", help="write that somebody paused, released, deployed, …")
    parser.add_argument("verb", help="pause, resume, cancel, retry, delete, release, override, …")
    parser.add_argument("target", help="for example queue:payouts")
    parser.add_argument("--by", required=True, metavar="ID", help="who did it")
    parser.add_argument("--why", required=True, metavar="TEXT")
    parser.add_argument("--commit", default=argparse.SUPPRESS)
    _add_no_send(parser)


def _add_loop_times(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--period", dest="period_s", type=seconds_of, metavar="45s")
    parser.add_argument("--grace", dest="grace_s", type=seconds_of, metavar="60s")
    parser.add_argument("--incarnation")


def _add_beat(commands: Any) -> None:
    parser = commands.add_parser("beat", help="write a heartbeat with what the loop saw")
    parser.add_argument("loop")
    parser.add_argument(
        "--channel",
        dest="channels",
        action="append",
        type=channel_of,
        default=[],
        metavar="CHANNEL:FROM..TO[=gap]",
        help="lobby:90..100 has read 91 to 100",
    )
    parser.add_argument("--beat", choices=["start", "ok", "fail", "log"], default="ok")
    parser.add_argument("--n", type=int, help="which beat this is")
    parser.add_argument("--run-id")
    _add_loop_times(parser)
    _add_no_send(parser)


def _add_run(commands: Any) -> None:
    parser = commands.add_parser("run", help="run a command between two heartbeats")
    parser.add_argument("--loop", required=True)
    _add_loop_times(parser)
    _add_no_send(parser)
    parser.add_argument("argv", nargs=argparse.REMAINDER, metavar="-- CMD …")


def _add_forward(commands: Any) -> None:
    parser = commands.add_parser("forward", help="send what lies in spool directories")
    parser.add_argument(
        "--spool",
        dest="spools",
        action="append",
        metavar="DIR",
        help="may be given several times; all go to one server",
    )
    parser.add_argument("--once", action="store_true", help="make one pass and end")
    parser.add_argument(
        "--status", action="store_true", help="say how it is doing; 1 when none runs or it hangs"
    )


def _add_spool(commands: Any) -> None:
    parser = commands.add_parser("spool", help="look at the spool, or send it now")
    parser.add_argument("what", choices=["status", "flush"])
    parser.add_argument("--spool", default=argparse.SUPPRESS, metavar="DIR")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--timeout", type=seconds_of, default=10.0, metavar="10s")
