from __future__ import annotations

from pathlib import Path

import pytest

from tools.bootstrap import locks

HASH = "    --hash=sha256:" + "0" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.in").write_text("Django>=5.2   # the framework\n")
    (tmp_path / "base.txt").write_text(f"django==5.2.19 \\\n{HASH}\n")
    return tmp_path


def test_a_lock_that_pins_what_is_asked_for_has_no_faults(folder: Path) -> None:
    assert list(locks.iter_faults(folder)) == []


def test_extras_case_and_underscores_name_the_same_package(folder: Path) -> None:
    (folder / "base.in").write_text("Typing_Extensions[more]\n")
    (folder / "base.txt").write_text(f"typing-extensions==4 ; python_version < '4' \\\n{HASH}\n")

    assert list(locks.iter_faults(folder)) == []


@pytest.mark.parametrize(
    ("lock", "fault"),
    [
        pytest.param(f"--index-url x\ndjango==5.2.19 \\\n{HASH}\n", "an address", id="an index"),
        pytest.param(f"# from https://x\ndjango==5 \\\n{HASH}\n", "an address", id="an address"),
        pytest.param("django==5.2.19\n", "without a hash", id="no hash"),
        pytest.param(f"django>=5 \\\n{HASH}\n", "does not pin", id="a range"),
        pytest.param("", "asks for django", id="a missing package"),
    ],
)
def test_a_fault_is_named_with_its_lock(folder: Path, lock: str, fault: str) -> None:
    (folder / "base.txt").write_text(lock)

    faults = list(locks.iter_faults(folder))

    assert any(fault in line and "base.txt" in line for line in faults), faults


def test_a_lock_that_is_not_there_is_named(folder: Path) -> None:
    (folder / "dev.in").write_text("-r base.in\n")

    assert list(locks.iter_faults(folder)) == ["dev.txt is missing; compile dev.in."]


def test_every_lock_must_hold_the_base_lock_at_the_same_versions(folder: Path) -> None:
    (folder / "dev.in").write_text("-r base.in\n")
    (folder / "dev.txt").write_text(f"django==5.2.18 \\\n{HASH}\n")

    assert list(locks.iter_faults(folder)) == ["dev.txt has django at 5.2.18, base.txt at 5.2.19."]


@pytest.mark.parametrize(
    ("script", "faults"),
    [
        pytest.param("exit 0", [], id="nothing to change"),
        pytest.param("echo other > $last", ["base.txt"], id="another lock"),
        pytest.param("echo other > $last; exit 1", [], id="no index to ask"),
    ],
)
def test_a_lock_that_uv_would_write_otherwise_is_stale(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, faults: list[str]
) -> None:
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(f'#!/bin/sh\nfor last in "$@"; do :; done\n{script}\n')
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(uv.parent))
    before = (folder / "base.txt").read_text()

    stale = [line.split()[0] for line in locks.iter_stale(folder)]

    assert stale == faults
    assert (folder / "base.txt").read_text() == before


def test_without_uv_no_lock_is_called_stale(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert list(locks.iter_stale(folder)) == []
