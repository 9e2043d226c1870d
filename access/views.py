"""The pages of projects, members and tokens, each with its JSON twin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from django import forms as django_forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import get_script_prefix
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access import errors, forms, guard, queries, refusals, store
from access.domain import rights
from access.guard import get_caller
from access.rows import ProjectRow, TokenListing
from kit import clock, http

_PAGE = ["GET", "HEAD", "POST"]


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the last project's overview, to the only one's, or to the list."""
    caller = guard.find_caller(request)
    if caller is None or caller.kind != "user":
        return redirect("access:login")
    mine = queries.projects_of(caller.id)
    last = request.COOKIES.get(guard.LAST_PROJECT_COOKIE)
    chosen = mine if len(mine) == 1 else [project for project in mine if project.slug == last]
    if not chosen:
        return redirect("access:projects")
    return redirect(f"{get_script_prefix()}p/{chosen[0].slug}/")


@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects that a person is a member of."""
    caller = guard.find_caller(request)
    if caller is None or caller.kind != "user":
        return refusals.redirect_to_login(request)
    context = {"page_title": "Projects", "projects": queries.projects_of(caller.id)}
    return render(request, "access/projects.html", context)


@require_GET
def projects_json(request: HttpRequest) -> HttpResponse:
    """Give the list of projects as JSON."""
    caller = guard.find_caller(request)
    if caller is None or caller.kind != "user":
        return refusals.answer(request, refusals.Unauthenticated())
    return http.json_response({"items": queries.projects_of(caller.id)})


@never_cache
@require_GET
@guard.require(rights.MANAGE)
def tokens_json(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """Give a project's tokens as JSON; of their texts only the prefixes."""
    return http.json_response({"items": queries.api_tokens(project.id, clock.now())})


@never_cache
@require_GET
@guard.require(rights.MANAGE)
def members_json(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """Give a project's members as JSON."""
    items = [asdict(row) | {"rights": sorted(row.rights)} for row in queries.members(project.id)]
    return http.json_response({"items": items})


@never_cache
@require_http_methods(_PAGE)
@guard.require(rights.MANAGE)
def tokens(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """List a project's tokens and make one, whose text this one answer shows."""
    if request.method != "POST":
        return _tokens_page(request, project, forms.TokenForm())
    form = forms.TokenForm(request.POST)
    if not form.is_valid():
        return _tokens_page(request, project, form, status=422)
    life = form.cleaned_data["expires"]
    listing, text = store.create_token(
        project.id,
        name=form.cleaned_data["name"],
        scope=form.cleaned_data["scope"],
        source=form.cleaned_data["source"],
        expires_at=clock.now() + life if life else None,
        actor=get_caller(request).actor,
    )
    # Answered at once and not after a redirect, which would have to keep the text somewhere.
    return _tokens_page(request, project, forms.TokenForm(), new=(listing, text), status=201)


@require_POST
@guard.require(rights.MANAGE)
def revoke_token(request: HttpRequest, project: ProjectRow, token_id: int) -> HttpResponse:
    """End a token for good."""
    form = forms.RevokeForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    try:
        store.revoke_token(project.id, token_id, actor=get_caller(request).actor, reason=reason)
    except errors.NotFound as error:
        raise Http404(str(error)) from error
    return redirect("access:tokens", slug=project.slug)


@never_cache
@require_http_methods(_PAGE)
@guard.require(rights.MANAGE)
def members(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """List a project's members and add one."""
    if request.method != "POST":
        return _members_page(request, project, forms.MemberForm())
    form = forms.MemberForm(request.POST)
    if form.is_valid() and _add_member(request, project, form):
        return redirect("access:members", slug=project.slug)
    return _members_page(request, project, form, status=422)


@require_POST
@guard.require(rights.MANAGE)
def change_role(request: HttpRequest, project: ProjectRow, user_id: int) -> HttpResponse:
    """Give a member another role."""
    form = forms.RoleForm(request.POST)
    if not form.is_valid():
        return _members_page(request, project, forms.MemberForm(), status=422)
    actor, role = get_caller(request).actor, form.cleaned_data["role"]
    return _change_members(
        request, project, lambda: store.change_role(project.id, user_id, role=role, actor=actor)
    )


@require_POST
@guard.require(rights.MANAGE)
def remove_member(request: HttpRequest, project: ProjectRow, user_id: int) -> HttpResponse:
    """End a membership."""
    actor = get_caller(request).actor
    return _change_members(
        request, project, lambda: store.remove_member(project.id, user_id, actor=actor)
    )


def _add_member(request: HttpRequest, project: ProjectRow, form: django_forms.Form) -> bool:
    user = queries.find_user(form.cleaned_data["username"])
    if user is None:
        form.add_error("username", "There is no user of this name.")
        return False
    actor, role = get_caller(request).actor, form.cleaned_data["role"]
    try:
        store.add_member(project.id, user.id, role=role, actor=actor)
    except errors.AlreadyMember as error:
        form.add_error("username", str(error))
        return False
    return True


def _change_members(
    request: HttpRequest, project: ProjectRow, change: Callable[[], object]
) -> HttpResponse:
    try:
        change()
    except errors.NotFound as error:
        raise Http404(str(error)) from error
    except errors.LastAdmin as error:
        messages.error(request, str(error))
        return _members_page(request, project, forms.MemberForm(), status=409)
    if not queries.rights_of(get_caller(request).id, project.id) and _is_person(request):
        return redirect("access:projects")
    return redirect("access:members", slug=project.slug)


def _is_person(request: HttpRequest) -> bool:
    return get_caller(request).kind == "user"


def _tokens_page(
    request: HttpRequest,
    project: ProjectRow,
    form: django_forms.Form,
    *,
    new: tuple[TokenListing, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "page_title": "Tokens",
        "project": project,
        "tokens": queries.api_tokens(project.id, clock.now()),
        "new_token": {"row": new[0], "text": new[1]} if new else None,
        "form": form,
        "scopes": {scope: sorted(held) for scope, held in rights.SCOPES.items()},
    }
    return render(request, "access/tokens.html", context, status=status)


def _members_page(
    request: HttpRequest, project: ProjectRow, form: django_forms.Form, *, status: int = 200
) -> HttpResponse:
    context = {
        "page_title": "Members",
        "project": project,
        "members": queries.members(project.id),
        "roles": {role: sorted(held) for role, held in rights.ROLES.items()},
        "form": form,
    }
    return render(request, "access/members.html", context, status=status)
