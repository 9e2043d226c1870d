from __future__ import annotations

import pytest

from access.domain import rights

HELD = {
    "viewer": {"read"},
    "auditor": {"read", "export", "review"},
    "operator": {"read", "export", "redrive", "acknowledge", "review"},
    "admin": {
        "read",
        "export",
        "ingest",
        "redrive",
        "acknowledge",
        "redact",
        "review",
        "approve",
        "manage",
    },
}
CARRIED = {
    "ingest": {"ingest"},
    "read": {"read", "export"},
    "operate": {"read", "export", "redrive", "acknowledge", "redact"},
    "admin": HELD["admin"],
}


@pytest.mark.parametrize("right", sorted(rights.RIGHTS))
@pytest.mark.parametrize("role", sorted(HELD))
def test_a_role_holds_just_the_rights_it_names(role: str, right: str) -> None:
    assert (right in rights.get_role(role)) == (right in HELD[role])


@pytest.mark.parametrize("right", sorted(rights.RIGHTS))
@pytest.mark.parametrize("scope", sorted(CARRIED))
def test_a_scope_carries_just_the_rights_it_names(scope: str, right: str) -> None:
    assert (right in rights.get_scope(scope)) == (right in CARRIED[scope])


def test_there_are_four_roles_and_four_scopes() -> None:
    assert set(rights.ROLES) == set(HELD)
    assert set(rights.SCOPES) == set(CARRIED)


def test_a_word_that_is_no_role_holds_nothing() -> None:
    with pytest.raises(KeyError):
        rights.get_role("root")
