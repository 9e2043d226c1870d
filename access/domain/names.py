"""What may be a slug, a user name or a source: checked before any row is written."""

from __future__ import annotations

import re

_SLUG = re.compile(r"[a-z0-9-]{1,40}", re.ASCII)
_USERNAME = re.compile(r"[A-Za-z0-9_.@+-]{1,64}", re.ASCII)
_SOURCE = re.compile(r"([^/\s\x00-\x1f\x7f]{1,64})/([^/\s\x00-\x1f\x7f]{1,64})")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_NAME_LENGTH = 100


class BadName(ValueError):
    """A name has characters or a length that it must not have."""


def check_slug(text: str) -> str:
    """Return a project's slug unchanged; BadName unless it matches [a-z0-9-]{1,40}."""
    if not _SLUG.fullmatch(text):
        raise BadName("A slug is 1 to 40 of the characters a-z, 0-9 and -.")
    return text


def check_username(text: str) -> str:
    """Return a user name unchanged; BadName unless it is 1 to 64 letters, digits or _.@+-."""
    if not _USERNAME.fullmatch(text):
        raise BadName("A user name is 1 to 64 letters, digits or any of _ . @ + -.")
    return text


def check_name(text: str) -> str:
    """Return a display name without the white space around it; BadName if nothing is left."""
    name = text.strip()
    if not name or len(name) > _NAME_LENGTH or _CONTROL.search(name):
        raise BadName("A name is 1 to 100 characters, without control characters.")
    return name


def parse_source(text: str) -> tuple[str, str]:
    """Read a source such as `oban/prod-1` as (system, instance); both are empty for no text."""
    if not text:
        return ("", "")
    match = _SOURCE.fullmatch(text)
    if match is None:
        raise BadName("A source is SYSTEM/INSTANCE, such as oban/prod-1, without spaces.")
    return (match.group(1), match.group(2))
