"""What stands around every page: navigation, project, person, theme and the addresses of twins."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from access.callers import Caller
from access.rows import ProjectRow
from ledger.registry import registry

THEMES = frozenset({"auto", "light", "dark"})
DENSITIES = frozenset({"normal", "compact"})


def shell(request: HttpRequest) -> dict[str, Any]:
    """Give `shell` to every template."""
    caller: Caller | None = getattr(request, "caller", None)
    project: ProjectRow | None = getattr(request, "project", None)
    return {
        "shell": {
            "project": project,
            "user": _user(request, caller),
            "rights": caller.rights if caller else frozenset(),
            "nav": _navigation(request, project),
            "theme": _choice(request, "theme", THEMES, "auto"),
            "density": _choice(request, "density", DENSITIES, "normal"),
            "search_q": request.GET.get("q", ""),
            "live_url": _live_url(request, project),
            **_twins(request, project),
            **getattr(request, "shell", {}),
        }
    }


def _live_url(request: HttpRequest, project: ProjectRow | None) -> str:
    """Give the stream of a page with a part that follows the log, and of no other.

    A stream holds one of the six connections that a browser's tabs share over HTTP/1.1.
    """
    is_live = project is not None and getattr(request, "is_live", False)
    return f"/p/{project.slug}/live" if project and is_live else ""


def _user(request: HttpRequest, caller: Caller | None) -> dict[str, str] | None:
    if not request.user.is_authenticated:
        return None
    name = getattr(request.user, "display_name", "") or request.user.get_username()
    return {"name": name, "role": getattr(caller, "role", "") or ""}


def _navigation(request: HttpRequest, project: ProjectRow | None) -> list[dict[str, Any]]:
    if project is None:
        return []
    start = f"/p/{project.slug}/"
    return [
        {
            "label": entry.label,
            "url": start + entry.path,
            "current": _is_within(request.path, start + entry.path),
        }
        for entry in registry.navigation
    ]


def _is_within(path: str, address: str) -> bool:
    """Say whether a page is that of an address or below it; the overview has none below it."""
    return path == address or (not address.endswith("/") and path.startswith(f"{address}/"))


def _choice(request: HttpRequest, name: str, allowed: frozenset[str], default: str) -> str:
    value = request.COOKIES.get(name, default)
    return value if value in allowed else default


def _twins(request: HttpRequest, project: ProjectRow | None) -> dict[str, str]:
    """Give the addresses of this view as JSON, as CSV and in the API, where it has them."""
    if project is None or not getattr(request, "has_twin", False):
        return {}
    query = "?" + urlencode(request.GET, doseq=True) if request.GET else ""
    tail = request.path.removeprefix(f"/p/{project.slug}")
    api = f"{request.build_absolute_uri('/api/v1')}{tail}{query}"
    twins = {
        "json_url": f"{request.path}.json{query}",
        "api_curl": f"curl -H \"Authorization: Bearer $COUNTERFOIL_TOKEN\" '{api}'",
    }
    if tail == "/receipts":
        twins["csv_url"] = f"{request.path}.csv{query}"
    return twins
