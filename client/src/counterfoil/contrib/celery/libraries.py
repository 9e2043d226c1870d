"""Which versions of the lock libraries are known here; any other is left alone, and said so."""

from __future__ import annotations

from importlib import metadata
from types import ModuleType
from typing import Any, Callable

from counterfoil.contrib.celery import locks, once, receiving, rim, singleton

KNOWN = {"celery-once": ("3.0.",), "celery-singleton": ("0.3.",)}
"""The beginnings of versions whose sources were read."""


def wraps() -> dict[str, Callable[[ModuleType], None]]:
    """Give for each module that is waited for what is to be done with it."""
    return {
        "celery_once.tasks": lambda module: wrap_library("celery-once", once.wrap, module),
        "celery_singleton.singleton": lambda module: wrap_library(
            "celery-singleton", singleton.wrap, module
        ),
        "celery.worker.consumer.consumer": wrap_consumer,
    }


def wrap_library(package: str, wrap: Callable[[Any], None], module: Any) -> None:
    """Wrap a library of a version that is known; report another."""
    version = version_of(package)
    if version.startswith(KNOWN[package]):
        wrap(module)
        return
    locks.left_alone.append({"package": package, "version": version})
    rim.say_once(
        f"left alone {package}",
        "%s %s is not a version known here (%s*), so it is left alone: its skips are not recorded.",
        *(package, version, "*, ".join(KNOWN[package])),
    )


def version_of(package: str) -> str:
    """Give the installed version of a package; "unknown" when it has no metadata."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "unknown"


def wrap_consumer(module: Any) -> None:
    """Wrap what a worker does with a message that it cannot decode: no signal tells of that."""
    kind = module.Consumer
    original = kind.on_decode_error
    if getattr(original, "counterfoil", False):
        return

    def on_decode_error(self: Any, message: Any, exc: Any, *args: Any, **kwargs: Any) -> Any:
        with rim.contained("a message that cannot be decoded"):
            receiving.on_undecodable(message, exc)
        return original(self, message, exc, *args, **kwargs)

    on_decode_error.counterfoil = True  # type: ignore[attr-defined]
    kind.on_decode_error = on_decode_error
