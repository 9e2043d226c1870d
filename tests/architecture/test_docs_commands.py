"""The reference of the commands against their options, and every command that a page prints."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest
from counterfoil import options as client_options
from django.core.management import load_command_class

from tests.architecture import APPS, ROOT, documents, name_of
from tests.architecture.documents import iter_fences
from tools.bootstrap import main as bootstrap

DJANGOS = {"migrate", "check"}
PRINTED = re.compile(
    r"^(?:.*?\b(?P<script>manage|bootstrap)\.py|counterfoil) (?P<rest>[^\n|>)]*)", re.MULTILINE
)


def management_commands() -> dict[str, str]:
    """Return the app of each management command of ours."""
    return {
        path.stem: app
        for app in APPS
        for path in (ROOT / app / "management" / "commands").glob("[!_]*.py")
    }


def parser_of(command: str) -> argparse.ArgumentParser:
    """Return the parser of `manage.py NAME`."""
    loaded = load_command_class(management_commands()[command], command)
    return loaded.create_parser("manage.py", command)


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Return the parser of every command that a reader may type, by how it is written."""
    return {
        **{f"manage.py {name}": parser_of(name) for name in management_commands()},
        **{f"bootstrap.py {n}": one for n, one in acts_of(bootstrap.make_parser()).items()},
        **{f"counterfoil {n}": one for n, one in acts_of(client_options.build()).items()},
    }


def acts_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    return {
        name: one
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
        for name, one in action.choices.items()
    }


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Return a command's long options, those of its acts among them, without Django's own."""
    django = {"--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback"}
    django |= {"--no-color", "--force-color", "--skip-checks"}
    own = {name for action in parser._actions for name in action.option_strings}
    inner = set().union(*(options_of(one) for one in acts_of(parser).values()))
    return {name for name in own | inner if name.startswith("--")} - django


@pytest.mark.parametrize("command", sorted(parsers()))
def test_every_command_is_described_with_all_its_options(command: str) -> None:
    section = documents.sections_of(documents.read("docs/reference/commands.md"))[f"`{command}`"]

    told = set(re.findall(r"`(--[a-z-]+)", section))

    assert told == options_of(parsers()[command])


@pytest.mark.parametrize("command", ["manage.py", "bootstrap.py", "counterfoil"])
def test_no_command_is_described_that_is_not_there(command: str) -> None:
    titles = documents.sections_of(documents.read("docs/reference/commands.md"))

    told = {title.strip("`") for title in titles if title.startswith(f"`{command} ")}

    assert told == {name for name in parsers() if name.startswith(f"{command} ")}


def printed_commands() -> Iterator[tuple[str, str, str]]:
    """Yield page, program and the rest of the line of every command that a page prints."""
    for page in documents.list_pages():
        for fence in iter_fences(page.read_text(encoding="utf-8")):
            if fence.words[:1] == ["sh"]:
                for found in PRINTED.finditer(fence.text):
                    yield name_of(page), found["script"] or "counterfoil", found["rest"]


@pytest.mark.parametrize(("page", "program", "rest"), sorted(set(printed_commands())))
def test_every_printed_command_is_one_that_is_understood(
    page: str, program: str, rest: str
) -> None:
    name, *options = shlex.split(rest)

    if program == "counterfoil":
        client_options.build().parse_args([name, *options])
    elif program == "bootstrap":
        bootstrap.make_parser().parse_known_args([name, *options])
    elif name not in DJANGOS:
        parser_of(name).parse_args(options)


@pytest.mark.parametrize("page", [name_of(page) for page in documents.list_pages()])
def test_every_command_in_a_sentence_is_there(page: str) -> None:
    named = re.findall(r"`[^`\n]*\bmanage\.py ([a-z_]+)", documents.read(page))

    assert set(named) - DJANGOS <= management_commands().keys()
