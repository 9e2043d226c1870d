"""The text of API tokens and log-in secrets: made, read and compared, never stored.

A token is `cf_`, eight characters that may be shown, `_`, and 52 characters that carry 256 random
bits. All are lower-case letters and the digits 2 to 7, so that a double click takes all of it and
no line of a log breaks it. What is stored is the SHA-256 of the whole text: with 256 random bits
there is nothing that a slow hash would protect.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field
from datetime import timedelta

_TOKEN = re.compile(r"cf_([a-z2-7]{8})_[a-z2-7]{52}", re.ASCII)
_DURATION = re.compile(r"([1-9][0-9]{0,4})([mhdw])", re.ASCII)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_PREFIX_BYTES = 5
_SECRET_BYTES = 32


class BadDuration(ValueError):
    """A duration is a whole number and one of m, h, d or w, such as 90d."""


@dataclass(frozen=True, slots=True)
class TokenText:
    """A token as its holder knows it; `text` is left out of its repr."""

    prefix: str
    text: str = field(repr=False)

    @property
    def secret_hash(self) -> str:
        """Return the SHA-256 of the text as 64 hexadecimal digits: the only form that is kept."""
        return hash_secret(self.text)


def make_token() -> TokenText:
    """Make the text of a new token from the operating system's random source."""
    prefix = _random_letters(_PREFIX_BYTES)
    return TokenText(prefix=prefix, text=f"cf_{prefix}_{_random_letters(_SECRET_BYTES)}")


def make_secret() -> str:
    """Make the secret of a log-in link: 52 letters that carry 256 random bits."""
    return _random_letters(_SECRET_BYTES)


def parse_token(text: str) -> TokenText | None:
    """Read a token's text; None for a text that no token of ours can have."""
    match = _TOKEN.fullmatch(text)
    return TokenText(prefix=match.group(1), text=text) if match else None


def hash_secret(text: str) -> str:
    """Return the SHA-256 of a secret's UTF-8 as 64 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_same_hash(one: str, other: str) -> bool:
    """Compare two hashes in a time that does not tell where they differ."""
    return hmac.compare_digest(one.encode("ascii"), other.encode("ascii"))


def parse_duration(text: str) -> timedelta:
    """Read a duration such as `90d`, `12h`, `30m` or `2w`; BadDuration for anything else."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise BadDuration(BadDuration.__doc__)
    number, unit = match.groups()
    return timedelta(**{_UNITS[unit]: int(number)})


def _random_letters(size: int) -> str:
    return base64.b32encode(secrets.token_bytes(size)).decode("ascii").rstrip("=").lower()
