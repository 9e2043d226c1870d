"""Hides secrets in whatever leaves the process: log lines, error messages, addresses on pages.

What is hidden: passwords in addresses and connection strings, Authorization values, our own
tokens (their public prefix stays, so that one can be found and revoked), and the values of
members whose name says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

HIDDEN = "***"
_DEEPEST = 8

# What is hidden already is left alone, or a second pass would take the rest of the line with it.
_NOT_YET = r"""(?! \*{3} (?: [\s&;,"'}\])] | $ ) )"""
# A text inside a text has its quotes escaped.
_ESCAPED = r"""\\+["'] [^"'\r\n]* ["']?"""
_AUTHORIZATION = re.compile(
    rf"""(?ix) ( (?:proxy-)?authorization
        (?: \\*["']? \s*+ [:=] | \\*["'] \s*+ , ) \s*+ ) {_NOT_YET}
        (?: {_ESCAPED} | b? " [^"\r\n]* (?: " | $ ) | b? ' [^'\r\n]* (?: ' | $ )
          | (?: digest | hawk | oauth | signature | aws4 ) [^\r\n]* | [^\r\n"'}}\])]+ )""",
)
_BEARER = re.compile(r"\b(Bearer)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)
_TOKEN = re.compile(r"(?<![A-Za-z0-9])(cf_[a-z2-7]{8}_)[A-Za-z0-9]{8,}")
_ODD_TOKEN = re.compile(r"(?<![A-Za-z0-9])cf_(?![a-z2-7]{8}_\*{3})[A-Za-z0-9_-]{16,}")
_LOGIN_LINK = re.compile(r"(/login/link/)[A-Za-z0-9_-]{8,}")
_SCHEME = r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}://"
# The password ends at the last @ of the authority, as one with an unescaped @ still connects.
_ADDRESS = re.compile(_SCHEME + r"""[^\s/?\#:@"'<>]{0,300}:)[^\s/?\#"'<>]{0,500}@""")
# A password with an unescaped slash; digits and a slash after the colon are a port and a path.
_ODD_ADDRESS = re.compile(
    _SCHEME + r"""[^\s/?\#:@"'<>]{0,300}:)(?!\*{3}@|[0-9]{1,5}(?:[/?\#]))[^\s"'<>@]{1,500}@"""
)
# `https://TOKEN@host` is how git takes a token; `ssh://git@host` is a name.
_ADDRESS_TOKEN = re.compile(r"\b(https?://)[^\s/?\#:@\"'<>]{1,500}@", re.IGNORECASE)
_SETTING = re.compile(
    rf"""(?ix) ( (?<![A-Za-z])
        (?: password | passwd | passphrase | pwd | sslpassword | secret (?:[_-]?key)?
          | (?: access | refresh | api | auth | id )? [_-]? token | api[_-]?key )
        \\*["']? \s*+ [=:] \s*+ ) {_NOT_YET}
        (?: {_ESCAPED} | " (?:\\.|[^"\\\r\n])* " | ' (?:\\.|[^'\\\r\n])* ' | [^\s&;"']+ )""",
)
_SECRET_NAME = re.compile(
    r"""(?ix) (?: .* [_.-] )? (?: password | passwd | passphrase | pwd | secret | token
        | authorization | api[_-]?key | cookie | credentials? | (?:private|secret)[_-]?key
        | sessionid | csrftoken | csrfmiddlewaretoken )""",
)

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (_AUTHORIZATION, rf"\1{HIDDEN}"),
    (_BEARER, rf"\1 {HIDDEN}"),
    (_TOKEN, rf"\1{HIDDEN}"),
    (_ODD_TOKEN, f"cf_{HIDDEN}"),
    (_LOGIN_LINK, rf"\1{HIDDEN}"),
    (_ADDRESS, rf"\1{HIDDEN}@"),
    (_ODD_ADDRESS, rf"\1{HIDDEN}@"),
    (_ADDRESS_TOKEN, rf"\1{HIDDEN}@"),
    (_SETTING, rf"\1{HIDDEN}"),
)


def text(value: str) -> str:
    """Give a text with its secrets hidden; hiding twice changes nothing more."""
    for pattern, hidden in _RULES:
        value = pattern.sub(hidden, value)
    return value


def has_password(address: str) -> bool:
    """Whether an address carries a secret and should be given by an environment variable."""
    return any(one.search(address) for one in (_ADDRESS, _ODD_ADDRESS, _ADDRESS_TOKEN, _SETTING))


def anything(value: object, depth: int = 0) -> Any:
    """Give a value with the secrets in it hidden, at any depth a log line is likely to have.

    An object is replaced by its text only where that text holds a secret.
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return text(value)
    if depth >= _DEEPEST:
        return text(repr(value))
    if isinstance(value, Mapping):
        return {text(str(key)): _member(key, one, depth) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [anything(one, depth + 1) for one in value]
    shown = str(value) if isinstance(value, BaseException) else repr(value)
    hidden = text(shown)
    return value if hidden == shown else hidden


def _member(name: object, value: object, depth: int) -> Any:
    is_secret = isinstance(name, str) and _SECRET_NAME.fullmatch(name)
    if is_secret and isinstance(value, str | bytes) and value:
        return HIDDEN
    return anything(value, depth + 1)


Processor = Callable[[Any, str, MutableMapping[str, Any]], MutableMapping[str, Any]]


def processor(
    logger: object, method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Hide the secrets of a log event; a structlog processor.

    Stands after the one that formats exceptions, so that tracebacks are covered too. Names that
    begin with an underscore belong to structlog and are passed on as they are.
    """
    for name, value in event.items():
        if not name.startswith("_") and name != "exc_info":
            event[name] = _member(name, value, 0)
    return event
