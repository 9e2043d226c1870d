"""Completes a query that is being typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from kit.search.lexer import Char, find_plain, is_plain, iter_tokens, split, text_of
from kit.search.terms import RELATIVE_TIMES, FieldSpec, Suggestion
from kit.search.writer import quoted


def suggest(
    text: str,
    position: int,
    known: Mapping[str, FieldSpec],
    recent: Mapping[str, Sequence[str]] | None = None,
    limit: int = 12,
) -> tuple[Suggestion, ...]:
    """Complete what stands before `position`: names first, then the values of a name.

    `recent` holds values by name as seen in a recent slice; they come last and are marked.
    """
    before = text[:position]
    token = next(
        (one for one in iter_tokens(before) if one.position + len(one.source) == position), None
    )
    chars = token.chars if token else ()
    chars = chars[1:] if is_plain(chars[:1], "-") else chars
    colon = find_plain(chars, ":")
    if colon is None:
        found = _names(text_of(chars), position, known)
    else:
        name, last = text_of(chars[:colon]), split(chars[colon + 1 :])[-1]
        found = _values(name, last, position, known, recent or {})
    return tuple(found)[:limit]


def _names(prefix: str, position: int, known: Mapping[str, FieldSpec]) -> Iterable[Suggestion]:
    start = position - len(prefix)
    for spec in sorted(known.values(), key=lambda one: (one.name, one.type)):
        text = f"{spec.name}." if spec.type == "path" else f"{spec.name}:"
        if text.startswith(prefix):
            yield Suggestion(text, start, position, "field", spec.help)


def _values(
    name: str,
    last: Sequence[Char],
    position: int,
    known: Mapping[str, FieldSpec],
    recent: Mapping[str, Sequence[str]],
) -> Iterable[Suggestion]:
    spec = known.get(name)
    fixed = spec.allowed if spec else ()
    if spec and spec.type == "time":
        fixed = fixed or RELATIVE_TIMES
    start = last[0].position - last[0].quoted if last else position
    seen = [value for value in recent.get(name, ()) if value not in fixed]
    for origin, values in (("value", fixed), ("recent", seen)):
        for value in values:
            if value.startswith(text_of(last)):
                kind: Literal["value", "recent"] = "value" if origin == "value" else "recent"
                yield Suggestion(quoted(value), start, position, kind)
