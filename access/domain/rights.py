"""Rights, and the roles and token scopes that are named sets of them.

Code asks for a right and never for a role or a scope, so that a new role is one line here.
"""

from __future__ import annotations

from typing import Final

READ: Final = "read"
EXPORT: Final = "export"
INGEST: Final = "ingest"
REDRIVE: Final = "redrive"
ACKNOWLEDGE: Final = "acknowledge"
REDACT: Final = "redact"
REVIEW: Final = "review"
APPROVE: Final = "approve"
MANAGE: Final = "manage"

RIGHTS: Final[frozenset[str]] = frozenset(
    {READ, EXPORT, INGEST, REDRIVE, ACKNOWLEDGE, REDACT, REVIEW, APPROVE, MANAGE}
)

_VIEWER = frozenset({READ})
_AUDITOR = _VIEWER | {EXPORT, REVIEW}
_OPERATOR = _VIEWER | {EXPORT, REDRIVE, ACKNOWLEDGE, REVIEW}

ROLES: Final[dict[str, frozenset[str]]] = {
    "viewer": _VIEWER,
    "auditor": _AUDITOR,
    "operator": _OPERATOR,
    "admin": RIGHTS,
}

# `operate` carries `redact` though the role operator does not: the contract (section 4) gives
# erasure to tokens that operate, and such a token is made by an admin alone.
SCOPES: Final[dict[str, frozenset[str]]] = {
    "ingest": frozenset({INGEST}),
    "read": frozenset({READ, EXPORT}),
    "operate": frozenset({READ, EXPORT, REDRIVE, ACKNOWLEDGE, REDACT}),
    "admin": RIGHTS,
}

ADMIN: Final = "admin"


def get_role(name: str) -> frozenset[str]:
    """Return the rights of a role; KeyError for a word that is none."""
    return ROLES[name]


def get_scope(name: str) -> frozenset[str]:
    """Return the rights of a token scope; KeyError for a word that is none."""
    return SCOPES[name]
