"""What an empty ledger needs: a person who may do all, a project, and a way in."""

from __future__ import annotations

from dataclasses import dataclass

from access import queries as access_queries
from access import store as access_store
from access.domain import rights
from access.rows import COMMAND_LINE
from kit.db import is_postgresql

ADMIN = "admin"
FIRST_PROJECT = "main"
DEMO_PROJECT = "demo"


@dataclass(frozen=True, slots=True)
class Start:
    """How to log in, and whether the demo is to be run into its project."""

    login_path: str
    run_demo: bool


def prepare(*, with_demo: bool) -> Start:
    """Make what is missing and a one-time log-in link for the administrator.

    The demo goes into an empty embedded ledger only: whoever names a database has a use for it.
    """
    is_empty = not access_queries.all_projects()
    with_demo = with_demo and not is_postgresql()
    user = access_queries.find_user(ADMIN) or access_store.create_user(
        username=ADMIN, display_name="Administrator", actor=COMMAND_LINE
    )
    if is_empty:
        names = [FIRST_PROJECT, *([DEMO_PROJECT] if with_demo else [])]
        for slug in names:
            project = access_store.create_project(slug=slug, actor=COMMAND_LINE)
            access_store.add_member(project.id, user.id, role=rights.ADMIN, actor=COMMAND_LINE)
    link = access_store.create_login_link(user.id, actor=COMMAND_LINE, minutes=24 * 60)
    return Start(link.path, run_demo=is_empty and with_demo)
