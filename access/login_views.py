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
        form = forms.LoginForm(initial={"next": request.GET.get("next", "")})
        return _login_page(request, form)
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
    _start(request, user, by="password")
    return HttpResponseRedirect(safe_path(form.cleaned_data["next"]))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def log_in_by_link(request: HttpRequest, secret: str) -> HttpResponse:
    """Show a button for a one-time link; the POST spends it, since mail scanners follow GETs."""
    if request.method != "POST":
        return _link_page(request, is_valid=queries.is_link_valid(secret))
    try:
        user = store.spend_login_link(secret)
    except errors.LinkSpent:
        return _link_page(request, is_valid=False)
    _start(request, user, by="link")
    return redirect("access:home")


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
    response = HttpResponseRedirect(safe_path(form.cleaned_data["next"]))
    response.set_cookie(
        THEME_COOKIE,
        form.cleaned_data["theme"],
        max_age=_YEAR_SECONDS,
        samesite="Lax",
        secure=request.is_secure(),
    )
    return response


def _start(request: HttpRequest, user: rows.UserRow, *, by: str) -> None:
    sessions.start_session(request, user.id)
    store.record_login(user, by=by)


def _login_page(request: HttpRequest, form: forms.LoginForm, *, status: int = 200) -> HttpResponse:
    context = {
        "page_title": "Log in",
        "form": form if queries.has_passwords() else None,
        "link_valid": None,
        "secret_action": None,
    }
    return render(request, "access/login.html", context, status=status)


def _link_page(request: HttpRequest, *, is_valid: bool) -> HttpResponse:
    """Show the button, or that the link is of no use; the address is told to nobody else."""
    context = {
        "page_title": "Log in",
        "form": None,
        "link_valid": is_valid,
        "secret_action": request.path,
    }
    status = 200 if is_valid else 410
    response = render(request, "access/login.html", context, status=status)
    response["Referrer-Policy"] = "no-referrer"
    return response
