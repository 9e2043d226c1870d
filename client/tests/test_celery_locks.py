from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import pytest

pytest.importorskip("celery_once")
pytest.importorskip("celery_singleton")

import celeryshop as shop
from celery_once import AlreadyQueued
from kombu.exceptions import OperationalError

import counterfoil
from counterfoil.contrib import rim as shared_rim
from counterfoil.contrib.celery import libraries, locks
from counterfoil.contrib.celery.wrapping import Hook

Configure = Callable[..., None]


@pytest.fixture
def configure(spool: Path, tmp_path: Path) -> Iterator[Configure]:
    shop.held.clear()
    shared_rim._said.clear()

    def set_up(policy: str = '{"tally": ["*"]}', **settings: Any) -> None:
        file = tmp_path / "policy.json"
        file.write_text(policy)
        given = {"digest_key": b"key", "source": "celery/shop", **settings}
        counterfoil.configure(spool=spool, policy=file, **given)

    yield set_up
    counterfoil.configure(spool=spool, off=True)


def key_of(receipt: dict[str, Any]) -> Any:
    return receipt["key"]["recipe"], receipt["key"]["fields"]


def test_a_call_that_celery_once_refuses_is_a_skip_with_the_key_of_the_one_it_lost_to(
    configure: Configure, spool: Path
) -> None:
    configure()

    shop.once.delay(1, note="first")
    with pytest.raises(AlreadyQueued):
        shop.once.delay("1", note="first")

    (enqueue,), (skip,) = shop.receipts(spool, kind="enqueue"), shop.receipts(spool, kind="skip")
    # The library compares the text of values, so 1 and "1" are equal to it.
    assert key_of(skip) == key_of(enqueue)
    assert set(enqueue["key"]["fields"]) == {"task", "order", "note"}
    assert (skip["reason"], skip["job"]) == ("in_flight", {"task": "once"})
    assert "original" not in skip
    assert skip["data"]["event"] == "celery_once.already_queued"


def test_a_graceful_refusal_is_told_too_by_the_arguments_that_the_lock_is_restricted_to(
    configure: Configure, spool: Path
) -> None:
    configure()

    shop.once_by_order.delay(1, note="first")
    assert shop.once_by_order.delay(order=1, note="second").id is None

    (enqueue,), (skip,) = shop.receipts(spool, kind="enqueue"), shop.receipts(spool, kind="skip")
    assert key_of(skip) == key_of(enqueue)
    assert set(skip["key"]["fields"]) == {"task", "order"}


def test_an_argument_called_task_does_not_hide_the_tasks_name(
    configure: Configure, spool: Path
) -> None:
    configure()

    shop.once.delay(2, task="other")

    (enqueue,) = shop.receipts(spool, kind="enqueue")
    assert enqueue["key"]["fields"]["task"] == "once"
    assert enqueue["key"]["fields"]["args.task"].startswith("hmac-sha256:")


def test_other_arguments_have_another_key(configure: Configure, spool: Path) -> None:
    configure()

    shop.once.delay(1)
    shop.once.delay(2)

    first, second = map(key_of, shop.receipts(spool, kind="enqueue"))
    assert first != second


