"""The recording policy: which ordinary outcomes are kept singly, tallied, or not at all.

A JSON file (TOML where Python reads it, 3.11 and newer) named by COUNTERFOIL_POLICY:

    {"version": "3",
     "each": ["payouts.*"], "tally": ["*"], "never": ["health.ping"],
     "clear": {"payouts.*": ["kwargs.payout_id", "args.0"]},
     "subjects": {"payouts.send": {"payout": "kwargs.payout_id"}}}

Patterns are those of a shell (`*`, `?`, `[abc]`) over the name of a task, and tell capitals apart.
**The most specific pattern wins**: a name without a wildcard before any pattern, then the pattern
with more literal characters; of two that are alike the one that keeps more (each, tally, never). A
task that no pattern matches is tallied, so `"*"` is added to `tally` when no list has it.

Of `clear` and `subjects` all patterns that match count together. Whatever the policy says, skips,
failures, cancels, discards, revokes, swallowed retries, acts and losses are kept singly: `never`
is about ordinary outcomes.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from counterfoil import encode
from counterfoil.errors import CounterfoilError

log = logging.getLogger("counterfoil")

EACH, TALLY, NEVER = "each", "tally", "never"
CHOICES = (EACH, TALLY, NEVER)
MAX_FILE_BYTES = 256 * 1024
MAX_PATTERN = 255
_KNOWN_TASKS = 10_000
_MEMBERS = ("version", *CHOICES, "clear", "subjects")
_FIELD = re.compile(r"args\.\d{1,3}|(kwargs\.)?[^\s.]+(\.[^\s.]+)*")
_SUBJECT_TYPE = re.compile(r"[a-z0-9_]{1,32}")
_WILD = re.compile(r"\*|\?|\[!?\]?[^\]]*\]")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class PolicyError(CounterfoilError):
    """The recording policy cannot be used."""


@dataclass(frozen=True)
class Policy:
    """What is kept of which task; answers are remembered for each task."""

    version: str
    each: tuple[str, ...] = ()
    tally: tuple[str, ...] = ("*",)
    never: tuple[str, ...] = ()
    clear: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    subjects: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    _choices: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _clear: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    _subjects: dict[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def choice(self, task: str) -> str:
        """Give "each", "tally" or "never" for ordinary outcomes of the task."""
        found = self._choices.get(task)
        return found if found is not None else _remember(self._choices, task, self._choose)

    def clear_fields(self, task: str) -> tuple[str, ...]:
        """Give the fields of the task that are sent as they are, as "kwargs.name" or "args.0"."""
        found = self._clear.get(task)
        return found if found is not None else _remember(self._clear, task, self._find_clear)

    def subject_fields(self, task: str) -> tuple[tuple[str, str], ...]:
        """Give pairs of a subject's type and the field that its id is taken from."""
        found = self._subjects.get(task)
        return found if found is not None else _remember(self._subjects, task, self._find_subjects)

    @property
    def content(self) -> dict[str, Any]:
        """The policy as the ledger is told of it, without its version."""
        return {
            **{name: list(getattr(self, name)) for name in CHOICES},
            "clear": {pattern: list(fields) for pattern, fields in self.clear.items()},
            "subjects": {pattern: dict(fields) for pattern, fields in self.subjects.items()},
        }

    def _choose(self, task: str) -> str:
        matching = [
            (specificity(pattern), -rank, name)
            for rank, name in enumerate(CHOICES)
            for pattern in getattr(self, name)
            if fnmatch.fnmatchcase(task, pattern)
        ]
        return max(matching)[2] if matching else TALLY

    def _find_clear(self, task: str) -> tuple[str, ...]:
        found = [f for p, fields in self.clear.items() if _matches(task, p) for f in fields]
        return tuple(dict.fromkeys(found))

    def _find_subjects(self, task: str) -> tuple[tuple[str, str], ...]:
        found = [f for p, f in self.subjects.items() if _matches(task, p)]
        return tuple(dict.fromkeys(pair for fields in found for pair in fields.items()))


def specificity(pattern: str) -> tuple[bool, int]:
    """Give what a pattern is worth: whether it is a plain name, then its literal characters."""
    literal = _WILD.sub("", pattern)
    return literal == pattern, len(literal)


