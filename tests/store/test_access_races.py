"""What two people do to one thing at the same moment, each over a connection of their own.

Each test has a database of its own: Django would empty a shared one after such a test, and what
is append-only refuses that.
"""

from __future__ import annotations

import threading

from django.db import connection

from access import errors, queries, store
from tests import factories
from tests.databases import Database
from tests.factories import TESTER


def test_of_many_who_spend_a_link_at_once_one_wins(database: Database) -> None:
    link = store.create_login_link(factories.make_user().id, actor=TESTER)
    barrier, outcomes = threading.Barrier(4), []

    def spend() -> None:
        barrier.wait()
        try:
            outcomes.append(store.spend_login_link(link.secret).username)
        except errors.LinkSpent:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(outcomes), outcomes.count("refused")) == (4, 3)


def test_of_two_admins_who_remove_each_other_at_once_one_stays(database: Database) -> None:
    project = factories.make_project()
    admins = [factories.make_member(project, "admin") for _ in range(2)]
    barrier, refused = threading.Barrier(2), []

    def remove(user_id: int) -> None:
        barrier.wait()
        try:
            store.remove_member(project.id, user_id, actor=TESTER)
        except errors.LastAdmin as error:
            refused.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=remove, args=[u.id]) for u in admins]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(refused) == 1
    assert len(queries.members(project.id)) == 1
