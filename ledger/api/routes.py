"""Reading and acting over HTTP with a token; the same answers as the pages' JSON twins."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from ninja import Path, Query, Router, Schema

from access.callers import get_caller
from access.domain import rights
from access.guard import admit_token
from access.rows import ProjectRow
from kit import http, ids
from ledger import acknowledge, documents, redrive, waive
from ledger.queries import items, lists, receipts

router = Router(tags=["ledger"])

Text = Annotated[str, Query(max_length=4_000)]
Limit = Annotated[int, Query(ge=1, le=lists.MOST)]
Ref = Annotated[str, Path(description="r… or n and a number", max_length=40)]
EXPORTED = (
    "leaf_index", "ref", "id", "kind", "verdict", "reason", "task", "queue", "source", "job",
    "subjects", "scope", "invoke", "generation", "pointer", "original", "level", "occurred_at",
    "received_at", "deliveries",
)  # fmt: skip


class Reason(Schema):
    """Why something was done; it is kept in the log."""

    reason: str


class Acknowledged(Reason):
    """Why an item was acknowledged, and until when it stays quiet."""

    until: str = ""


class Waived(Reason):
    """Why numbers are given up: those of one gap, as FIRST-LAST, or all that are missing.

    Or, with `disputed_by`, whether who spoke for the spool is the `same` producer or an `other`.
    """

    gap: str = ""
    disputed_by: str = ""


def project_of(request: HttpRequest, right: str = rights.READ) -> ProjectRow:
    """Give the project that a request is about: its token's, or its twin page's."""
    preset: ProjectRow | None = getattr(request, "twin_of", None)
    return preset or admit_token(request, right)


@router.get("/receipts", summary="List receipts", operation_id="list_receipts")
def list_receipts(
    request: HttpRequest,
    q: Text = "",
    limit: Limit = lists.USUAL,
    cursor: Text = "",
    as_of: Text = "",
    id: Text | None = None,
) -> HttpResponseBase:
    project = project_of(request)
    query = q if id is None else _with_id(q, id)
    wanted = documents.asked(project.id, query, limit, cursor, as_of)
    return http.json_response(documents.receipt_list(project.id, wanted))


@router.get("/receipts.csv", summary="Export receipts as CSV", operation_id="export_csv")
def export_csv(request: HttpRequest, q: Text = "", as_of: Text = "") -> HttpResponseBase:
    project = project_of(request, rights.EXPORT)
    wanted = documents.asked(project.id, q, as_of_text=as_of)
    documents.receipt_list(project.id, wanted)
    rows = (_flat(item) for item in lists.stream_receipts(project.id, wanted))
    return http.csv_stream(rows, EXPORTED, f"{project.slug}-receipts.csv")


@router.get("/receipts.ndjson", summary="Export receipts as NDJSON", operation_id="export_ndjson")
def export_ndjson(request: HttpRequest, q: Text = "", as_of: Text = "") -> HttpResponseBase:
    project = project_of(request, rights.EXPORT)
    wanted = documents.asked(project.id, q, as_of_text=as_of)
    documents.receipt_list(project.id, wanted)
    rows = lists.stream_receipts(project.id, wanted)
    return http.ndjson_stream(rows, f"{project.slug}-receipts.ndjson")


@router.get("/receipts/counts", summary="Count receipts", operation_id="count_receipts")
def count_receipts(
    request: HttpRequest, by: Text, q: Text = "", bucket: Text = ""
) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    return http.json_response(documents.count_rows(project.id, q, by, bucket))


@router.get("/receipts/{ref}", summary="One receipt", operation_id="get_receipt")
def get_receipt(request: HttpRequest, ref: Ref, as_of: Text = "") -> HttpResponseBase:
    return http.json_response(documents.receipt(project_of(request).id, ref, as_of))


@router.get("/receipts/{ref}/raw", summary="The bytes as sent", operation_id="get_raw")
def get_raw(request: HttpRequest, ref: Ref) -> HttpResponseBase:
    found = receipts.get_receipt(project_of(request).id, ref)
    raw, content_type = receipts.get_raw(found)
    response = HttpResponse(raw, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{ref}"'
    return response


@router.get("/receipts/{ref}/explain", summary="Why", operation_id="explain_receipt")
def explain_receipt(request: HttpRequest, ref: Ref, as_of: Text = "") -> HttpResponseBase:
    return http.json_response(documents.explanation(project_of(request).id, ref, as_of))


@router.get("/subjects/{type}/{id}", summary="One business object", operation_id="get_subject")
def get_subject(request: HttpRequest, type: str, id: str, as_of: Text = "") -> HttpResponseBase:
    project = project_of(request)
    name = named(id)
    return http.json_response(documents.subject(project.id, type, name, as_of))


@router.get("/tasks", summary="Tasks of the last 24 hours", operation_id="list_tasks")
def list_tasks(request: HttpRequest) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    return http.json_response(documents.task_list(project_of(request).id))


@router.get("/tasks/{task}", summary="One task", operation_id="get_task")
def get_task(request: HttpRequest, task: str) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    return http.json_response(documents.task(project_of(request).id, named(task)))


@router.get("/producers", summary="Who sends, and what is missing", operation_id="list_producers")
def list_producers(
    request: HttpRequest, limit: Limit = lists.USUAL, cursor: Text = "", incomplete: bool = False
) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    found = documents.producer_list(project.id, limit, cursor, incomplete=incomplete)
    return http.json_response(found)


@router.get("/producers/{spool}", summary="One spool", operation_id="get_producer")
def get_producer(request: HttpRequest, spool: str) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    return http.json_response(documents.spool(project_of(request).id, named(spool)))


@router.post("/producers/{spool}/waive", summary="Give up what is missing", operation_id="waive")
def waive_missing(request: HttpRequest, spool: str, body: Waived) -> HttpResponseBase:
    project = project_of(request, rights.ACKNOWLEDGE)
    reason = redrive.check_reason(body.reason)
    actor = get_caller(request).actor
    told = waive.waive(project.id, named(spool), body.gap, actor, reason, body.disputed_by)
    return http.json_response(told)


@router.get("/policies", summary="Recording policies", operation_id="list_policies")
def list_policies(request: HttpRequest, as_of: Text = "") -> HttpResponseBase:
    project = project_of(request)
    return http.json_response(documents.policy_list(project.id, as_of))


@router.get("/quarantine", summary="What was set aside", operation_id="list_quarantine")
def list_quarantine(
    request: HttpRequest, limit: Limit = lists.USUAL, cursor: Text = "", open: bool = False
) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    return http.json_response(documents.set_aside_list(project.id, limit, cursor, open_only=open))


@router.post("/quarantine/{ref}/redrive", summary="Send through again", operation_id="redrive")
def redrive_receipt(request: HttpRequest, ref: Ref, body: Reason) -> HttpResponseBase:
    project = project_of(request, rights.REDRIVE)
    found = receipts.get_receipt(project.id, ref)
    reason = redrive.check_reason(body.reason)
    came = redrive.redrive(project.id, found.receipt, get_caller(request).actor, reason)
    return http.json_response(asdict(came))


@router.post("/quarantine/{ref}/close", summary="Close without it", operation_id="close")
def close_receipt(request: HttpRequest, ref: Ref, body: Reason) -> HttpResponseBase:
    project = project_of(request, rights.REDRIVE)
    found = receipts.get_receipt(project.id, ref)
    reason = redrive.check_reason(body.reason)
    redrive.close(project.id, found.receipt, get_caller(request).actor, reason)
    return http.json_response({"ref": ids.ref_of(found.receipt.pk), "state": "closed"})


@router.get("/attention", summary="What needs someone", operation_id="list_attention")
def list_attention(request: HttpRequest, acknowledged: bool = False) -> HttpResponseBase:
    documents.refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    return http.json_response(documents.attention_list(project.id, acknowledged=acknowledged))


@router.post("/attention/{id}/acknowledge", summary="Acknowledge", operation_id="acknowledge")
def acknowledge_item(request: HttpRequest, id: str, body: Acknowledged) -> HttpResponseBase:
    project = project_of(request, rights.ACKNOWLEDGE)
    reason = redrive.check_reason(body.reason)
    actor = get_caller(request).actor
    item = acknowledge.acknowledge(project.id, id, actor, reason, body.until)
    return http.json_response(item)


def named(segment: str) -> str:
    """Read a producer's text from a path; raises a problem for what is no segment."""
    text = ids.find_segment(segment)
    if text is None:
        detail = (
            "A name in a path stands as itself when it has up to 100 of A-Z a-z 0-9 _ : -, "
            "else as ~ and its base64url."
        )
        raise http.ProblemError(404, "segment", "This is no name in a path", detail)
    return text


def _with_id(q: str, id: str) -> str:
    if not id:
        detail = "`id` takes the id that a producer gave; leave `id` out to list all receipts."
        raise http.ProblemError(400, "bad_query", "The query was not understood", detail, faults=[])
    quoted = id.replace("\\", "\\\\").replace('"', '\\"')
    return f'{q} id:"{quoted}"'.strip()


def _flat(item: items.Item) -> dict[str, Any]:
    """Give an item as one row of cells."""
    job, invoke, pointer = item["job"] or {}, item["invoke"] or {}, item["pointer"] or {}
    return {
        **{name: item.get(name) for name in EXPORTED},
        "verdict": item["verdict"]["code"],
        "job": "/".join(part for part in job.values() if part),
        "subjects": " ".join(f"{one['type']}:{one['id']}" for one in item["subjects"]),
        "scope": invoke.get("scope"),
        "invoke": invoke.get("id"),
        "generation": invoke.get("generation"),
        "pointer": pointer.get("state"),
        "original": pointer.get("target") or pointer.get("named"),
    }
