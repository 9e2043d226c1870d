"""The options of `bus_tail`, read into what is watched."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from events.domain import bus_settings, profiles
from events.domain.bus_settings import BusSettings
from events.domain.recording import Recorded
from events.integrations.listener import Say
from events.integrations.redis_address import Address, BadAddress, read_address
from events.integrations.tailing import Beside
from events.integrations.watched import Watched
from events.queries import configured
from kit import redact

REPLICA = "tail"
LONGEST_S = 366 * 86_400
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_NAMESPACE = re.compile(r"[a-z0-9_-]{1,64}")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_LONGEST_LINE = 2_000

Options = Mapping[str, Any]


class BadOptions(ValueError):
    """The options do not name a bus that can be watched; the message says what to write."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is watched, and what is sampled beside it."""

    watched: Watched
    beside: Beside


def choose(project_id: int, options: Options, environment: Mapping[str, str], say: Say) -> Chosen:
    """Read the options; those on the command line go before those of the sources file.

    Raises BadOptions, which repeats no address.
    """
    bus = options["source"] or options["bus"]
    installation, told = _configured(project_id, bus, options)
    given = {**told, **{n: options[n] for n in ("profile", "namespace", "replica") if options[n]}}
    settings = _settings(bus, given, is_configured=bool(told))
    watched = Watched(
        project_id,
        _named("--installation", installation),
        _named("--bus", bus),
        _named("--replica", given.get("replica") or REPLICA),
        settings,
        Address() if options["upload"] else _address(options, told, environment, say),
        _namespace(given.get("namespace") or ""),
    )
    if not watched.channels and not settings.stream and not options["upload"]:
        raise BadOptions(f"Where to listen for {bus} is not known. Give its channels in the sources"
                         " file, or a profile of Pad's by --profile.")  # fmt: skip
    return Chosen(watched, _beside(options, told, environment))


def _configured(
    project_id: int, bus: str, options: Options
) -> tuple[str | None, Mapping[str, Any]]:
    """Give the installation and the settings that a person applied; none for a bus without."""
    found = configured.settings_of_bus(project_id, bus)
    wanted = options["installation"]
    if wanted is not None:
        found = {name: told for name, told in found.items() if name == wanted}
    if options["source"] and not found:
        raise BadOptions(f"No bus {bus} is configured. `manage.py sources apply` does it; what was"
                         " applied just now is there as soon as it is derived.")  # fmt: skip
    if options["source"] and len(found) > 1:
        raise BadOptions(f"{bus} is a bus of {', '.join(sorted(found))}. Give --installation too.")
    if len(found) == 1:
        return next(iter(found.items()))
    return wanted, {}


def _settings(bus: str, given: Mapping[str, Any], *, is_configured: bool) -> BusSettings:
    profile = given.get("profile")
    if profile is not None and profiles.find_profile(profile) is None:
        raise BadOptions(f"There is no profile {profile}. There are {', '.join(profiles.PROFILES)}"
                         ", and v0 to v3 for the first four.")  # fmt: skip
    settings = bus_settings.settings_of(bus, given)
    if settings.profile == profiles.GENERIC and not is_configured:
        raise BadOptions(f"What {bus} writes is not known. Describe it in the sources file"
                         " and apply that, or give a profile of Pad's by --profile.")  # fmt: skip
    return settings


def _address(
    options: Options, told: Mapping[str, Any], environment: Mapping[str, str], say: Say
) -> Address:
    variable = options["redis_env"] or ("" if options["redis"] else told.get("redis_env"))
    text = environment.get(variable, "") if variable else options["redis"] or told.get("redis")
    if not text:
        raise BadOptions(f"The variable {variable} holds no address." if variable
                         else "Give the Redis's address by --redis-env or --redis.")  # fmt: skip
    try:
        address = read_address(text)
    except BadAddress as error:
        raise BadOptions(str(error)) from None
    if not variable and address.password:
        say("The address has a password in it, which others on this machine can see. "
            "Give it in a variable by --redis-env.")  # fmt: skip
    return address


def _beside(options: Options, told: Mapping[str, Any], environment: Mapping[str, str]) -> Beside:
    variable = options["metrics_token_env"]
    token = environment.get(variable, "") if variable else ""
    if variable and not token:
        raise BadOptions(f"The variable {variable} holds no token.")
    metrics = [_page(one, token) for one in (*_told(told, "metrics"), *options["metrics"])]
    logs = [_place(one) for one in (*_told(told, "log"), *options["log"])]
    return Beside(metrics, [(Path(path), replica) for path, replica in logs], token)


def _told(told: Mapping[str, Any], name: str) -> Sequence[str]:
    listed = told.get(name)
    return [str(one) for one in listed] if isinstance(listed, list) else []


def _place(text: str) -> tuple[str, str]:
    """Read `PLACE=REPLICA`; without one the replica is called by the last part of the place."""
    place, equals, replica = text.rpartition("=")
    if not equals or not _NAME.fullmatch(replica):
        place, replica = text, _NOT_NAME.sub("-", text.rstrip("/").rpartition("/")[2])[:64]
    return place, _named("the replica", replica.lstrip("-._") or "replica")


_NOT_NAME = re.compile(r"[^A-Za-z0-9_.-]")


def _page(text: str, token: str) -> tuple[str, str]:
    """Read `URL=REPLICA`; a token goes over an encrypted connection, or stays on this machine."""
    url, equals, replica = text.rpartition("=")
    if not equals or not _NAME.fullmatch(replica) or "?" in url:
        url, replica = text, ""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.password:
        raise BadOptions("--metrics takes an address such as http://127.0.0.1:9100/metrics=web-1.")
    if token and parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise BadOptions("A token goes to another machine by https alone; the address is http.")
    return url, _named("the replica", replica or parts.netloc.replace(":", "-").strip("[]"))


def _named(option: str, name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadOptions(f"{option} is a name of 1 to 64 letters, digits, dots, dashes or"
                         " underscores that begins with a letter or a digit.")  # fmt: skip
    return name


def _namespace(text: str) -> str:
    if text and not _NAMESPACE.fullmatch(text):
        raise BadOptions("--namespace takes lower-case letters, digits, dashes and underscores.")
    return text


def line_of(scope: str, one: Recorded) -> str:
    """Write a message as `--check` shows it: as it would be stored."""
    row = one.row
    shown = {
        "channel": scope,
        "form": row.form,
        "epoch": row.epoch,
        "id": None if row.id is None else str(row.id),
        "bytes": row.length,
        **({"note": row.note} if row.note else {}),
        **({"masked": list(one.masked)} if one.masked else {}),
        "body": row.body,
    }
    return redact.text(json.dumps(shown, ensure_ascii=True)[:_LONGEST_LINE])


def seconds(text: str) -> float:
    """Read a number of seconds; argparse says what is wrong with another text."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds above 0")
    return value
