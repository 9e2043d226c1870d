"""The commands of `bootstrap.py`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tools.bootstrap import check, environment
from tools.bootstrap.steps import Stop, child_environment, complain

ROOT = Path(__file__).resolve().parents[2]


def run(arguments: list[str]) -> int:
    """Carry out one command and return its exit code."""
    parser = make_parser()
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "test":
        parser.error("unrecognized arguments: " + " ".join(rest))
    try:
        return int(options.act(options, rest))
    except Stop as stop:
        complain(str(stop))
        return 1
    except KeyboardInterrupt:
        complain("Interrupted; run the same command again to go on.")
        return 130


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bootstrap.py",
        description="Set Counterfoil up in .venv and run it.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="up|test|check")
    up = commands.add_parser("up", allow_abbrev=False, help="set up, then run the embedded server")
    up.add_argument("--host", help="address to listen on")
    up.add_argument("--port", help="port to listen on")
    up.add_argument("--data-dir", help="folder of the database, the keys and the logs")
    up.add_argument("--no-demo", action="store_true", help="do not fill an empty ledger")
    up.set_defaults(act=up_command)
    test = commands.add_parser(
        "test",
        allow_abbrev=False,
        help="set up, then run the tests",
        epilog="All other arguments go to pytest: `bootstrap.py test -m quick tests/unit`.",
    )
    test.add_argument("--strict", action="store_true", help="fail where a server is missing")
    test.set_defaults(act=test_command)
    checks = commands.add_parser("check", allow_abbrev=False, help="lint, types, layers, locks")
    checks.set_defaults(act=check_command)
    for command in (up, test, checks):
        command.add_argument(
            "--offline", type=Path, metavar="DIR", help="take the packages from this folder alone"
        )
    return parser


def up_command(options: argparse.Namespace, rest: list[str]) -> int:
    """Set up and become `manage.py up`."""
    given = {"--host": options.host, "--port": options.port, "--data-dir": options.data_dir}
    arguments = [f"{name}={value}" for name, value in given.items() if value is not None]
    if options.no_demo:
        arguments.append("--no-demo")
    ready = environment.prepare(ROOT, "base", folder(options.offline))
    return become(ready, [str(ROOT / "manage.py"), "up", *arguments], {})


def test_command(options: argparse.Namespace, rest: list[str]) -> int:
    """Set up and become pytest."""
    ready = environment.prepare(ROOT, "dev", folder(options.offline))
    strict = {"COUNTERFOIL_STRICT": "1"} if options.strict else {}
    os.chdir(ROOT)
    return become(ready, ["-m", "pytest", *workers(rest), *rest], strict)


def check_command(options: argparse.Namespace, rest: list[str]) -> int:
    return check.run(environment.prepare(ROOT, "dev", folder(options.offline)))


def folder(offline: Path | None) -> Path | None:
    if offline is not None and not offline.is_dir():
        raise Stop(f"There is no folder {offline} to take packages from.")
    return offline.resolve() if offline else None


def workers(arguments: list[str]) -> list[str]:
    """Return the options that spread a run over the cores, unless the caller chose otherwise.

    A debugger and a run of single tests by their names do better in one process.
    """
    chosen = ("-n", "--numprocesses", "--pdb", "--trace", "-s", "--dist", "--collect-only", "--co")
    if any(argument.startswith(chosen) or "::" in argument for argument in arguments):
        return []
    return ["-n", str(min(os.cpu_count() or 1, 4)), "--dist", "loadfile"]


def become(ready: environment.Environment, arguments: list[str], extra: dict[str, str]) -> int:
    """Replace this process by the environment's Python, so that signals reach it directly."""
    python = str(ready.python)
    sys.stdout.flush()
    os.execve(python, [python, *arguments], {**child_environment(), **extra})  # noqa: S606
