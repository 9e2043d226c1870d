"""Logging in and out, and the choices that belong to a browser and not to a project."""

from __future__ import annotations

from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from access import errors, forms, queries, rows, sessions, store
from access.domain.addresses import safe_path
from kit.db import write_transaction

THEME_COOKIE = "theme"
_YEAR_SECONDS = 365 * 24 * 3600
_REFUSED = "This user name and password do not belong together."
_THROTTLED = "Too many attempts; wait 15 minutes, or ask for a log-in link."


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    """Show the password form, and log a person in by it."""
    if request.method != "POST":
        return _login_page(request, forms.LoginForm())
    form = forms.LoginForm(request.POST)
    if not form.is_valid():
        return _login_page(request, form, status=422)
    address = request.META.get("REMOTE_ADDR", "")
    username = form.cleaned_data["username"]
    if not store.admit_attempt(username, address):
        form.add_error(None, _THROTTLED)
        return _login_page(request, form, status=429)
    user = sessions.find_by_password(request, username, form.cleaned_data["password"])
    if user is None:
        form.add_error(None, _REFUSED)
        return _login_page(request, form, status=422)
    store.forget_attempts(username, address)
    return _start(request, user, by="password")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def log_in_by_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a button for a one-time link; the POST spends it, since mail scanners follow GETs."""
    if request.method != "POST":
        link = queries.find_login_link(secret)
        return _link_page(request, link) if link else _spent_page(request)
    try:
        user = store.spend_login_link(secret)
    except errors.LinkSpent:
        return _spent_page(request)
    return _start(request, user, by="link")


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """End the session here and in the database."""
    with write_transaction():
        logout(request)
    return redirect("access:login")


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Keep the colours that a browser chose in a cookie, and go back to the page."""
    form = forms.PreferencesForm(request.POST)
    if not form.is_valid():
        return HttpResponse("A theme is one of auto, light and dark.", status=422)
    response = HttpResponseRedirect(safe_path(request.POST.get("next", "")))
    response.set_cookie(
        THEME_COOKIE,
        form.cleaned_data["theme"],
        max_age=_YEAR_SECONDS,
        samesite="Lax",
        secure=request.is_secure(),
    )
    return response


def _start(request: HttpRequest, user: rows.UserRow, *, by: str) -> HttpResponse:
    sessions.start_session(request, user.id)
    store.record_login(user, by=by)
    return HttpResponseRedirect(safe_path(request.POST.get("next", "")))


def _next(request: HttpRequest) -> str:
    """Return where to go after logging in; empty for the front page."""
    given = request.POST if request.method == "POST" else request.GET
    return safe_path(given.get("next", ""), fallback="")


def _login_page(request: HttpRequest, form: forms.LoginForm, *, status: int = 200) -> HttpResponse:
    context = {"page_title": "Log in", "form": form, "next": _next(request)}
    response = render(request, "access/login.html", context, status=status)
    if status == 429:
        response.headers["Retry-After"] = str(int(store.WINDOW.total_seconds()))
    return response


def _link_page(request: HttpRequest, link: rows.LoginLinkRow) -> HttpResponse:
    """Show the button; the address of the page is told to no other site.

    By the policy "same-origin" that all pages have: under "no-referrer" a browser sends the form
    with `Origin: null`, and it is refused.
    """
    shown = {"user": link.user, "expires_at": link.expires_at, "action": request.path}
    context = {"page_title": "Log in", "link": shown, "next": _next(request)}
    return render(request, "access/login.html", context)


def _spent_page(request: HttpRequest) -> HttpResponse:
    context = {
        "page_title": "Log in",
        "form": forms.LoginForm(),
        "link_error": str(errors.LinkSpent()),
    }
    return render(request, "access/login.html", context, status=410)
