"""What may be a slug, a name, a source or a reason: checked before any row is written.

No text may have a NUL or a lone surrogate, which PostgreSQL cannot hold.
"""

from __future__ import annotations

import re

_SLUG = re.compile(r"[a-z0-9-]{1,40}", re.ASCII)
_USERNAME = re.compile(r"[A-Za-z0-9_.@+-]{1,64}", re.ASCII)
_SOURCE_PART = r"([^/\s\x00-\x1f\x7f\ud800-\udfff]{1,64})"
_SOURCE = re.compile(f"{_SOURCE_PART}/{_SOURCE_PART}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_LINE_END = re.compile(r"[\t\r\n]+")
_NAME_LENGTH = 100
_REASON_LENGTH = 500


class BadName(ValueError):
    """A name has characters or a length that it must not have."""


def is_slug(text: str) -> bool:
    """Whether a project can have this slug; another text need not be looked for."""
    return _SLUG.fullmatch(text) is not None


def is_username(text: str) -> bool:
    """Whether a person can have this user name; another text need not be looked for."""
    return _USERNAME.fullmatch(text) is not None


def check_slug(text: str) -> str:
    """Return a project's slug unchanged; BadName unless it matches [a-z0-9-]{1,40}."""
    if not is_slug(text):
        raise BadName("A slug is 1 to 40 of the characters a-z, 0-9 and -.")
    return text


def check_username(text: str) -> str:
    """Return a user name unchanged; BadName unless it is 1 to 64 letters, digits or _.@+-."""
    if not is_username(text):
        raise BadName("A user name is 1 to 64 letters, digits or any of _ . @ + -.")
    return text


def check_name(text: str) -> str:
    """Return a display name without the white space around it; BadName if nothing is left."""
    name = text.strip()
    if not name or len(name) > _NAME_LENGTH or _CONTROL.search(name):
        raise BadName("A name is 1 to 100 characters, without control characters.")
    return name


def check_reason(text: str) -> str:
    """Return a reason as one line without the white space around it; BadName if it is none."""
    reason = _LINE_END.sub(" ", text).strip()
    if not reason or len(reason) > _REASON_LENGTH or _CONTROL.search(reason):
        raise BadName("A reason is 1 to 500 characters, without control characters.")
    return reason


def parse_source(text: str) -> tuple[str, str]:
    """Read a source such as `oban/prod-1` as (system, instance); both are empty for no text."""
    if not text:
        return ("", "")
    match = _SOURCE.fullmatch(text)
    if match is None:
        raise BadName("A source is SYSTEM/INSTANCE, such as oban/prod-1, without spaces.")
    return (match.group(1), match.group(2))
