"""Wrong settings: what is said of them, and to whom."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import counterfoil
from counterfoil import cli, settings
from counterfoil.contrib import rim, writing

SECRET = "s3cret"


@pytest.fixture
def no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next integration make the client of this process from the variables."""
    monkeypatch.setattr(counterfoil, "_default", None)
    monkeypatch.setattr(rim, "_said", set())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COUNTERFOIL_SOURCE", "no slash here"),
        ("COUNTERFOIL_SPOOL_MAX", "much"),
        ("COUNTERFOIL_SPOOL_MAX", "1KiB"),
        ("COUNTERFOIL_WHEN_FULL", "wait"),
        ("COUNTERFOIL_URL", f"ftp://user:{SECRET}@ledger.example"),
        ("COUNTERFOIL_URL", f"http://user:{SECRET}@[ledger"),
        ("COUNTERFOIL_URL", f"http://user:{SECRET}@ledger.example:port"),
    ],
)
def test_what_is_wrong_is_said_by_the_variables_name_and_without_a_secret(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    assert cli.main(["receipt", "done"]) == 3

    said = capsys.readouterr().err
    assert name in said and SECRET not in said and "Traceback" not in said


def test_a_token_that_is_no_text_is_not_shown(tmp_path: Path) -> None:
    (tmp_path / "token").write_bytes(b"\xe9")

    with pytest.raises(counterfoil.SettingsError, match="not UTF-8") as told:
        settings.Settings(token_file=tmp_path / "token").read_token()

    assert "e9" not in str(told.value)


@pytest.mark.usefixtures("no_client")
def test_an_integration_says_once_which_setting_keeps_it_from_recording(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERFOIL_SOURCE", "no slash here")

    for name in ("one hook", "another hook", "one hook"):
        with rim.contained(name):
            writing.writer_of("rq").choice("mail.send")

    [said] = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert "COUNTERFOIL_SOURCE" in said and "'no slash here'" in said
    assert "nothing is recorded" in said


@pytest.mark.usefixtures("no_client")
def test_so_does_the_one_for_celery(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("celery")
    from counterfoil.contrib.celery import rim as rim_of_celery
    from counterfoil.contrib.celery import writing as writing_of_celery

    monkeypatch.setattr(rim, "_said", set())
    monkeypatch.setenv("COUNTERFOIL_SOURCE", "no slash here")
    hooks = [rim_of_celery.handler(n, writing_of_celery.writer) for n in ("prerun", "postrun")]

    for hook in hooks * 2:
        hook()

    [said] = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert "COUNTERFOIL_SOURCE" in said and "'no slash here'" in said
