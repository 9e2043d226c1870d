"""What stands around every page: navigation, project, person, theme and the addresses of twins."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from access.callers import Caller
from access.rows import ProjectRow
from ledger.registry import NavigationEntry, registry

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
            **_navigation(request, project),
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


def _navigation(request: HttpRequest, project: ProjectRow | None) -> dict[str, Any]:
    """Give the first row, and the section that the page stands in where that has more pages."""
    if project is None:
        return {"nav": [], "section": None}
    start = f"/p/{project.slug}/"
    here = [one for one in registry.navigation if _is_of(request.path, start, one)]
    sections = {one.under or one.label for one in here}
    rows: dict[str, list[dict[str, Any]]] = {}
    for entry in registry.navigation:
        link = {"label": entry.label, "url": start + entry.path, "current": entry in here}
        rows.setdefault(entry.under or entry.label, []).append(link)
    return {
        "nav": [{**row[0], "current": name in sections} for name, row in rows.items()],
        "section": next(({"label": n, "links": r} for n, r in rows.items()
                         if n in sections and len(r) > 1), None),
    }  # fmt: skip


def _is_of(path: str, start: str, entry: NavigationEntry) -> bool:
    return any(_is_within(path, start + one) for one in (entry.path, *entry.also))


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
