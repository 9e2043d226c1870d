"""What every page draws the same way: icons, times, badges, chips, pagers and empty pages.

Nothing here decides anything. A tag takes a value that a query made and draws it; how a closed
list of states looks is in the tables of `looks`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template.context import Context
from django.templatetags.static import static
from django.urls import get_script_prefix
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from kit import ids
from kit.templatetags import looks

register = template.Library()

UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)

ROW_MOST, ROW_HEAD, ROW_TAIL = 80, 56, 16
"""Characters of a text that a row shows whole, and of the ends of a longer one."""

REMEMBERED = 1_000
"""Drawn icons and badges that are kept, by their words and whether those are escaped already."""

NOT_SAID = mark_safe('<span class="soft">not said</span>')


@register.simple_tag
@lru_cache(maxsize=REMEMBERED, typed=True)
def icon(name: str, word: str = "") -> SafeString:
    """Draw one symbol of the sprite; with ``word`` it speaks for itself, else it is decoration."""
    address = f"{static('icons.svg')}#{name or 'circle'}"
    if word:
        return format_html(
            '<svg class="icon" role="img" aria-label="{}"><use href="{}"/></svg>', word, address
        )
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}"/></svg>', address)


@register.simple_tag
@lru_cache(maxsize=REMEMBERED, typed=True)
def badge(tone: str, word: str, name: str = "", extra: str = "") -> SafeString:
    """Draw a state as icon, word and colour; tones are done, skip, bad, gap and plain."""
    tone = tone if tone in looks.TONE_ICONS else "plain"
    symbol = icon(name or looks.TONE_ICONS[tone])
    return format_html('<span class="badge {} {}">{}{}</span>', tone, extra, symbol, word)


@register.simple_tag
def chip(pointer: Mapping[str, Any] | None) -> SafeString:
    """Draw a pointer's state, which stands first, in words; the target is the page's own link."""
    found = str(_read(pointer, "state") or "")
    if not found:
        return mark_safe("")
    word, tone = looks.POINTER_WORDS.get(found, (words(found), "plain"))
    if found.startswith("resolved"):
        tone = looks.OUTCOME_TONES.get(str(_read(pointer, "outcome")), tone)
    return badge(_read(pointer, "tone") or tone, _read(pointer, "chip") or word)


@register.simple_tag
def say(*values: object) -> SafeString:
    """Write the first value that says something, with what cannot be seen marked."""
    return visible(next((value for value in values if value not in (None, "")), ""))


@register.simple_tag
def when(
    at: object, otherwise: object = None, ago: bool = False, precise: bool = False
) -> SafeString:
    """Draw a moment with its date and zone, always UTC.

    Without the first moment the second is drawn; ``ago`` lets the page add the distance to now.
    The ``datetime`` attribute keeps the microseconds. What is no time is shown as it came.
    """
    at = _at(at) or _at(otherwise)
    if at is None or at == "":
        return NOT_SAID
    moment = _moment(at)
    if moment is None:
        return format_html('<span class="mono">{}</span>', visible(at))
    exact = moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
    shown = f"{exact[:10]} {exact[11:19]}"
    if precise:
        shown = f"{shown}.{moment.microsecond // 1000:03d}"
    mark = " data-ago" if ago else ""
    return mark_safe(f'<time datetime="{exact}" title="{exact}"{mark}>{shown} UTC</time>')  # noqa: S308


@register.simple_tag
def copy(text: object, name: str = "text") -> SafeString:
    """Draw a button that copies ``text``; without a script it is hidden, the text selectable."""
    return format_html(
        '<button type="button" class="bare copy" data-copy="{}" '
        'title="Copy {}" aria-label="Copy {}">{}</button>',
        text,
        name,
        name,
        icon("copy"),
    )


@register.simple_tag
def bar(percent: int, tone: str = "plain") -> SafeString:
    """Draw a share of 0 to 100 as a bar without words: the number stands beside it."""
    width = max(0, min(100, int(percent or 0)))
    return format_html(
        '<svg class="bar on-{}" aria-hidden="true">'
        '<rect class="track" width="100%" height="10" rx="3"/>'
        '<rect width="{}%" height="10" rx="3"/></svg>',
        tone if tone in looks.TONE_ICONS else "plain",
        width,
    )


@register.simple_tag(takes_context=True)
def page(context: Context, *parts: object) -> str:
    """Give the address of a page of the current project; every part is a segment of its own."""
    shell = context.get("shell")
    slug = _read(_read(shell, "project"), "slug") or ""
    tail = "".join(f"/{ids.segment(str(part))}" for part in parts if part not in (None, ""))
    return f"{get_script_prefix()}p/{slug}{tail}"


@register.inclusion_tag("ui/pager.html")
def pager(newest_url: str = "", next_url: str = "", target: str = "#rows") -> dict[str, str]:
    """Draw the way to newer and older rows: plain links, which htmx makes quick."""
    return {"newest_url": newest_url, "next_url": next_url, "target": target}


@register.simple_block_tag
def nothing(content: str, title: str, name: str = "inbox", level: int = 2) -> SafeString:
    """Draw an empty page: what there is not, and below it what to do."""
    return format_html(
        '<div class="empty">{}<h{}>{}</h{}>{}</div>',
        icon(name),
        level,
        title,
        level,
        mark_safe(content),  # noqa: S308
    )


@register.simple_block_tag
def copyable(content: str, name: str = "text") -> SafeString:
    """Draw text to copy, a command for instance, in a box with its copy button."""
    return format_html(
        '<div class="block">{}<pre tabindex="0">{}</pre></div>',
        copy(_unescaped(content.strip()), name),
        mark_safe(content.strip()),  # noqa: S308
    )


@register.filter
def num(value: object) -> str:
    """Group the digits of a whole number in threes; anything else is shown as it is."""
    text = str(value if value is not None else "")
    return f"{int(text):,}" if re.fullmatch(r"-?[0-9]{1,40}", text) else text


@register.filter
def no(leaf_index: object) -> str:
    """Name a receipt by its number in the log: № and the leaf index, counted from 0."""
    return f"№{num(leaf_index)}" if leaf_index not in (None, "") else "not numbered yet"


@register.filter
def words(code: object) -> str:
    """Read a code as words: ``already_done`` is *already done*."""
    return str(code or "").replace("_", " ").replace("-", " ")


@register.filter
def count_words(count: Mapping[str, Any] | None) -> str:
    """Say a count as well as it is known: exact, *10,000 or more*, or *about*."""
    value = num(_read(count, "value") if _read(count, "value") is not None else 0)
    how = _read(count, "method")
    return {"capped": f"{value} or more", "estimate": f"about {value}"}.get(str(how), value)


@register.filter
def level_words(level: object, kind: object = "") -> str:
    """Say how something is known; what was recorded at the time says at which time."""
    if level == "recorded":
        return f"recorded {looks.HAPPENED.get(str(kind), 'when it happened')}"
    return looks.LEVEL_WORDS.get(str(level or ""), words(level))


@register.filter
def size(value: object) -> str:
    """Say a length in bytes, and beside it in KiB or MiB when it is long."""
    count = int(str(value)) if str(value).isdigit() else 0
    for unit, step in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= step:
            return f"{count:,} bytes ({count / step:.1f} {unit})"
    return f"{count:,} byte" + ("" if count == 1 else "s")


@register.filter
def visible(value: object) -> SafeString:
    """Escape a producer's text and mark what cannot be seen in it.

    That is NUL, controls, marks of direction and lone surrogates: a page that let them pass
    would show something else than was sent.
    """
    return mark_safe(UNSEEN.sub(_mark, escape(str(value if value is not None else ""))))  # noqa: S308


@register.filter
def listed(values: Iterable[object]) -> SafeString:
    """Show texts of producers beside one another; `join` alone would escape them a first time."""
    return visible(", ".join(str(one) for one in values))


@register.filter
def brief(value: object) -> SafeString:
    """Show a producer's text in a row: one that is too long keeps its ends, and says that it is.

    The whole text stands in the tooltip, and on the page that the row leads to.
    """
    text = str(value if value is not None else "")
    if len(text) <= ROW_MOST:
        return visible(text)
    shown = format_html("{}…{}", visible(text[:ROW_HEAD]), visible(text[-ROW_TAIL:]))
    return format_html('<span title="{}">{}</span>', UNSEEN.sub(_spell, text), shown)


@register.filter
def truth(value: object) -> str:
    """Read what a condition came to: JSON's true and false are words here, not Python's."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


@register.filter
def pairs(value: object) -> list[tuple[str, Any]]:
    """List the members of an object; a template cannot, when one of them is called *items*."""
    return list(value.items()) if isinstance(value, Mapping) else []


@register.filter
def segment(value: object) -> str:
    """Write a producer's text as one segment of an address."""
    return ids.segment(str(value))


def _mark(found: re.Match[str]) -> str:
    return f'<span class="mark" title="U+{ord(found.group()):04X}">{_spell(found)}</span>'


def _spell(found: re.Match[str]) -> str:
    code = ord(found.group())
    return looks.UNSEEN_NAMES.get(code, f"U+{code:04X}")


def _moment(at: object) -> datetime | None:
    if isinstance(at, str):
        try:
            at = datetime.fromisoformat(at)
        except ValueError:
            return None
    if not isinstance(at, datetime):
        return None
    return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)


def _at(moment: object) -> object:
    return moment.get("at") if isinstance(moment, Mapping) else moment


def _read(row: object, name: str) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


def _unescaped(content: str) -> str:
    pairs = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#x27;", "'"), ("&amp;", "&"))
    for written, meant in pairs:
        content = content.replace(written, meant)
    return content
