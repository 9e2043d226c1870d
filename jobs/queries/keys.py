"""Keys: who holds each, since when, with what last sign of life, and who was turned away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from jobs.domain import holders
from jobs.domain.attempts import micros, moment
from jobs.domain.holders import Life
from jobs.queries import claims
from kit import bulk, counts, ids, keyset
from kit.db import is_postgresql
from kit.http import ProblemError, bad_query
from kit.search import Query, Term
from ledger.domain.names import column
from ledger.queries import feeds, heads, lists
from ledger.queries.as_of import AsOf
from ledger.queries.fields import SCANNED
from ledger.queries.where import where

USUAL = 50
MATCHES = 10_000
Document = dict[str, Any]
_COLUMNS = (
    "k.digest", "k.recipe", "k.version", "k.source", "k.named", "k.first_leaf", "k.last_leaf",
    "k.turned_away", "k.holder_run", "k.holder_leaf", "k.held_at", "k.released_leaf",
    "k.released_at", "a.state", "a.sign_at", "a.limit_us", "a.gone_at", "a.gone_from",
)  # fmt: skip
_FROM = (
    "FROM key_holder k LEFT JOIN attempt a ON a.project_id = k.project_id "
    "AND a.run = k.holder_run AND NOT (a.run = '')"
)
# The other way round: few runs are gone, and each leads to its key.
_GONE = (
    "FROM attempt a JOIN key_holder k ON k.project_id = a.project_id AND k.holder_run = a.run "
    "AND NOT (a.run = '')"
)
_RECIPES = "SELECT DISTINCT recipe FROM attempt_shape WHERE project_id = %s AND own > 0"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A list of keys as it is asked for; `gone` keeps those whose holder is gone."""

    query: Query
    recipe: str = ""
    gone: bool = False
    limit: int = USUAL
    cursor: str = ""

    @property
    def name(self) -> str:
        """Name the list, so that a cursor of another is refused."""
        return "keys.gone" if self.gone else "keys"


def list_keys(project_id: int, wanted: Wanted, cut: AsOf, now: datetime) -> Document:
    """Give a page of keys: the newest first, or of gone holders the one gone longest first."""
    if wanted.query.faults:
        raise bad_query(wanted.query)
    text, parameters, first = _selection(project_id, wanted, cut, now)
    placed, place = _after(wanted)
    order = "a.gone_from, k.digest" if wanted.gone else "k.first_leaf DESC"
    rows = bulk.select_rows(
        f"SELECT {', '.join(_COLUMNS)} {text}{placed} ORDER BY {order} LIMIT %s",
        [*parameters, *place, wanted.limit + 1],
    )
    page, has_more = keyset.take(rows, wanted.limit)
    reach, feed = heads.reach_of(project_id), lists.feed_of(project_id)
    whole = first == 0 and reach.lag == 0 and feeds.is_whole(feed)
    return {
        "items": _documents(project_id, page, micros(now)),
        "next": _next(wanted, page[-1]) if has_more else None,
        "count": counts.capped(f"SELECT 1 {text}", bulk.adapt(parameters), as_of=now),
        "recipes": sorted(one for (one,) in bulk.select_rows(_RECIPES, [project_id])),
        "window": {"complete": whole, "lag": reach.lag, "from": None, "to": reach.derived_at},
        "feed": feed,
    }


def get_key(project_id: int, recipe: str, digest: str, now: int = 0) -> Document:
    """Give what is kept of a key; raises a problem for one that no receipt compared."""
    rows = bulk.select_rows(
        f"SELECT {', '.join(_COLUMNS)} {_FROM} "
        "WHERE k.project_id = %s AND k.digest = %s AND k.recipe = %s",
        [project_id, column(digest), column(recipe)],
    )
    if not rows:
        detail = "No receipt in this project compared a key of this rule and digest."
        raise ProblemError(404, "not_found", "No such key", detail)
    return _documents(project_id, rows, now)[0]


def key_document(
    project_id: int, recipe: str, digest: str, cursor: str, cut: AsOf, now: datetime
) -> Document:
    """Give one key with its claims in the order in which the ledger got them."""
    found = get_key(project_id, recipe, digest, micros(now))
    holder = found["holder"] or {}
    named = list(found["named"].items())
    ways = holders.ways(found["source"].partition("/")[0], holder.get("job") or "",
                        found["recipe"], found["version"], named)  # fmt: skip
    since = holder.get("since")
    return {
        **found,
        "skips_since": claims.skips_since(project_id, digest, since, now),
        "last_sign": claims.last_sign(project_id, holder),
        "claims": claims.page(project_id, digest, cursor, cut),
        "release": {"ways": [asdict(one) for one in ways], "note": _NOTE},
        "as_of": now,
    }


_NOTE = (
    "Counterfoil releases no key in a watched system. Run one of these where the guard is kept, "
    "and note here why."
)


