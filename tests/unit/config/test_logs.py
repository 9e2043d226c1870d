from __future__ import annotations

import io
import json
import logging

import pytest

from config import logs

TOKEN = "cf_abcdefgh_62dspirbpdrl5i3dndzh4x76peszguozezqje2hnkxqbbyshetaq"
LINK = "/login/link/7upavjmksou5k3idyrwmk23e4ga6svxmmjjl5sbza3rhp7mgmsqq"


@pytest.fixture
def written() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def log(written: io.StringIO) -> logging.Logger:
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.formatter())
    logger = logging.getLogger("tests.logs")
    logger.propagate = False
    logger.handlers = [handler]
    return logger


def test_a_failure_is_one_line_with_its_traceback(
    log: logging.Logger, written: io.StringIO
) -> None:
    try:
        raise ValueError("something of ours")
    except ValueError:
        log.exception("Internal Server Error: /p/x")

    (line,) = written.getvalue().splitlines()
    event = json.loads(line)
    assert event["event"] == "Internal Server Error: /p/x"
    assert "something of ours" in event["exception"]
    assert event["level"] == "error"


def test_no_secret_is_in_a_line_nor_in_its_traceback(
    log: logging.Logger, written: io.StringIO
) -> None:
    try:
        raise ValueError(f"refused {TOKEN}")
    except ValueError:
        log.exception("failed at %s", LINK)

    assert TOKEN.rpartition("_")[2] not in written.getvalue()
    assert LINK.rpartition("/")[2] not in written.getvalue()


def test_what_fails_is_told_and_what_is_refused_is_not() -> None:
    assert logging.getLogger("django.request").getEffectiveLevel() == logging.ERROR
    assert logging.getLogger("django").getEffectiveLevel() == logging.WARNING
    assert logs.LOGGING["root"]["handlers"] == ["stderr"]
