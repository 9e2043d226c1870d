"""Masking of personal members before anything is stored.

A text is replaced by as many asterisks as it has characters, so that its length stays to be seen
and masking twice changes nothing; all else stays byte for byte. What is no JSON has no masked form.
Source: reference/pad.md sections 1.1, 5 and 7.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from events.domain import json_paths, json_spans, pad, profiles
from events.domain.go_json import Fields
from events.domain.json_paths import Path
from events.domain.json_spans import ARRAY, OBJECT, STRING, NotJson, Span

PERSONAL_EVENT = frozenset({"title", "doc_type", "actor", "actor_name", "source", "user_id"})
PERSONAL_NOTIFICATION = frozenset(
    {"Actor", "ActorName", "Summary", "AssignedUserID", "TargetUserID", "TargetSessionID"}
)
KINDS = frozenset({"type", "kind", "event"})
"""What says of which kind a message is; kept of a bus that names no personal members."""
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_STAR = "*"
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,31}")
"""What a member is called by a programmer. Other names may be those of people, as keys of a map."""


class Masked(NamedTuple):
    """A body after masking, and the names of the members of which something was masked."""

    text: str
    members: tuple[str, ...]


Value = Mapping[str, Any] | None
Mask = Callable[[str, Value], Masked | None]
"""Masks a body, given as its text and, where that is known, its parsed value, which names each
member once; None for what is no JSON."""
Hidden = tuple[str, Span]


def mask_of(profile: str, paths: Sequence[str] | None, kept: Iterable[str] = ()) -> Mask:
    """Give the mask of a bus.

    Pad's buses: what is personal, texts in members that Pad does not have, names of such members
    that are no plain names, and what `paths` name.
    Other buses: what `paths` name; where these are None, nobody has said what is personal, and all
    texts are masked but times, kinds, and what lies at the paths `kept`. Raises ValueError for a
    path that cannot be read.
    """
    named = [(path, json_paths.parse(path)) for path in paths or ()]
    if profile in profiles.PAD_PROFILES:
        is_watch = profile in profiles.WATCH_PROFILES
        fields = pad.NOTIFICATION if is_watch else pad.EVENT
        return _PadMask(fields, PERSONAL_NOTIFICATION if is_watch else PERSONAL_EVENT, named)
    if paths is None:
        return _TextMask(frozenset(json_paths.parse(path) for path in kept))
    return _PathMask(named)


class _PadMask:
    def __init__(
        self, fields: Fields, personal: frozenset[str], named: list[tuple[str, Path]]
    ) -> None:
        self.fields, self.personal, self.named = fields, personal, named
        self.known, self.in_order = fields.kinds.keys(), sorted(personal)

    def __call__(self, text: str, value: Value) -> Masked | None:
        quick = None if value is None or self.named else self._quickly(text, value)
        return _mask(text, self._hidden) if quick is None else quick

    def _quickly(self, text: str, value: Mapping[str, Any]) -> Masked | None:
        names = [one for one in self.in_order if value.get(one)]
        if value.keys() <= self.known:
            return _mask_quickly(text, value, names, _quick(self.personal))
        if not all(map(_PLAIN_NAME.fullmatch, value.keys() - self.known)):
            return None
        beside = [one for one in value.keys() - self.known if value[one]]
        if not all(type(value[one]) in (str, int, float, bool) for one in beside):
            return None
        texts = sorted(one for one in beside if type(value[one]) is str)
        pattern = _quick(self.personal.union(texts))
        return _mask_quickly(text, value, names + texts, pattern)

    def _hidden(self, text: str, root: Span) -> Iterable[Hidden]:
        for key, span in root.members:
            name = self.fields.find(key)
            shown = name or _shown(key)
            if shown != (name or key):
                yield shown, Span(STRING, *span.named_at)
            if name in self.personal or (name is None and _holds_text(span)):
                yield shown, span
        for path, steps in self.named:
            yield from ((path, span) for span in json_paths.find_spans(root, steps))


class _PathMask:
    def __init__(self, named: list[tuple[str, Path]]) -> None:
        self.named = named
        steps_alone = {steps[0]: path for path, steps in named if len(steps) == 1}
        tops = {name: path for name, path in steps_alone.items() if isinstance(name, str)}
        self.top = tops if len(tops) == len(named) else {}
        self.quick = _quick(frozenset(self.top)) if self.top else None

    def __call__(self, text: str, value: Value) -> Masked | None:
        if value is not None and not self.named:
            return Masked(text, ())
        # With a backslash in it, a name may be written in a way that a pattern does not see.
        if value is not None and self.quick is not None and "\\" not in text:
            names = [one for one in self.top if value.get(one) not in (None, "")]
            if all(type(value[one]) is str for one in names):
                masked = _mask_quickly(text, value, names, self.quick)
                if masked is not None:
                    return Masked(masked.text, tuple(self.top[one] for one in masked.members))
        return _mask(text, self._hidden)

    def _hidden(self, text: str, root: Span) -> Iterable[Hidden]:
        for path, steps in self.named:
            yield from ((path, span) for span in json_paths.find_spans(root, steps))


class _TextMask:
    def __init__(self, kept: frozenset[Path]) -> None:
        self.kept = kept

    def __call__(self, text: str, value: Value) -> Masked | None:
        return _mask(text, self._hidden)

    def _hidden(self, text: str, root: Span) -> Iterable[Hidden]:
        found: list[tuple[Path, Span]] = [((), root)]
        for path, span in found:
            if span.kind in (OBJECT, ARRAY):
                below = [((*path, name), one) for name, one in json_spans.iter_children(span)]
                found += below
                if not below and len(path) >= json_spans.KEPT_DEPTH:
                    yield str(path[0]), span
            elif span.kind == STRING and not self._is_kept(text, path, span):
                yield str(path[0]) if path else "$", span

    def _is_kept(self, text: str, path: Path, span: Span) -> bool:
        if path in self.kept or (len(path) == 1 and path[0] in KINDS):
            return True
        return _TIME.fullmatch(text, span.start + 1, span.end - 1) is not None


def _shown(name: str) -> str:
    """Give the name of a member that Pad does not have, masked where it may be a person's."""
    return name if _PLAIN_NAME.fullmatch(name) else _STAR * len(name)


