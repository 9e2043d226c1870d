"""The how-tos of the ways in, followed to their end against a server of their own."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from tests.architecture import ROOT, documents
from tests.architecture.walkthrough import Terminal, iter_steps
from tests.running import Counterfoil
from tests.servers import Redis

pytestmark = pytest.mark.slow

PAGES = (
    "plain-python",
    "curl",
    "spool-directory",
    "apscheduler",
    "django-tasks",
    "cron-and-ci",
    "opentelemetry",
)
SETTING_ASIDE = ("curl", "spool-directory")
"""The pages that show what becomes of a receipt that cannot be read."""
SET_ASIDE = """
unset PYTHONPATH DJANGO_SETTINGS_MODULE
token=$(.venv/bin/python manage.py token create --project main --scope read --name check)
curl -s http://127.0.0.1:8000/api/v1/quarantine -H "Authorization: Bearer $token"
"""
PROGRAMS = {"counterfoil": "-m counterfoil", "python": "", "rq": "-m rq.cli", "celery": "-m celery"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Counterfoil]:
    with closing(Counterfoil(tmp_path / "data")) as server:
        yield server.start()


@pytest.fixture
def words(server: Counterfoil, tmp_path: Path) -> dict[str, str]:
    return {
        "http://127.0.0.1:8000": server.url,
        ".venv/bin/python": shlex.quote(sys.executable),
        "/tmp/": f"{tmp_path}/",
    }


@pytest.fixture
def terminal(server: Counterfoil, tmp_path: Path, words: dict[str, str]) -> Terminal:
    """Give a shell in which the client is installed, as the pages say."""
    programs = tmp_path / "bin"
    programs.mkdir()
    python, source = shlex.quote(sys.executable), shlex.quote(str(ROOT / "client" / "src"))
    for name, arguments in PROGRAMS.items():
        program = programs / name
        path = f"PYTHONPATH=$PYTHONPATH:{source}"
        program.write_text(f'#!/bin/sh\n{path} exec {python} {arguments} "$@"\n')
        program.chmod(0o755)
    # The reader's programs are no part of Counterfoil, and have settings of their own.
    foreign = ("COUNTERFOIL_", "DJANGO_")
    kept = {n: v for n, v in server.environment.items() if not n.startswith(foreign)}
    path = f"{programs}:{kept['PATH']}"
    return Terminal(tmp_path, {**kept, "PATH": path, "HOME": str(tmp_path)}, words)


@pytest.mark.parametrize("page", PAGES)
def test_a_way_in_can_be_followed_to_its_end(page: str, terminal: Terminal) -> None:
    follow(page, terminal)


@pytest.mark.parametrize("page", ["rq", "celery"])
def test_a_way_in_by_redis_can_be_followed_to_its_end(
    page: str, terminal: Terminal, words: dict[str, str], redis_server: Redis
) -> None:
    words["redis://127.0.0.1:6379/0"] = redis_server.url

    follow(page, terminal)


def test_the_steps_of_a_ci_job_run_as_they_stand(
    terminal: Terminal, words: dict[str, str], tmp_path: Path
) -> None:
    page = documents.read("docs/how-to/cron-and-ci.md")
    job = yaml.safe_load(documents.get_fence(page, "workflow"))["jobs"]["nightly"]
    steps = list(iter_steps(page))
    terminal.follow(steps[0])
    token = (tmp_path / "counterfoil-token").read_text().strip()
    words["${{ secrets.COUNTERFOIL_TOKEN }}"] = token
    words["${{ job.status }}"] = "failure"
    given = {"GITHUB_REPOSITORY": "shop/app", "GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "1"}
    given |= {"GITHUB_WORKFLOW": "nightly", "GITHUB_ACTOR": "u-17", **job.get("env", {})}
    exports = "\n".join(f"export {n}={shlex.quote(v)}" for n, v in given.items())

    for step in job["steps"]:
        if "run" in step:
            own = "\n".join(f"export {n}={shlex.quote(v)}" for n, v in step.get("env", {}).items())
            printed = terminal.run(f"{exports}\n{own}\n{step['run']}")

    assert json.loads(printed)["state"] == "accepted"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not on this machine")
def test_the_documented_producer_in_node_writes_what_the_forwarder_reads(tmp_path: Path) -> None:
    page = documents.read("docs/how-to/spool-directory.md")
    program, spool = tmp_path / "producer.js", tmp_path / "spool"
    program.write_text(documents.get_fence(page, "producer"))
    spool.mkdir()

    subprocess.run(["node", program, spool], check=True, timeout=60)

    [file] = spool.iterdir()
    assert file.suffix == ".ready"
    assert json.loads(file.read_text())["job"] == {"task": "order.confirm", "id": "7"}


def follow(page: str, terminal: Terminal) -> None:
    for step in iter_steps(documents.read(f"docs/how-to/{page}.md")):
        terminal.follow(step)
    if page not in SETTING_ASIDE:
        assert json.loads(terminal.run(SET_ASIDE))["items"] == []
