"""Reconciling over HTTP: a list of expected objects comes in, what became of each goes out."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponseBase
from ninja import Field, Query, Router, Schema

from access.domain import rights
from access.rows import ProjectRow
from kit import http
from ledger import reconciling
from ledger.api.routes import Text, project_of
from ledger.documents import refuse_as_of
from ledger.domain.expected import BadExpected
from ledger.queries.reconcile import Reconciliation

router = Router(tags=["ledger"])

Id = Annotated[str, Field(min_length=1, max_length=255)]
Ids = Annotated[list[Id], Field(max_length=reconciling.MOST)]
AskedIds = Annotated[list[Id], Query(max_length=500)]
First = Annotated[str, Query(alias="from", max_length=100)]
Last = Annotated[str, Query(alias="to", max_length=100)]


class Expected(Schema):
    """The objects to look for, and the window in which something should have become of them."""

    type: str
    ids: Ids
    first: str = Field("", alias="from")
    last: str = Field("", alias="to")
    unnumbered: bool = False


@router.get("/reconcile", summary="Reconcile a short list", operation_id="show_reconcile")
def show_reconcile(
    request: HttpRequest,
    type: Text = "",
    id: AskedIds = [],  # noqa: B006
    first: First = "",
    last: Last = "",
    unnumbered: bool = False,
) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    if not id:
        return http.json_response(reconciling.sources(project.id))
    given = _given(type, first, last, unnumbered=unnumbered)
    return _json(_begin(project, id, given))


@router.get("/reconcile.csv", summary="A short list as CSV", operation_id="show_reconcile_csv")
def show_reconcile_csv(
    request: HttpRequest,
    type: Text,
    id: AskedIds,
    first: First = "",
    last: Last = "",
    unnumbered: bool = False,
) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request, rights.EXPORT)
    return csv_answer(
        project, _begin(project, id, _given(type, first, last, unnumbered=unnumbered))
    )


@router.post("/reconcile", summary="Reconcile a list", operation_id="reconcile")
def reconcile(request: HttpRequest, body: Expected) -> HttpResponseBase:
    project = project_of(request)
    given = _given(body.type, body.first, body.last, unnumbered=body.unnumbered)
    return _json(_begin(project, body.ids, given))


def csv_answer(project: ProjectRow, found: Reconciliation) -> HttpResponseBase:
    """Answer with a result as CSV to download."""
    parts = reconciling.csv_bytes(found)
    response = http.RowStream(parts, content_type="text/csv; charset=utf-8; header=present")
    return _download(response, project, found, "csv")


def json_download(project: ProjectRow, found: Reconciliation) -> HttpResponseBase:
    """Answer with a result as JSON to download."""
    return _download(_json(found), project, found, "json")


def _download(
    response: HttpResponseBase, project: ProjectRow, found: Reconciliation, form: str
) -> HttpResponseBase:
    name = f"{project.slug}-{found.kind}-reconciled.{form}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def refused(error: BadExpected) -> http.ProblemError:
    """Make the problem of a list that cannot be read."""
    return http.ProblemError(400, "bad_expected", "The list cannot be held", str(error))


def _json(found: Reconciliation) -> HttpResponseBase:
    return http.RowStream(reconciling.json_parts(found), content_type="application/json")


def _given(type: str, first: str, last: str, *, unnumbered: bool) -> dict[str, str]:
    return {"type": type, "from": first, "to": last, "unnumbered": "1" if unnumbered else ""}


def _begin(project: ProjectRow, ids: list[str], given: dict[str, str]) -> Reconciliation:
    try:
        return reconciling.begin_ids(project.id, ids, reconciling.read_asked(given))
    except BadExpected as error:
        raise refused(error) from error
