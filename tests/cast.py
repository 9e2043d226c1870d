"""The cast of three: alice may do all, bob may look, charlie is a stranger."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client

from access.rows import ProjectRow, UserRow
from tests import factories


@dataclass(frozen=True)
class Cast:
    """A project with alice as admin and bob as viewer; charlie is admin of another project."""

    project: ProjectRow
    elsewhere: ProjectRow
    alice: UserRow
    bob: UserRow
    charlie: UserRow

    def browser(self, user: UserRow, *, checks_csrf: bool = False) -> Client:
        """Give a browser in which a person is logged in."""
        client = Client(enforce_csrf_checks=checks_csrf)
        client.force_login(factories.get_user_model_of(user))
        return client

    def program(self, scope: str) -> Client:
        """Give a program with a token of the project."""
        _, text = factories.make_token(self.project, scope)
        return Client(headers={"authorization": f"Bearer {text}"}, enforce_csrf_checks=True)


@pytest.fixture
def cast(db: None) -> Cast:
    """Give the project `acme` and its cast."""
    acme, elsewhere = factories.make_project("acme"), factories.make_project("elsewhere")
    return Cast(
        project=acme,
        elsewhere=elsewhere,
        alice=factories.make_member(acme, "admin", "alice"),
        bob=factories.make_member(acme, "viewer", "bob"),
        charlie=factories.make_member(elsewhere, "admin", "charlie"),
    )
