"""The page that holds a list of expected objects against the record."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_http_methods

from access.domain import rights
from access.guard import check_right, require
from access.rows import ProjectRow
from ledger import reconciling
from ledger.api.reconcile import csv_answer, json_download
from ledger.documents import refuse_as_of
from ledger.domain.expected import BadExpected
from ledger.present import reconciled
from ledger.queries.reconcile import Reconciliation
from ledger.views import draw

Document = dict[str, Any]
FIELDS = ("type", "column", "from", "to", "unnumbered", "ids")


@require_http_methods(["GET", "HEAD", "POST"])
@require(rights.READ)
def reconcile(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """Take a list, and show what became of each object; nothing of the list is stored."""
    refuse_as_of(request.GET.get("as_of", ""))
    form = {name: request.POST.get(name, request.GET.get(name, "")) for name in FIELDS}
    context: Document = {
        "page_title": "Reconcile",
        "form": form,
        "watched": reconciling.sources(project.id)["sources"],
    }
    try:
        found = _found(request, project, form)
        if found is not None and request.POST.get("as") == "csv":
            check_right(request, rights.EXPORT)
            return csv_answer(project, found)
        if found is not None and request.POST.get("as") == "json":
            return json_download(project, found)
    except BadExpected as error:
        context["refused"] = str(error)
        return draw(request, project, "ledger/reconcile.html", context, status=400)
    if found is not None:
        context["result"] = reconciled.result(project, found, form)
    elif request.method == "GET":
        form["ids"] = "\n".join(request.GET.getlist("id"))
    return draw(request, project, "ledger/reconcile.html", context)


def _found(request: HttpRequest, project: ProjectRow, form: Document) -> Reconciliation | None:
    """Read the list that the request brings; None where it brings none."""
    if request.method == "POST":
        asked = reconciling.read_asked(form)
        return reconciling.begin(project.id, _lines(request), asked, most=reconciling.MOST)
    names = request.GET.getlist("id")
    if not names:
        return None
    form["ids"] = "\n".join(names)
    return reconciling.begin_ids(project.id, names[:500], reconciling.read_asked(form))


def _lines(request: HttpRequest) -> Iterable[str]:
    file = request.FILES.get("file")
    if isinstance(file, UploadedFile) and file.size:
        try:
            return io.StringIO(file.read().decode("utf-8-sig"), newline="")
        except UnicodeDecodeError:
            raise BadExpected("The file is no UTF-8 text; save it as CSV in UTF-8.") from None
    text = request.POST.get("ids", "")
    if not text.strip():
        raise BadExpected("Choose a file, or paste the ids.")
    return io.StringIO(text, newline="")
