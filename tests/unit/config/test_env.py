from __future__ import annotations

from pathlib import Path

import pytest

from config import env
from config.databases import database
from config.env import BadSetting
from config.secrets import secret_key


def test_a_setting_that_is_not_given_has_its_default() -> None:
    assert env.text("DATA_DIR", {}) == "var"


def test_a_file_named_beside_a_setting_holds_its_value(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("from the file\n")

    assert env.text("SECRET_KEY", {"SECRET_KEY_FILE": str(path)}) == "from the file"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"SECRET_KEY_FILE: .*nothing cannot be read"):
        env.text("SECRET_KEY", {"SECRET_KEY_FILE": str(tmp_path / "nothing")})


@pytest.mark.parametrize("value", ["-1", "1.5", "many", "٣"])
def test_a_number_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(BadSetting, match="INGEST_QUOTA_PER_MINUTE must be a whole number"):
        env.number("INGEST_QUOTA_PER_MINUTE", {"INGEST_QUOTA_PER_MINUTE": value})


def test_a_flag_that_is_neither_yes_nor_no_is_refused() -> None:
    with pytest.raises(BadSetting, match="DEBUG must be true or false"):
        env.flag("DEBUG", {"DEBUG": "perhaps"})


GOOD = "https://traces.example/trace/{trace_id}?from=counterfoil"


def test_an_address_with_a_place_is_taken_and_none_is_none() -> None:
    assert env.address_with("TRACE_URL", "trace_id", {"TRACE_URL": GOOD}) == GOOD
    assert env.address_with("TRACE_URL", "trace_id", {}) == ""


@pytest.mark.parametrize(
    "value",
    [
        "https://traces.example/",
        "https://traces.example/{id}",
        "https://traces.example/{trace_id}/{trace_id}",
        "https://traces.example/{trace_id}/{span_id}",
        "javascript:alert('{trace_id}')",
        "traces.example/{trace_id}",
        "https://traces.example/ {trace_id}",
    ],
)
def test_an_address_without_its_place_or_of_another_kind_is_refused(value: str) -> None:
    with pytest.raises(BadSetting, match=r"TRACE_URL must be a web address in which \{trace_id\}"):
        env.address_with("TRACE_URL", "trace_id", {"TRACE_URL": value})


def test_without_an_address_the_database_is_a_file_of_the_data_directory(tmp_path: Path) -> None:
    described = database("", tmp_path)

    assert described["NAME"] == str(tmp_path / "counterfoil.sqlite3")


def test_a_database_address_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="must begin with postgresql://"):
        database("mysql://db/x", tmp_path)


def test_an_address_is_unquoted(tmp_path: Path) -> None:
    described = database("postgresql://us%40er:p%2Fw@db:5433/na%20me?sslmode=require", tmp_path)

    assert (described["USER"], described["PASSWORD"]) == ("us@er", "p/w")
    assert (described["NAME"], described["PORT"]) == ("na me", "5433")
    assert described["OPTIONS"]["sslmode"] == "require"


def test_the_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    first = secret_key("", tmp_path)

    assert len(first) >= 32
    assert secret_key("", tmp_path) == first
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_a_data_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(BadSetting, match=r"DATA_DIR: .* cannot be written"):
        secret_key("", tmp_path / "file" / "data")
