"""The pages of projects, members and tokens, each with its JSON twin."""

from __future__ import annotations

from dataclasses import asdict

from django import forms as django_forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from access import errors, forms, guard, lines, queries, refusals, store
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
    return redirect(lines.project_url(chosen[0].slug))


@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    """List the projects that a person is a member of."""
    caller = guard.find_caller(request)
    if caller is None or caller.kind != "user":
        return refusals.redirect_to_login(request)
    mine = [lines.project_line(*held) for held in queries.roles_of(caller.id)]
    return render(request, "access/projects.html", {"page_title": "Projects", "projects": mine})


@require_GET
def projects_json(request: HttpRequest) -> HttpResponse:
    """Give the list of projects as JSON."""
    caller = guard.find_caller(request)
    if caller is None or caller.kind != "user":
        return refusals.answer(request, refusals.Unauthenticated())
    mine = queries.roles_of(caller.id)
    items = [{"slug": row.slug, "name": row.name, "role": role} for row, role in mine]
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
    _, text = store.create_token(
        project.id,
        name=form.cleaned_data["name"],
        scope=form.cleaned_data["scope"],
        source=form.cleaned_data["source"],
        expires_at=clock.now() + life if life else None,
        actor=get_caller(request).actor,
    )
    # Answered at once and not after a redirect, which would have to keep the text somewhere.
    return _tokens_page(request, project, forms.TokenForm(), new_text=text, status=201)


@never_cache
@require_GET
@guard.require(rights.MANAGE)
def tokens_json(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """Give a project's tokens as JSON; of their texts only the prefixes."""
    return http.json_response({"items": _tokens_of(project)})


@require_POST
@guard.require(rights.MANAGE)
def revoke_token(request: HttpRequest, project: ProjectRow, token_id: int) -> HttpResponse:
    """End a token for good."""
    form = forms.RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Not revoked: {form.errors['reason'][0]}")
        return _tokens_page(request, project, forms.TokenForm(), status=422)
    reason, actor = form.cleaned_data["reason"], get_caller(request).actor
    try:
        store.revoke_token(project.id, token_id, actor=actor, reason=reason)
    except errors.NotFound as error:
        raise Http404(str(error)) from error
    return redirect("access:tokens", slug=project.slug)


@never_cache
@require_http_methods(_PAGE)
@guard.require(rights.READ)
def members(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """List a project's members; with the right, add one or give one another role."""
    if request.method != "POST":
        return _members_page(request, project)
    guard.check_right(request, rights.MANAGE)
    form = forms.MemberForm(request.POST)
    if not form.is_valid():
        return _refuse(request, project, "Give a user name and a role.", status=422)
    user = queries.find_user(form.cleaned_data["user"])
    if user is None:
        return _refuse(request, project, "There is no user of this name.", status=422)
    actor, role = get_caller(request).actor, form.cleaned_data["role"]
    try:
        store.set_role(project.id, user.id, role=role, actor=actor)
    except errors.LastAdmin as error:
        return _refuse(request, project, str(error), status=409)
    return redirect("access:members", slug=project.slug)


@never_cache
@require_GET
@guard.require(rights.READ)
def members_json(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    """Give a project's members as JSON."""
    items = [asdict(row) | {"rights": sorted(row.rights)} for row in queries.members(project.id)]
    return http.json_response({"items": items})


@require_POST
@guard.require(rights.MANAGE)
def remove_member(request: HttpRequest, project: ProjectRow, user_id: int) -> HttpResponse:
    """End a membership; who ends their own lands on the list of projects."""
    caller = get_caller(request)
    try:
        store.remove_member(project.id, user_id, actor=caller.actor)
    except errors.NotFound as error:
        raise Http404(str(error)) from error
    except errors.LastAdmin as error:
        return _refuse(request, project, str(error), status=409)
    if caller.kind == "user" and caller.id == user_id:
        return redirect("access:projects")
    return redirect("access:members", slug=project.slug)


def _tokens_of(project: ProjectRow) -> list[TokenListing]:
    return queries.api_tokens(project.id, clock.now())


def _tokens_page(
    request: HttpRequest,
    project: ProjectRow,
    form: django_forms.Form,
    *,
    new_text: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "page_title": "Tokens",
        "tokens": [lines.token_line(project, token) for token in _tokens_of(project)],
        "new_token": {"secret": new_text} if new_text else None,
        "form": form,
    }
    return render(request, "access/tokens.html", context, status=status)


def _members_page(request: HttpRequest, project: ProjectRow, *, status: int = 200) -> HttpResponse:
    found = queries.members(project.id)
    context = {
        "page_title": "Members",
        "members": [lines.member_line(project, member) for member in found],
    }
    return render(request, "access/members.html", context, status=status)


def _refuse(
    request: HttpRequest, project: ProjectRow, message: str, *, status: int
) -> HttpResponse:
    messages.error(request, message)
    return _members_page(request, project, status=status)
