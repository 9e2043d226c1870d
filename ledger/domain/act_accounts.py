"""What an act states: who did what to what, on whose authority, and who says so.

An act without a token was written down by the ledger itself; any other is a producer's claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledger.domain import plain
from ledger.domain.statement import Statement

Fields = list[tuple[str, str]]
JUDGED_AGAIN = "judged again"

PAST: dict[str, str] = {
    "pause": "paused",
    "resume": "resumed",
    "cancel": "cancelled",
    "retry": "retried",
    "delete": "deleted",
    "release": "released",
    "override": "overrode",
    "deploy": "deployed",
}
"""The verbs that producers know, as they are told afterwards."""

OWN_PAST: dict[str, str] = {
    "acknowledge": "acknowledged",
    "redrive": "sent through again",
    "close": "closed",
    "token.create": "made",
    "token.revoke": "revoked",
    "login_link.create": "made a log-in link for",
    "member.add": "added as a member",
    "member.role": "changed the role of",
    "member.remove": "removed as a member",
    "project.create": "made",
    "project.rename": "renamed",
    "configure": "configured",
    "apply": "applied the file of",
}
"""The ledger's own verbs, as they are told afterwards."""


def is_ours(statement: Statement) -> bool:
    """Tell whether the ledger itself wrote an act down: ours come without a token."""
    return statement.kind == "act" and statement.token_id is None


def account(statement: Statement) -> str:
    """Say in one sentence who did what to what, and who says so."""
    if not is_ours(statement):
        return f"An act: the producer says that {_deed(statement, PAST)}{_authority(statement)}"
    if statement.act_verb == JUDGED_AGAIN:
        return f"Judged again: after a change of rules, {_judged_otherwise(statement)}"
    if plain.name_of(statement.act.get("outcome")) == "denied":
        right = statement.act_verb.removeprefix("right.")
        target = statement.act_target or "something"
        return f"Refused: {who(statement)} asked for {target} without the right to {right}"
    return f"An act in this ledger: {_deed(statement, OWN_PAST)}"


def _deed(statement: Statement, past: Mapping[str, str]) -> str:
    verb, target = statement.act_verb, statement.act_target
    done = past.get(verb) or (f"did “{verb}” to" if verb else "did something to")
    return f"{who(statement)} {done} {target or 'something that is not named'}"


def who(statement: Statement) -> str:
    """Name who acted, as it was sent."""
    return statement.actor_label or statement.actor_id or "somebody"


def _authority(statement: Statement) -> str:
    behalf, authority = on_behalf_of(statement), authority_of(statement)
    return "".join(
        [
            f" on behalf of {behalf}" if behalf else "",
            f", on the authority of {authority}" if authority else "",
        ]
    )


def on_behalf_of(statement: Statement) -> str:
    """Name the person or service for whom somebody acted, or the empty text."""
    behalf = plain.object_of(_actor(statement).get("on_behalf_of"))
    return plain.name_of(behalf.get("label")) or plain.name_of(behalf.get("id"))


def authority_of(statement: Statement) -> str:
    """Name what the act rests on, such as a change number, or the empty text."""
    return plain.name_of(_actor(statement).get("authority"))


def reason_of(statement: Statement) -> str:
    """Return why it was done, as it was sent."""
    return plain.prose_of(statement.act.get("reason")) or statement.reason or ""


def term(statement: Statement) -> str:
    """Return the decisive term of an act: its reason, or that there is none."""
    if statement.act_verb == JUDGED_AGAIN and is_ours(statement):
        moved = [f"{n:,} from {before} to {after}" for before, after, n in changes(statement)]
        return f"{'; '.join(moved)}." if moved else ""
    reason = reason_of(statement)
    return f"The reason given: “{reason}”." if reason else "No reason was given."


def changes(statement: Statement) -> list[tuple[str, str, int]]:
    """Return the counts of an act "judged again": code before, code after, receipts."""
    found = []
    for each in plain.list_of(statement.act.get("counts")):
        one = plain.object_of(each)
        before, after = plain.name_of(one.get("from")), plain.name_of(one.get("to"))
        found.append((before, after, plain.integer_of(one.get("count")) or 0))
    return found


def _judged_otherwise(statement: Statement) -> str:
    count = sum(number for _, _, number in changes(statement))
    are = "1 receipt is" if count == 1 else f"{count:,} receipts are"
    return f"{are} judged otherwise by this ledger"


def fields(statement: Statement) -> Fields:
    """Return the parts of an act, in the order in which they are asked for."""
    found = (
        ("who", statement.actor_label or statement.actor_id),
        ("account", statement.actor_id if statement.actor_label else ""),
        ("on behalf of", on_behalf_of(statement)),
        ("authority", authority_of(statement)),
        ("verb", statement.act_verb),
        ("target", statement.act_target),
        ("commit", plain.name_of(statement.act.get("commit"))),
        ("why", reason_of(statement)),
        ("outcome", plain.name_of(statement.act.get("outcome"))),
        ("until", plain.name_of(statement.act.get("until"))),
    )
    return [(name, value) for name, value in found if value]


def document(statement: Statement) -> dict[str, Any] | None:
    """Return an act as a JSON object; null for what is no act."""
    if statement.kind != "act":
        return None
    return {
        "verb": statement.act_verb or None,
        "target": statement.act_target or None,
        "who": statement.actor_label or statement.actor_id or None,
        "actor": {
            "type": statement.actor_type or None,
            "id": statement.actor_id or None,
            "label": statement.actor_label or None,
        },
        "on_behalf_of": on_behalf_of(statement) or None,
        "authority": authority_of(statement) or None,
        "reason": reason_of(statement) or None,
        "said_by": "ledger" if is_ours(statement) else "producer",
    }


def _actor(statement: Statement) -> Mapping[str, object]:
    return plain.object_of(statement.body.get("actor"))
