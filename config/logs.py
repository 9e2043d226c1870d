"""Logs: one line an event, without secrets: its time, level and logger, and what went wrong.

Within a request a line has its `request_id`; our own events also say an `action`.

JSON when standard error goes into a file or a pipe, readable lines in a terminal. Django's own
default sends errors by mail only, so a server without mail would show a 500 and say nothing.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.types import Processor

from kit import redact

_SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "config.logs.formatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        # A request that is refused is no event of the server's; one that fails is.
        "django.request": {"handlers": [], "level": "ERROR", "propagate": True},
    },
}


def configure() -> None:
    """Have structlog's events go through the same handler as everybody else's."""
    structlog.configure(
        processors=[*_SHARED, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )


def formatter() -> logging.Formatter:
    """Make the formatter of every handler; secrets go last, so that tracebacks are covered."""
    return ProcessorFormatter(
        foreign_pre_chain=_SHARED,
        processors=[
            ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            redact.processor,
            _renderer(is_terminal=sys.stderr.isatty()),
        ],
    )


def _renderer(*, is_terminal: bool) -> Processor:
    if is_terminal:
        plain = structlog.dev.plain_traceback
        return structlog.dev.ConsoleRenderer(exception_formatter=plain)
    return structlog.processors.JSONRenderer()
