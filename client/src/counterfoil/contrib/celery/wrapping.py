"""Waits for modules to be imported, and then wraps what they define.

A library that nobody imports is never imported here either.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Callable, cast

from counterfoil.contrib.celery import rim

Wrap = Callable[[ModuleType], None]


class Hook(importlib.abc.MetaPathFinder):
    """Calls a function once for each of some modules, when it has been imported."""

    def __init__(self, wraps: dict[str, Wrap]) -> None:
        self._waiting = dict(wraps)

    def install(self) -> None:
        """Wrap what is imported already, and wait for the rest."""
        for name in list(self._waiting):
            found = sys.modules.get(name)
            if found is not None and not _is_loading(found):
                self.wrap(found)
        if not any(isinstance(finder, Hook) for finder in sys.meta_path):
            sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find a module that is waited for by way of the other finders; none of the rest."""
        if name not in self._waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: Any = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader, self)
                return cast("importlib.machinery.ModuleSpec", spec)
        return None

    def wrap(self, module: ModuleType) -> None:
        """Wrap what the module defines; whatever goes wrong, the module stays usable."""
        wrap = self._waiting.pop(module.__name__, None)
        if wrap is not None:
            with rim.contained(f"what {module.__name__} does"):
                wrap(module)


class _Loader(importlib.abc.Loader):
    """Loads as the real loader does, gives its place back to it, and tells the hook."""

    def __init__(self, loader: Any, hook: Hook) -> None:
        self._loader, self._hook = loader, hook

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._hook.wrap(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def _is_loading(module: ModuleType) -> bool:
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))
