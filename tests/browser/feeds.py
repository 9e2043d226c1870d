"""Spools in every state, told into a project as of some hours ago, so that now they stand so."""

from __future__ import annotations

from tests.browser.history import SCRIPT

SILENT = "w1:payouts-d-000000000a:4711:175965"
HOLED = "w2:payouts-d-000000000b:812:175966"
LOST = "w3:mails-w-000000000c:99:175967"
WHOLE = "w4:payouts-d-000000000d:4712:175968"
LATE = "w5:payouts-d-000000000e:4713:175969"
DISPUTED = "w8:payouts-d-000000000f:4714:175970"
ODD = (SCRIPT.replace(";", "") + "-" + "long" * 60)[:190].replace(" ", "_")
PROJECT = "feeds"

TELL = """
import json
from datetime import timedelta
from access.models import ApiToken, Project
from access.store import record_action
from access.rows import COMMAND_LINE
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope

now = clock.now()
project = Project.objects.get(slug=PROJECT)
token = ApiToken.objects.get(project=project, scope="ingest")
other, _ = __import__("access.store").store.create_token(
    project.pk, name="by hand", scope="ingest", source="", expires_at=None, actor=COMMAND_LINE)


def post(ago, body, spool="", number=None, token_id=token.pk):
    at = now - timedelta(minutes=ago)
    given = Envelope(project.pk, at, token_id, feed_spool=spool, feed_number=number)
    ingest.ingest([json.dumps({"occurred_at": at.isoformat(), **body}).encode()], given)


def send(ago, spool, *numbers):
    for number in numbers:
        post(ago, {"kind": "done", "job": {"task": "payout.send"}}, spool, number)


def report(ago, spool, written, **more):
    line = {"kind": "observe", "what": "feed", "spool": spool, "written": written, "unsent": 0,
            "dropped": 0, "client": {"name": "counterfoil-python", "version": "0.1.0"}}
    post(ago, {**line, **more})


for spool in (SILENT, HOLED, LOST, WHOLE, LATE, ODD, DISPUTED):
    send(300, spool, *range(1, 7))
    report(299, spool, 6)
send(200, HOLED, 8, 9, 12)
send(100, HOLED, 9)
send(200, LOST, 7)
report(190, SILENT, 6)
report(3, LOST, 7, dropped=3, outcomes={"waiting": 2, "oldest_s": 4.5, "lost": 120})
report(3, LATE, 9, unsent=3, oldest_unsent_s=240)
for number in range(12):
    child = "w6:pool-d-%010x:%d:%d" % (number, 100 + number, number)
    send(250 - number, child, 1, 2)
    report(249 - number, child, 2, closed=True, end="in_order")
post(400, {"kind": "done"}, token_id=other.id)
for ago in (1, 0):
    report(ago, WHOLE, 6)
    report(ago, HOLED, 12)
    report(ago, DISPUTED, 6)
post(50, {"kind": "done"}, DISPUTED, 7, token_id=other.id)
record_action(project_id=project.pk, actor=COMMAND_LINE, verb="waive", target="feed:" + HOLED,
              reason="the disk was lost", after={"spool": HOLED, "first": "7", "last": "7"})
"""


def code() -> str:
    """Give what `manage.py shell` runs to tell it."""
    names = ("SILENT", "HOLED", "LOST", "WHOLE", "LATE", "ODD", "DISPUTED", "PROJECT")
    told = "\n".join(f"{name} = {globals()[name]!r}" for name in names)
    return f"{told}\n{TELL}"
