from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from access import errors, queries, store
from access.models import Action, LoginLink
from access.store import logins
from tests import factories
from tests.factories import TESTER

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_a_link_gives_its_user_once() -> None:
    user = factories.make_user("alice")
    link = store.create_login_link(user.id, actor=TESTER)

    assert store.spend_login_link(link.secret) == user
    with pytest.raises(errors.LinkSpent):
        store.spend_login_link(link.secret)


@pytest.mark.parametrize(
    ("after", "is_valid"), [(-SECOND, True), (timedelta(0), False), (SECOND, False)]
)
def test_a_link_ends_at_the_moment_of_its_expiry(after: timedelta, is_valid: bool) -> None:
    user = factories.make_user()
    with time_machine.travel(NOON, tick=False):
        link = store.create_login_link(user.id, actor=TESTER, minutes=15)

    with time_machine.travel(link.expires_at + after, tick=False):
        assert (queries.find_login_link(link.secret) is not None) == is_valid
        if is_valid:
            assert store.spend_login_link(link.secret) == user
        else:
            with pytest.raises(errors.LinkSpent):
                store.spend_login_link(link.secret)


def test_looking_at_a_link_does_not_spend_it() -> None:
    link = store.create_login_link(factories.make_user().id, actor=TESTER)

    assert queries.find_login_link(link.secret)
    assert queries.find_login_link(link.secret)


def test_a_link_of_somebody_who_was_shut_out_is_of_no_use() -> None:
    user = factories.make_user()
    link = store.create_login_link(user.id, actor=TESTER)
    model = factories.get_user_model_of(user)
    model.is_active = False
    model.save()

    assert queries.find_login_link(link.secret) is None
    with pytest.raises(errors.LinkSpent):
        store.spend_login_link(link.secret)


def test_a_secret_is_in_no_row_and_no_repr() -> None:
    link = store.create_login_link(factories.make_user().id, actor=TESTER)

    stored = repr([*LoginLink.objects.values_list(), *Action.objects.values_list()])

    assert link.secret not in stored
    assert link.secret not in repr(link)


def test_after_ten_attempts_from_an_address_no_more_are_tried() -> None:
    tried = [store.admit_attempt("alice", "192.0.2.1") for _ in range(12)]

    assert tried == [True] * logins.ATTEMPTS_PER_ADDRESS + [False] * 2


def test_another_address_and_another_person_may_still_try() -> None:
    for _ in range(logins.ATTEMPTS_PER_ADDRESS):
        store.admit_attempt("alice", "192.0.2.1")

    assert store.admit_attempt("alice", "192.0.2.2")
    assert store.admit_attempt("bob", "192.0.2.1")


def test_a_name_in_capitals_is_the_same_account() -> None:
    for _ in range(logins.ATTEMPTS_PER_ADDRESS):
        store.admit_attempt("alice", "192.0.2.1")

    assert not store.admit_attempt("ALICE", "192.0.2.1")


def test_one_account_is_guarded_against_many_addresses() -> None:
    tried = [
        store.admit_attempt("alice", f"192.0.2.{number}")
        for number in range(logins.ATTEMPTS_PER_ACCOUNT + 1)
    ]

    assert tried == [True] * logins.ATTEMPTS_PER_ACCOUNT + [False]


def test_waiting_opens_the_door_again_even_for_somebody_who_kept_knocking() -> None:
    with time_machine.travel(NOON, tick=False):
        for _ in range(logins.ATTEMPTS_PER_ADDRESS):
            store.admit_attempt("alice", "192.0.2.1")
    with time_machine.travel(NOON + logins.WINDOW - SECOND, tick=False):
        assert not store.admit_attempt("alice", "192.0.2.1")

    with time_machine.travel(NOON + logins.WINDOW, tick=False):
        assert store.admit_attempt("alice", "192.0.2.1")


def test_a_right_password_forgets_the_wrong_ones() -> None:
    for _ in range(logins.ATTEMPTS_PER_ADDRESS):
        store.admit_attempt("alice", "192.0.2.1")

    store.forget_attempts("alice", "192.0.2.1")

    assert store.admit_attempt("alice", "192.0.2.1")
