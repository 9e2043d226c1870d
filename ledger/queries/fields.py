"""What can be asked of the list of receipts: the qualifiers of `q` and how each reads a value.

Whether a qualifier has an index decides what a search costs: without one, the search looks at the
newest `SCANNED` receipts and says so.
"""

from __future__ import annotations

from kit.search import FieldSpec
from ledger.domain import words

SCANNED = 100_000
BODIES_READ = 5_000

STATES = ("accepted", "conflict", "quarantined", "oversize")

INDEXED = frozenset(
    {"verdict", "scope", "job", "task", "pointer", "subject", "trace", "key", "producer", "id",
     "after", "occurred.after"}
)  # fmt: skip

FIELDS: dict[str, FieldSpec] = {
    f"{spec.name}." if spec.type == "path" else spec.name: spec
    for spec in (
        FieldSpec("id", "text", help="a receipt's id as its producer gave it"),
        FieldSpec("kind", "word", tuple(words.KIND_WORDS), help="what the receipt states"),
        FieldSpec("verdict", "text", help="what the ledger concludes, such as skip.already_done"),
        FieldSpec("reason", "text", tuple(words.REASON_WORDS), help="why it was skipped, as sent"),
        FieldSpec("task", "text", help="the type of the job"),
        FieldSpec("queue", "text", help="the queue of the job"),
        FieldSpec("source", "text", help="system, or system/instance"),
        FieldSpec("producer", "text", help="the name of the token that sent it"),
        FieldSpec("scope", "text", help="the owning run"),
        FieldSpec("invoke", "text", help="the name of the call in its run"),
        FieldSpec("gen", "ordinal", help="the generation's number as the producer gave it"),
        FieldSpec("job", "text", help="a job's number, or system/instance/number"),
        FieldSpec("key", "text", help="the digest of the fields that were compared"),
        FieldSpec("recipe", "text", help="the matching rule"),
        FieldSpec("original", "text", help="what a skip names, as sent"),
        FieldSpec(
            "pointer",
            "word",
            (*words.POINTER_STATES, "unresolved"),
            help="what became of the pointer",
        ),
        FieldSpec(
            "outcome", "word", tuple(words.OUTCOME_WORDS), help="what became of a skip's original"
        ),
        FieldSpec("state", "word", STATES, help="how the receipt was taken"),
        FieldSpec("level", "word", words.LEVELS, help="how the verdict is known"),
        FieldSpec("rule", "text", help="the rule or switch that was named"),
        FieldSpec("actor", "text", help="who acted, as the producer says"),
        FieldSpec("subject", "pair", help="a business object, as in payout:PO-88213"),
        FieldSpec("trace", "text", help="a trace id"),
        FieldSpec("executions", "number", help="how many starts the job has"),
        FieldSpec("deliveries", "number", help="how often the receipt was handed over"),
        FieldSpec("after", "time", help="happened at or after"),
        FieldSpec("before", "time", help="happened before"),
        FieldSpec("occurred.after", "time", help="happened at or after"),
        FieldSpec("occurred.before", "time", help="happened before"),
        FieldSpec("received.after", "time", help="received at or after"),
        FieldSpec("received.before", "time", help="received before"),
        FieldSpec("key", "path", help="a field of the key, as in key.scope:exec_a1"),
        FieldSpec("data", "path", help="a member of data, as in data.event:stop"),
    )
}