def test_a_refusal_inside_an_eager_task_is_told_once(
    configure: Configure, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure()
    shop.once.delay(1)
    monkeypatch.setitem(shop.app.conf, "task_always_eager", True)
    monkeypatch.setitem(shop.app.conf, "task_eager_propagates", True)

    with pytest.raises(AlreadyQueued):
        shop.once_outer.delay(1)

    (skip,) = shop.receipts(spool, kind="skip")
    assert skip["job"] == {"task": "once"}
    assert set(skip["workflow"]) == {"parent"}


def test_a_publish_that_fails_is_no_skip_and_reaches_the_caller(
    configure: Configure, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure()

    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError("the broker is away")

    monkeypatch.setattr(shop.app.amqp, "send_task_message", refuse)
    with pytest.raises(OperationalError):
        shop.once.delay(3)

    assert not shop.receipts(spool, kind="enqueue") + shop.receipts(spool, kind="skip")


def test_a_duplicate_of_celery_singleton_names_the_job_that_holds_the_lock(
    configure: Configure, spool: Path
) -> None:
    configure()

    holder = shop.single.delay(1)
    assert shop.single.delay(1).id == holder.id
    shop.single.delay("1")

    first, other = shop.receipts(spool, kind="enqueue")
    (skip,) = shop.receipts(spool, kind="skip")
    assert skip["original"] == {"job": holder.id}
    assert key_of(skip) == key_of(first) != key_of(other)
    assert set(skip["key"]["fields"]) == {"task", "args.0"}


def test_a_class_that_answers_duplicates_in_its_own_way_is_seen_all_the_same(
    configure: Configure, spool: Path
) -> None:
    configure()

    holder = shop.single_silent.delay(1, note="a")
    assert shop.single_silent.delay(1, note="b") is None

    (skip,) = shop.receipts(spool, kind="skip")
    assert skip["original"] == {"job": holder.id}
    assert set(skip["key"]["fields"]) == {"task", "order"}


def test_without_a_digest_key_there_is_no_key_rather_than_one_of_sizes(
    configure: Configure, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    configure(digest_key=b"")

    with caplog.at_level(logging.WARNING, "counterfoil"):
        shop.once.delay(4)
        shop.single.delay(4)

    assert [r for r in shop.receipts(spool, kind="enqueue") if "key" in r] == []
    said = [r.getMessage() for r in caplog.records if "COUNTERFOIL_DIGEST_KEY" in r.getMessage()]
    assert len(said) == 1


def test_trouble_with_a_key_stops_no_publish(
    configure: Configure, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure()

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(locks, "_key_of", broken)
    result = shop.once.delay(5)

    (enqueue,) = shop.receipts(spool, kind="enqueue")
    assert enqueue["job"]["id"] == result.id and "key" not in enqueue


def test_a_version_that_is_not_known_is_left_alone_and_reported_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(libraries, "version_of", lambda package: "9.9")
    monkeypatch.setattr(locks, "left_alone", left := [])
    shared_rim._said.clear()

    def refuse(module: Any) -> None:
        raise AssertionError("it must not be touched")

    with caplog.at_level(logging.WARNING, "counterfoil"):
        libraries.wrap_library("celery-once", refuse, ModuleType("celery_once.tasks"))

    assert left == [{"package": "celery-once", "version": "9.9"}]
    (record,) = caplog.records
    assert "celery-once 9.9" in record.getMessage() and "left alone" in record.getMessage()


def test_wrapping_again_wraps_nothing_twice() -> None:
    from celery_once.tasks import QueueOnce
    from celery_singleton.singleton import Singleton

    before = QueueOnce.apply_async, Singleton.apply_async, Singleton.on_duplicate
    for module, wrap in libraries.wraps().items():
        if module in sys.modules:
            wrap(sys.modules[module])

    assert (QueueOnce.apply_async, Singleton.apply_async, Singleton.on_duplicate) == before


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the name of a module that can be imported and was not yet."""
    (tmp_path / "locklibrary.py").write_text("made = [__name__]\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, Hook)])
    yield "locklibrary"
    sys.modules.pop("locklibrary", None)


def test_a_library_is_wrapped_when_it_is_imported_and_not_before(library: str) -> None:
    seen: list[ModuleType] = []
    Hook({library: seen.append}).install()

    assert library not in sys.modules and seen == []
    module = importlib.import_module(library)

    assert seen == [module] and module.made == [library]
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"


def test_a_library_that_was_imported_before_is_wrapped_at_once(library: str) -> None:
    module = importlib.import_module(library)
    seen: list[ModuleType] = []

    Hook({library: seen.append}).install()

    assert seen == [module]


def test_a_library_whose_wrapping_fails_stays_usable(library: str) -> None:
    def broken(module: ModuleType) -> None:
        raise RuntimeError

    Hook({library: broken}).install()

    assert importlib.import_module(library).made == [library]