def read(path: Path) -> Policy:
    """Read a policy from its file; raises PolicyError, which says what is wrong with it."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise PolicyError(f"The file cannot be read: {error.strerror or error}.") from error
    if len(raw) > MAX_FILE_BYTES:
        raise PolicyError(f"The file is larger than {MAX_FILE_BYTES} bytes.")
    return made(_parsed(raw, is_toml=path.suffix == ".toml"))


def made(given: Any) -> Policy:
    """Make a policy of the members of its file; raises PolicyError."""
    if not isinstance(given, Mapping):
        raise PolicyError("It must be an object with lists of task patterns.")
    unknown = sorted(str(name) for name in given if name not in _MEMBERS)
    if unknown:
        raise PolicyError(f"It has {unknown[0]!r}; known are {', '.join(_MEMBERS)}.")
    lists = {name: _patterns(given.get(name, []), name) for name in CHOICES}
    if not any("*" in patterns for patterns in lists.values()):
        lists[TALLY] = (*lists[TALLY], "*")
    clear = {p: _fields(f, p) for p, f in _object(given, "clear")}
    subjects = {p: _subject_fields(f, p) for p, f in _object(given, "subjects")}
    version = given.get("version")
    if version is not None and (isinstance(version, bool) or not isinstance(version, (str, int))):
        raise PolicyError('"version" must be a text or a whole number.')
    policy = Policy(
        "" if version is None else str(version),
        lists[EACH],
        lists[TALLY],
        lists[NEVER],
        clear=clear,
        subjects=subjects,
    )
    return policy if policy.version else replace(policy, version=digest_of(policy))


def default() -> Policy:
    """Give the policy of who names none: everything is tallied, nothing is sent in clear."""
    return made({})


def digest_of(policy: Policy) -> str:
    """Give a short digest of the content, by which a change is seen."""
    return hashlib.sha256(encode.canonical(policy.content)).hexdigest()[:12]


def _parsed(raw: bytes, *, is_toml: bool) -> Any:
    try:
        text = raw.decode("utf-8-sig")
        return _toml(text) if is_toml else json.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "TOML" if is_toml else "JSON"
        raise PolicyError(f"It is not {kind}: {error}.") from None


def _toml(text: str) -> Any:
    try:
        import tomllib
    except ImportError:
        raise PolicyError("This Python reads no TOML; write the same as JSON.") from None
    return tomllib.loads(text)


def _patterns(given: Any, name: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise PolicyError(f'"{name}" must be a list of task patterns.')
    return tuple(_pattern(pattern, name) for pattern in given)


def _pattern(given: Any, name: str) -> str:
    if not isinstance(given, str) or not 1 <= len(given) <= MAX_PATTERN:
        raise PolicyError(f'The patterns of "{name}" must be texts of 1 to {MAX_PATTERN} signs.')
    return given


def _object(given: Mapping[str, Any], name: str) -> list[tuple[str, Any]]:
    found = given.get(name, _NOTHING)
    if not isinstance(found, Mapping):
        raise PolicyError(f'"{name}" must be an object whose members are task patterns.')
    return [(_pattern(pattern, name), value) for pattern, value in found.items()]


def _fields(given: Any, pattern: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise PolicyError(f'"clear" of {pattern!r} must be a list of fields.')
    return tuple(_field(name, pattern) for name in given)


def _subject_fields(given: Any, pattern: str) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise PolicyError(f'"subjects" of {pattern!r} must be an object of type and field.')
    for kind in given:
        if not _SUBJECT_TYPE.fullmatch(kind):
            raise PolicyError(f"The subject type {kind!r} must be 1 to 32 of a-z, 0-9 and _.")
    return {kind: _field(name, pattern) for kind, name in given.items()}


def _field(name: Any, pattern: str) -> str:
    if not isinstance(name, str) or not _FIELD.fullmatch(name):
        raise PolicyError(f"{name!r} of {pattern!r} is no field: write kwargs.NAME or args.0.")
    return name


def _matches(task: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(task, pattern)


def _remember(known: dict[str, Any], task: str, find: Callable[[str], Any]) -> Any:
    # Bounded: names of tasks that come from outside must not fill the memory.
    if len(known) >= _KNOWN_TASKS:
        known.clear()
    found = known[task] = find(task)
    return found