def _selection(
    project_id: int, wanted: Wanted, cut: AsOf, now: datetime
) -> tuple[str, list[Any], int]:
    """Give FROM and WHERE with their parameters, and the first leaf that they look at."""
    conditions, parameters, first = ["k.project_id = %s"], [project_id], 0
    given: list[Any] = [*parameters]
    if wanted.gone:
        conditions += ["a.project_id = %s", "a.gone_from <= %s"]
        conditions.append("(k.released_at IS NULL OR k.released_at < a.sign_at)")
        given += [project_id, micros(now)]
    if wanted.recipe:
        conditions.append("k.recipe = %s")
        given.append(column(wanted.recipe))
    for term in wanted.query.terms:
        if term.path is not None:
            condition, values = _has_field(term)
            first = max(0, cut.end - SCANNED)
            conditions += [condition, "k.first_leaf >= %s"]
            given += [*values, first]
    chosen, values = _chosen(project_id, wanted.query, cut)
    source = _GONE if wanted.gone else _FROM
    return f"{source} WHERE {' AND '.join([*conditions, *chosen])}", [*given, *values], first


def _has_field(term: Term) -> tuple[str, list[str]]:
    """Match a field of the key with any of some values, each as a text or as another JSON value."""
    if term.name != "key":
        detail = "Of paths, keys are searched by key.NAME alone."
        raise ProblemError(400, "bad_query", "The query was not understood", detail)
    finds = "position(%s in k.named) > 0" if is_postgresql() else "instr(k.named, %s) > 0"
    texts = [text for value in term.values for text in (value, json.dumps(value))]
    needles = [json.dumps([term.path, text]) for text in texts]
    found = " OR ".join([finds] * len(needles))
    return f"NOT ({found})" if term.negated else f"({found})", needles


def _chosen(project_id: int, query: Query, cut: AsOf) -> tuple[list[str], list[Any]]:
    """Keep the keys of the newest receipts that the rest of the query selects."""
    terms = tuple(term for term in query.terms if term.path is None)
    if not terms and not query.words:
        return [], []
    found = where(project_id, Query(terms, query.words), cut)
    found.add("e.key_digest <> ''")
    statement, parameters = found.newest("e.leaf_index, e.key_digest", MATCHES)
    chosen = f"k.digest IN (SELECT key_digest FROM ({statement}) AS chosen)"  # noqa: S608
    return [chosen], parameters


def _after(wanted: Wanted) -> tuple[str, list[Any]]:
    if not wanted.cursor:
        return "", []
    if not wanted.gone:
        (leaf,) = keyset.decode(wanted.cursor, wanted.name, (int,)).values
        return " AND k.first_leaf < %s", [leaf]
    place = keyset.decode(wanted.cursor, wanted.name, (int, str)).values
    return " AND (a.gone_from, k.digest) > (%s, %s)", [*place]


def _next(wanted: Wanted, row: Sequence[Any]) -> str:
    values = (row[17], row[0]) if wanted.gone else (row[5],)
    return keyset.encode(keyset.Cursor(values), wanted.name)


def _documents(project_id: int, rows: Sequence[Sequence[Any]], now: int) -> list[Document]:
    leaves = {row[9] for row in rows if row[9] is not None}
    leaves |= {row[11] for row in rows if row[11] is not None}
    entries = claims.entries_of(project_id, leaves)
    return [_document(row, entries, now) for row in rows]


def _document(row: Sequence[Any], entries: dict[int, Sequence[Any]], now: int) -> Document:
    digest, recipe, version, source, named, first, last, turned_away = row[:8]
    pairs = [(name, text) for name, text in json.loads(named)]
    return {
        "recipe": recipe,
        "version": version,
        "digest": digest,
        "source": source,
        "fields": holders.shown(pairs),
        "named": dict(pairs),
        "holder": _holder(row, entries, now),
        "turned_away": turned_away,
        "first_leaf": str(first),
        "last_leaf": str(last),
        "released": _released(row, entries),
    }


def _holder(row: Sequence[Any], entries: dict[int, Sequence[Any]], now: int) -> Document | None:
    leaf, held_at = row[9], row[10]
    if leaf is None:
        return None
    life = None if row[13] is None else Life(*row[13:18])
    code = holders.state_of(life, now)
    _, receipt, job, task, _, name = entries[leaf]
    return {
        "ref": ids.ref_of(bulk.as_uuid(receipt)),
        "leaf_index": str(leaf),
        "job": job or None,
        "job_name": name or None,
        "task": task or None,
        "since": moment(held_at),
        "state": code,
        "word": holders.WORDS[code][0],
        "sentence": holders.sentence(code, f"Job {job}" if job else "The holder", life, now),
        "is_gone": code in holders.GONE,
        "last_sign_at": None if life is None else moment(life.sign_at),
        "limit_s": None if life is None else holders.limit_s(life),
        "says_limit": life is not None and life.limit_us is not None,
        "lost_from": _time(None if life is None else life.gone_from),
        "row_deleted_at": _time(None if life is None else life.gone_at),
    }


def _released(row: Sequence[Any], entries: dict[int, Sequence[Any]]) -> Document | None:
    if row[11] is None:
        return None
    _, receipt, _, _, actor, _ = entries[row[11]]
    ref = ids.ref_of(bulk.as_uuid(receipt))
    return {"ref": ref, "at": moment(row[12]), "by": actor or None}


def _time(at: int | None) -> datetime | None:
    return None if at is None else moment(at)
