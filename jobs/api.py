"""The jobs answers over HTTP; the same as the pages' JSON twins."""

from __future__ import annotations

from ninja import Router

router = Router(tags=["jobs"])
