"""`manage.py sources`: what is applied is receipts, and is there at once."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import ManagementUtility, call_command

from config.sources import applying, history, reading
from config.sources.applying import AppliedMeanwhile
from events.domain.told import settings as told
from events.integrations import tail_place
from jobs.integrations import oban_place
from ledger import statements
from ledger.domain import act_accounts, plain
from ledger.models import Receipt, ReceiptBody
from tests import factories

pytestmark = pytest.mark.django_db
FILE = """
[bus.activity]
installation = "i1"
profile = "generation"
redis_env = "BUS_REDIS"
keep = {messages = 5000}

[oban.prod-1]
dsn_env = "OBAN_DSN"

[loop.relay]
period = "45s"
"""


@pytest.fixture
def project() -> str:
    return factories.make_project().slug


def run(*words: str) -> tuple[int, str]:
    out = io.StringIO()
    try:
        call_command("sources", *words, stdout=out)
    except SystemExit as left:
        return int(left.code or 0), out.getvalue()
    return 0, out.getvalue()


def write(folder: Path, text: str) -> str:
    path = folder / "sources.toml"
    path.write_text(text)
    return str(path)


def acts() -> list[dict[str, Any]]:
    raws = ReceiptBody.objects.order_by("id").values_list("raw", flat=True)
    return [json.loads(bytes(raw)) for raw in raws]


def test_applying_writes_an_act_for_each_source_and_one_for_itself(
    project: str, tmp_path: Path
) -> None:
    code, said = run("apply", write(tmp_path, FILE), "--project", project)

    assert code == 0
    assert "Applied 2 sources; this is number 1." in said
    assert "loop.relay: is not watched by this version" in said
    by_target = {one["act"]["target"]: one for one in acts()}
    assert by_target.keys() == {"bus:i1/activity", "source:oban/prod-1", "sources"}
    assert by_target["bus:i1/activity"]["settings"]["keep"] == {"messages": 5000}
    assert by_target["sources"]["act"]["changed"] == ["bus:i1/activity", "source:oban/prod-1"]


def test_an_act_on_a_bus_is_one_that_projectors_read(project: str, tmp_path: Path) -> None:
    run("apply", write(tmp_path, FILE), "--project", project)

    receipt = Receipt.objects.order_by("id").first()
    assert receipt is not None
    found = told.read(statements.read_receipt(receipt, None))
    assert found is not None
    assert (found.verb, found.installation, found.bus) == ("configure", "i1", "activity")
    assert plain.object_of(found.data["settings"])["profile"] == "generation"
    assert act_accounts.account(statements.read_receipt(receipt, None)) == (
        "An act in this ledger: command line of the server configured bus:i1/activity"
    )


def test_applying_the_same_file_again_writes_nothing(project: str, tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    run("apply", path, "--project", project)
    before = len(acts())

    code, said = run("apply", path, "--project", project)

    assert (code, len(acts())) == (0, before)
    assert "Nothing in the file differs" in said


def test_only_what_differs_is_applied(project: str, tmp_path: Path) -> None:
    run("apply", write(tmp_path, FILE), "--project", project)
    changed = write(tmp_path, FILE.replace("5000", "6000"))

    assert run("diff", changed, "--project", project) == (
        1,
        '~ bus.activity: keep {"messages": 5000} becomes {"messages": 6000}\n'
        "  loop.relay: is not watched by this version\n",
    )
    run("apply", changed, "--project", project)

    assert [one["act"]["target"] for one in acts()[3:]] == ["bus:i1/activity", "sources"]
    assert run("diff", changed, "--project", project)[0] == 0


def test_going_back_to_an_earlier_file_is_an_act_again(project: str, tmp_path: Path) -> None:
    other = FILE.replace("5000", "6000")
    for text in (FILE, other, FILE, other):
        run("apply", write(tmp_path, text), "--project", project)

    assert len(acts()) == 3 + 2 * 3
    assert len({one["id"] for one in acts()}) == len(acts())
    assert run("diff", write(tmp_path, other), "--project", project)[0] == 0


def test_the_newest_of_many_is_found(project: str, tmp_path: Path) -> None:
    for number in range(1, 12):
        text = FILE.replace("5000", str(5000 + number))
        assert (
            f"this is number {number}."
            in run("apply", write(tmp_path, text), "--project", project)[1]
        )


def test_what_the_file_leaves_out_is_listed_and_stays(project: str, tmp_path: Path) -> None:
    run("apply", write(tmp_path, FILE), "--project", project)
    shorter = write(tmp_path, FILE.partition("[oban")[0])

    code, said = run("diff", shorter, "--project", project)

    assert code == 0
    assert "oban.prod-1: was applied and is not in the file; it stays as it is" in said
    run("apply", shorter, "--project", project)
    assert "[oban.prod-1]" in run("export", "-", "--project", project)[1]


def test_what_is_in_use_and_in_no_file_is_listed(project: str, tmp_path: Path) -> None:
    from access import queries

    found = queries.find_project_by_slug(project)
    assert found is not None
    tail_place.open_place(found.id, "i2", "watch", "tail")
    oban_place.open_place(found.id, "old", "public.oban_jobs")

    _, said = run("diff", write(tmp_path, FILE), "--project", project)

    assert "the bus i2/watch: is in use and is not in the file" in said
    assert "the Oban table old: is in use and is not in the file" in said


def test_what_was_applied_is_written_as_a_file_that_does_not_differ(
    project: str, tmp_path: Path
) -> None:
    run("apply", write(tmp_path, FILE), "--project", project)
    written = tmp_path / "written.toml"

    assert run("export", str(written), "--project", project)[0] == 0

    assert run("diff", str(written), "--project", project)[0] == 0
    assert 'installation = "i1"' in written.read_text()


def test_two_projects_have_sources_of_their_own(project: str, tmp_path: Path) -> None:
    path = write(tmp_path, FILE)
    run("apply", path, "--project", project)

    assert run("diff", path, "--project", factories.make_project().slug)[0] == 1


def test_the_second_of_two_who_apply_at_once_is_told(project: str) -> None:
    from access import queries

    found = queries.find_project_by_slug(project)
    assert found is not None
    before = history.load(found.id)
    for text in (FILE, FILE.replace("5000", "6000")):
        changed = list(reading.read(text).entries.values())
        if text == FILE:
            assert applying.apply(found.id, before, changed, text) == 1
            continue
        with pytest.raises(AppliedMeanwhile):
            applying.apply(found.id, before, changed, text)


@pytest.mark.parametrize(
    ("text", "act"),
    [("[bus.live]", "apply"), ("[bus", "diff"), (None, "diff"), (FILE, "export"), (FILE, "watch")],
)
def test_a_file_that_cannot_be_used_is_3(
    project: str, tmp_path: Path, text: str | None, act: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "gone.toml") if text is None else write(tmp_path, text)

    with pytest.raises(SystemExit) as left:
        ManagementUtility(["manage.py", "sources", act, path, "--project", project]).execute()

    assert left.value.code == 3
    assert "Traceback" not in capsys.readouterr().err