def _holds_text(span: Span) -> bool:
    return span.kind in (STRING, OBJECT, ARRAY)


@lru_cache(64)
def _quick(names: frozenset[str]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    listed = "|".join(map(re.escape, longest_first))
    string = r'"[^"\\]++(?:\\.[^"\\]*+)*+"|"(?:\\.[^"\\]*+)++"'
    return re.compile(rf'("({listed})"[ \t\r\n]*+:[ \t\r\n]*+)(?:{string})')


def _mask_quickly(
    text: str, value: Mapping[str, Any], names: Sequence[str], pattern: re.Pattern[str]
) -> Masked | None:
    """Mask texts of the top level by a pattern; None where it did not meet each of them once."""
    masked, count = pattern.subn(
        lambda found: f'{found[1]}"{_STAR * len(str(value.get(found[2], "")))}"', text
    )
    return Masked(masked, tuple(names)) if count == len(names) else None


def _mask(text: str, hidden: Callable[[str, Span], Iterable[Hidden]]) -> Masked | None:
    try:
        root = json_spans.read(text)
    except NotJson:
        return None
    places: dict[int, tuple[int, str]] = {}
    names: dict[str, None] = {}
    for name, span in hidden(text, root):
        stars = _stars(text, span)
        if stars is not None:
            places[span.start] = max(places.get(span.start, (0, "")), (span.end, stars))
            names[name] = None
    return Masked(_rewrite(text, places), tuple(names))


def _stars(text: str, span: Span) -> str | None:
    """Give what stands for a value: a text as long; None where there is nothing to hide."""
    token = json_spans.token_of(text, span)
    if token in ("null", '""') or (span.kind in (OBJECT, ARRAY) and not token[1:-1].strip()):
        return None
    length = len(json_spans.string_of(text, span)) if span.kind == STRING else len(token)
    return f'"{_STAR * length}"'


def _rewrite(text: str, places: Mapping[int, tuple[int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start in sorted(places):
        end, stars = places[start]
        # What lies in a value that is masked as a whole is masked with it.
        if start >= done:
            parts += (text[done:start], stars)
            done = end
    return "".join((*parts, text[done:]))
