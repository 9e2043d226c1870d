"""The `counterfoil` command.

Exit codes: 0 when the receipt is in the spool, whatever the server does; 2 when it could not be put
there; 3 for wrong options. `run` ends as its command ended.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from counterfoil import forwarding, ids, options, status
from counterfoil.client import Client
from counterfoil.errors import CounterfoilError, SettingsError, SpoolError
from counterfoil.sender import Speaker
from counterfoil.settings import from_env

_COMMON = ("id", "occurred_at", "task", "queue", "job", "subjects", "key", "data")
_LOOP = ("period_s", "grace_s", "incarnation")
SEND_TIMEOUT_S = 2.0
NOT_FOUND = 127
NOT_EXECUTABLE = 126


def main(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code."""
    logging.basicConfig(format="counterfoil: %(message)s", level=logging.INFO)
    given = options.build().parse_args(argv)
    try:
        client = _client(given)
    except SettingsError as error:
        return _complain(error, options.USAGE)
    try:
        return int(_COMMANDS[given.command](client, given))
    except (CounterfoilError, OSError) as error:
        return _complain(error, 2)
    finally:
        client.close()


def _client(given: argparse.Namespace) -> Client:
    settings = from_env(
        spool=given.spool,
        url=given.url,
        token_file=given.token_file,
        source=given.source,
        name="cli" if given.command != "forward" else None,
        send=False,
    )
    return Client(settings, timeout_s=10.0 if given.command == "forward" else SEND_TIMEOUT_S)


def _complain(error: Exception, code: int) -> int:
    print(f"counterfoil: {error}", file=sys.stderr)
    return code


def _receipt(client: Client, given: argparse.Namespace) -> int:
    fields = {**given.fields, **_given(given, *_COMMON, "reason")}
    return _report(client, given, client.receipt(given.kind, durable=given.durable, **fields))


def _skip(client: Client, given: argparse.Namespace) -> int:
    fields = {**given.fields, **_given(given, *_COMMON, "reason")}
    fields.update({k: getattr(given, k) for k in ("original", "holder") if hasattr(given, k)})
    if given.rule:
        version = {"version": given.rule_version} if given.rule_version else {}
        fields["rule"] = {"name": given.rule, **version}
    return _report(client, given, client.skip(**fields))


def _act(client: Client, given: argparse.Namespace) -> int:
    fields = _given(given, "commit")
    receipt = client.act(given.verb, given.target, by=given.by, why=given.why, **fields)
    return _report(client, given, receipt)


def _beat(client: Client, given: argparse.Namespace) -> int:
    fields = _given(given, *_LOOP, "n", "run_id")
    receipt = client.beat(given.loop, beat=given.beat, channels=given.channels, **fields)
    return _report(client, given, receipt)


def _run(client: Client, given: argparse.Namespace) -> int:
    argv = given.argv[1:] if given.argv[:1] == ["--"] else given.argv
    if not argv:
        return _complain(CounterfoilError("Write the command after --"), options.USAGE)
    run_id, fields = ids.v7(), _given(given, *_LOOP)
    _try_beat(client, given.loop, beat="start", run_id=run_id, **fields)
    begun = time.monotonic()
    code = _run_command(argv)
    data = {"exit_code": code, "duration_s": round(time.monotonic() - begun, 3)}
    beat = "fail" if code else "ok"
    _try_beat(client, given.loop, beat=beat, run_id=run_id, data=data, **fields)
    _send(client, given)
    return code


def _try_beat(client: Client, loop: str, **fields: Any) -> None:
    # The command must run, and end as it ends, whatever becomes of the heartbeats.
    try:
        client.beat(loop, **fields)
    except CounterfoilError as error:
        _complain(error, 0)


def _run_command(argv: list[str]) -> int:
    process: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def hand_on(number: int, _: object) -> None:
        early.append(number) if process is None else process.send_signal(number)

    # Set before the command starts, so that none is missed; a handler, unlike SIG_IGN, is not
    # inherited by it. A terminal sends Ctrl-C to the command as well: we only stay until it ends.
    for caught in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(caught, hand_on)
    signal.signal(signal.SIGINT, lambda *_: None)
    try:
        process = subprocess.Popen(argv)
    except FileNotFoundError as error:
        return _complain(error, NOT_FOUND)
    except OSError as error:
        return _complain(error, NOT_EXECUTABLE)
    for number in early:
        process.send_signal(number)
    code = process.wait()
    return code if code >= 0 else 128 - code


def _forward(client: Client, given: argparse.Namespace) -> int:
    directories = [Path(d) for d in given.spools or [client.settings.spool]]
    if given.status:
        return max([_say_status(directory) for directory in directories])
    if not client.settings.url and not client.settings.off:
        return _complain(SettingsError("COUNTERFOIL_URL is not set"), options.USAGE)
    clients = [Client(replace(client.settings, spool=directory)) for directory in directories]
    try:
        if given.once:
            return max([_say_outcome(one) for one in clients])
        return _forward_until_told(clients)
    finally:
        for one in clients:
            one.close()


def _forward_until_told(clients: list[Client]) -> int:
    turns = [turn for turn in (client.turn() for client in clients) if turn is not None]
    stop = forwarding.Stop(turn.forwarder for turn in turns)
    stop.on_signals()
    forwarding.run(turns, stop)
    return 0


def _say_status(directory: Path) -> int:
    is_well, sentence = forwarding.verdict_of(directory, time.time())
    print(f"{directory}: {sentence}; {forwarding.sentence_of(status.of(directory))}")
    return 0 if is_well else 1


def _spool(client: Client, given: argparse.Namespace) -> int:
    if given.what == "flush":
        client.flush(given.timeout)
        return _say_outcome(client)
    directory = client.settings.spool
    found = status.of(directory)
    is_well, sentence = forwarding.verdict_of(directory, time.time())
    if given.json:
        told = {"is_forwarded": is_well, "forwarder": sentence}
        print(json.dumps({**found.as_json(), **told}))
        return 0
    print(f"{directory}: {sentence}; {forwarding.sentence_of(found, client.settings.max_bytes)}")
    for spool in found.spools:
        state = "open" if spool.is_open else "closed"
        waiting = spool.problem or f"{spool.waiting} waiting"
        counts = f"{waiting}, {spool.sent} sent, {spool.dropped} dropped"
        print(f"  {spool.spool} ({state}): {counts}")
    return 0


def _report(client: Client, given: argparse.Namespace, receipt: str) -> int:
    if client.lost:
        return _complain(SpoolError(f"({client.settings.spool})"), 2)
    print(receipt)
    _send(client, given)
    return 0


def _send(client: Client, given: argparse.Namespace) -> None:
    client.close()
    if client.settings.url and not given.no_send:
        Speaker().hear(client.forward_once())


def _say_outcome(client: Client) -> int:
    outcome = client.forward_once()
    if outcome.is_busy:
        print("another forwarder has this spool directory")
    else:
        waiting = status.of(client.settings.spool).waiting
        print(f"sent {outcome.sent}, waiting {waiting}")
    if outcome.problem:
        print(f"counterfoil: {outcome.problem}", file=sys.stderr)
    if outcome.unreadable:
        print(f"counterfoil: {outcome.unreadable}", file=sys.stderr)
    return 0


def _given(given: argparse.Namespace, *names: str) -> dict[str, Any]:
    found = {name: getattr(given, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


_COMMANDS = {
    "receipt": _receipt,
    "skip": _skip,
    "act": _act,
    "beat": _beat,
    "run": _run,
    "forward": _forward,
    "spool": _spool,
}
