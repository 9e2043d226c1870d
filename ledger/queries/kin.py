"""What else is on record of the work of one receipt, as of a leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kit import bulk, ids
from kit.search import Term, render
from ledger import statements
from ledger.domain import targets, words, work_accounts
from ledger.domain.act_accounts import JUDGED_AGAIN, is_ours, who
from ledger.domain.book import Inquiry
from ledger.domain.kin import SHOWN, Group, Kin, Way
from ledger.domain.names import column
from ledger.domain.statement import JobName, Statement
from ledger.models import Leaf
from ledger.projectors.book import Book
from ledger.queries import judged_again

SUBJECTS, OF_SUBJECT = 3, 5


def kin_of(project_id: int, one: Statement, book: Book, end: int) -> Kin:
    """Find the other receipts of a receipt's job, key and business objects, and its end.

    `book` and `end` hold the leaves that are to be seen.
    """
    if one.kind == "skip" or not one.is_readable:
        return Kin()
    job = _others(one, book.by_job(one.job)) if one.job is not None else []
    key = _others(one, book.by_key(one.key_digest, one.leaf)) if one.key_digest else []
    told = {each.leaf for each in job}
    last, outcome = _end(one, book)
    groups = [
        *_job_group(one.job, job),
        Group("key", one.recipe, _q("key", one.key_digest or ""), _without(key, told)),
        *_subject_groups(project_id, one, end, told),
        *_target_group(project_id, one, end),
        *_judged_group(project_id, one),
    ]
    return Kin(tuple(groups), tuple(_ways(one)), last, outcome)


def _others(one: Statement, found: Sequence[Statement]) -> list[Statement]:
    return [each for each in found if each.leaf != one.leaf and each.is_readable]


def _without(found: Sequence[Statement], told: set[int]) -> list[Statement]:
    return [each for each in found if each.leaf not in told]


def _end(one: Statement, book: Book) -> tuple[Statement | None, str]:
    """Find the receipt that tells how the work ended, unless it is this one itself."""
    if one.kind not in work_accounts.ACCOUNTS:
        return None, ""
    end, outcome = targets.end_of(one, Inquiry(book))
    return (None, "") if end is None or end.leaf == one.leaf else (end, outcome)


def _job_group(job: JobName | None, found: Sequence[Statement]) -> list[Group]:
    if job is None:
        return []
    name = job.text() if job.system and job.instance else job.number
    return [Group("job", name, _q("job", name), found)]


def _subject_groups(project_id: int, one: Statement, end: int, told: set[int]) -> list[Group]:
    """Find the newest other receipts of the first business objects."""
    subjects = one.subjects[:SUBJECTS]
    if not subjects:
        return []
    parts = [
        f"SELECT * FROM (SELECT {place} AS place, leaf_index FROM entry_subject "  # noqa: S608
        "WHERE project_id = %s AND type = %s AND subject = %s AND leaf_index < %s "
        f"AND leaf_index <> %s ORDER BY leaf_index DESC LIMIT {OF_SUBJECT}) AS part{place}"
        for place in range(len(subjects))
    ]
    names = [[project_id, kind, column(name), end, one.leaf] for kind, name in subjects]
    rows = bulk.select_rows(" UNION ALL ".join(parts), [each for row in names for each in row])
    loaded = statements.load_leaves(project_id, (leaf for _, leaf in rows))
    found = [
        [loaded[leaf] for at, leaf in rows if at == place and leaf not in told]
        for place in range(len(subjects))
    ]
    return [
        Group(kind, name, _q("subject", f"{kind}:{name}"), [e for e in others if e.is_readable])
        for (kind, name), others in zip(subjects, found, strict=True)
    ]


def _target_group(project_id: int, one: Statement, end: int) -> list[Group]:
    """Find the receipt that an act was done to, where its target names one."""
    kind, _, ref = one.act_target.partition(":")
    receipt = ids.uuid_of(ref) if one.kind == "act" and kind == "receipt" else None
    if receipt is None:
        return []
    leaves = Leaf.objects.filter(project_id=project_id, receipt=receipt, leaf_index__lt=end)
    loaded = statements.load_leaves(project_id, leaves.values_list("leaf_index", flat=True))
    return [Group("target", ref, "", list(loaded.values()))]


def _judged_group(project_id: int, one: Statement) -> list[Group]:
    """Show the first of the receipts that an act of ours names as judged otherwise."""
    act = ids.uuid_of(one.ref)
    if one.act_verb != JUDGED_AGAIN or not is_ours(one) or act is None:
        return []
    found = [ids.uuid_of(ref) for ref in judged_again.refs_of(act)[:SHOWN]]
    named = [receipt for receipt in found if receipt is not None]
    leaves = Leaf.objects.filter(project_id=project_id, receipt__in=named)
    loaded = statements.load_leaves(project_id, leaves.values_list("leaf_index", flat=True))
    return [Group("judged", "", "", list(loaded.values()))]


def _ways(one: Statement) -> Iterator[Way]:
    """Name the lists of acts of the same actor, and of heartbeats of the same source."""
    actor = one.actor_id or one.actor_label
    if one.kind in ("act", "decide") and actor:
        terms = (Term("kind", (one.kind,)), Term("actor", (actor,)))
        yield Way(f"every {words.KIND_WORDS[one.kind]} of {who(one)}", render(terms))
    if one.kind in ("heartbeat", "tally", "observe") and one.source:
        terms = (Term("kind", (one.kind,)), Term("source", (one.source,)))
        yield Way(f"every {words.KIND_WORDS[one.kind]} of {one.source}", render(terms))


def _q(name: str, value: str) -> str:
    return render((Term(name, (value,)),))
