"""What the pages of buses draw: answers to a resume, findings, a ruler of ids, and raw messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from events.domain import codes, ruler
from events.drawing import STATES, TONES
from kit.templatetags.ui import badge, visible

register = template.Library()

ANSWERS = {
    "fresh": ("no resume", "plain", "circle"),
    "serve": ("serve", "done", "check"),
    "refuse": ("refuse", "skip", "ban"),
    "ambiguous": ("ambiguous", "gap", "diamond"),
    "replay": ("replayed", "done", "check"),
    "caught_up": ("caught up", "done", "check"),
    "sync_required": ("told to read anew", "skip", "ban"),
}
"""What was or would be answered to a client that resumes: a word, a tone and an icon."""
REGIONS = {
    "evicted": "evicted: pushed out by newer ones",
    "unvouched": "not vouched for: below the floor",
    "held": "held",
    "missing": "missing at the tail, up to the head",
}
DEEPEST, MOST = 6, 200
"""Levels and members of a body that are drawn as a tree; the raw text has the rest."""


@register.simple_tag
def answer(name: str | None) -> SafeString:
    """Draw an answer to a resume as icon, word and colour."""
    word, tone, icon = ANSWERS.get(name or "", (name or "not known", "plain", "circle"))
    return badge(tone, word, icon)


@register.simple_tag
def coded(code: str | None) -> SafeString:
    """Draw a finding's code as a badge in words; nothing where there is none."""
    if not code:
        return mark_safe("")
    mark = codes.MARKS.get(code)
    if mark is None:
        return badge("gap", code)
    return badge(TONES[mark.severity], mark.word, mark.icon)


@register.filter
def state_words(state: str) -> str:
    """Say the state of a stretch of a replica's strip in words."""
    return STATES.get(state, state)


@register.filter
def ruler_parts(regions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Lay the regions of a buffer's ids side by side, each with its meaning in words."""
    return [one | {"says": REGIONS[one["state"]]} for one in ruler.parts_of(regions)]


@register.filter
def prefixed(prefix: str) -> SafeString:
    """Draw the prefix of a raw message with its fields tinted: the epoch, then the id."""
    fields = prefix.removesuffix("|").split("|") if prefix else []
    names = ("epoch", "id", "more")
    pairs = ((names[min(place, 2)], visible(one)) for place, one in enumerate(fields))
    return format_html_join("", '<span class="wire-{}">{}</span>|', pairs)


@register.filter
def tree(value: object) -> SafeString:
    """Draw JSON as a tree that opens and closes without a script."""
    return format_html('<ul class="tree">{}</ul>', _node("", value, DEEPEST))


def _node(name: str, value: object, depth: int) -> SafeString:
    label = format_html('<span class="tree-name">{}</span> ', visible(name)) if name else ""
    if not isinstance(value, dict | list):
        return format_html("<li>{}{}</li>", label, _leaf(value))
    if depth == 0 or not value:
        shown = "…" if value else "{}" if isinstance(value, dict) else "[]"
        return format_html('<li>{}<span class="soft">{}</span></li>', label, shown)
    return format_html(
        '<li><details open><summary>{}<span class="soft">{}</span></summary><ul>{}{}</ul>'
        "</details></li>",
        label,
        _size(value),
        format_html_join("", "{}", ((_node(k, v, depth - 1),) for k, v in _members(value))),
        format_html('<li class="soft">and {} more</li>', len(value) - MOST)
        if len(value) > MOST
        else "",
    )


def _members(value: dict[str, Any] | list[Any]) -> list[tuple[str, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    return [(str(name), one) for name, one in pairs][:MOST]


def _size(value: dict[str, Any] | list[Any]) -> str:
    noun = "member" if isinstance(value, dict) else "item"
    return f"{len(value)} {noun}{'' if len(value) == 1 else 's'}"


def _leaf(value: object) -> SafeString:
    if isinstance(value, str):
        return format_html('<span class="tree-text">“{}”</span>', visible(value))
    words = {None: "null", True: "true", False: "false"}
    shown = words[value] if value is None or isinstance(value, bool) else str(value)
    return format_html('<span class="tree-value">{}</span>', shown)
