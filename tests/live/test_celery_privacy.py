"""A card number that a task is given, gives back or dies of leaves it nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import httpx
import pytest

from tests.celery_shop.ledger import Ledger
from tests.celery_shop.rig import Shop
from tests.running import Counterfoil
from tests.servers import Redis

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

CARD = "4111111111111111"
FORMS = [CARD, CARD.encode().hex(), CARD.encode().hex().upper()]
PUBLISH = """
import shop.special, shop.tasks
from celery_once import AlreadyQueued
card = sys.argv[1]
tasks = app.tasks
given = {"headers": {"card": card}, "argsrepr": card, "kwargsrepr": card}
for name in ("echoes", "fails", "retries", "swallows", "swallows_by_lock", "ignores", "rejects"):
    tasks[f"shop.special.{name}"].apply_async([card], **given)
    tasks[f"shop.special.{name}"].apply_async(kwargs={"order": card}, shadow=card)
for name in ("once_000", "once_002", "singleton_000", "singleton_002"):
    for _ in range(2):
        try:
            tasks[f"shop.tasks.{name}"].apply_async([card], {"note": {"card": [card]}}, **given)
        except AlreadyQueued:
            pass
tasks["shop.special.echoes"].apply_async([card], expires=0.01, stamped_headers=["card"], card=card)
app.send_task("shop.nowhere", [card], {"card": card}, **given)
app.control.revoke_by_stamped_headers({"card": [card]})
"""


@pytest.fixture(scope="module", params=["each", "tally"])
def recorded(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    counterfoil: Counterfoil,
) -> Iterator[tuple[Shop, Ledger]]:
    """Give a shop whose tasks had a card number in every place that they have, and its ledger."""
    folder = tmp_path_factory.mktemp(request.param)
    with closing(Redis()) as server:
        shop = Shop(folder, server.start().url, {request.param: ["*"]})
        shop.app(PUBLISH, CARD)
        with shop.worker("-c", "2"):
            shop.await_receipts(lambda found: any(r.get("reason") == "unknown_task" for r in found))
            shop.await_empty_queue()
        ledger = Ledger(counterfoil, f"card-{request.param}")
        kept = shop.folder / "kept"
        kept.mkdir()
        for file in shop.spool.iterdir():
            (kept / file.name).write_bytes(file.read_bytes())
        total = len(shop.receipts())
        shop.send(ledger.url, ledger.token)
        ledger.counts("kind", "", of=total)
        yield shop, ledger


def test_the_shop_really_had_the_card_number(recorded: tuple[Shop, Ledger]) -> None:
    shop, _ = recorded

    assert CARD in shop.log.read_text(), "Celery's own log has what the exception said"


def test_no_spool_file_has_it(recorded: tuple[Shop, Ledger]) -> None:
    shop, _ = recorded

    files = list((shop.folder / "kept").iterdir())
    assert any(b"shop.special.fails" in file.read_bytes() for file in files)
    assert [file.name for file in files if has_card(file.read_bytes())] == []


def test_no_table_and_no_log_of_the_server_has_it(
    recorded: tuple[Shop, Ledger], counterfoil: Counterfoil
) -> None:
    files = [file for file in counterfoil.data_dir.iterdir() if ".sqlite3" in file.name]
    found = {file.name: file.read_bytes() for file in files}

    assert b"shop.special.echoes" in b"".join(found.values()), "bodies are stored as they came"
    assert [name for name, content in found.items() if has_card(content)] == []
    assert not has_card(counterfoil.log.read_bytes())


def test_no_page_has_it(recorded: tuple[Shop, Ledger], counterfoil: Counterfoil) -> None:
    _, ledger = recorded
    link = counterfoil.manage("login_link", "--user", "auditor", "--create", "--role", "admin")
    with httpx.Client(base_url=counterfoil.url, follow_redirects=True) as browser:
        log_in(browser, link.split()[-1])
        refs = [item["ref"] for item in ledger.receipts("")]
        base = f"/p/{ledger.project}"
        paths = [f"{base}/receipts", f"{base}/tasks", f"{base}/jobs", f"{base}/keys"]
        paths += [f"{base}/receipts/{ref}{tail}" for ref in refs for tail in ("", "/explain")]
        pages = {path: browser.get(path) for path in paths}

    assert {page.status_code for page in pages.values()} == {200}
    assert [path for path, page in pages.items() if has_card(page.content)] == []


def has_card(content: bytes) -> bool:
    return any(form.encode() in content for form in FORMS)


def log_in(browser: httpx.Client, link: str) -> None:
    """Press the button of a one-time log-in link."""
    page = browser.get(link)
    token = page.text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    answer = browser.post(str(page.url), data={"csrfmiddlewaretoken": token})
    assert answer.status_code == 200
