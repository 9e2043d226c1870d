"""The `q` grammar: one way to select rows on pages, in the API, in exports and saved views.

A query is words and terms between spaces, and all of them must hold::

    kind:skip,cancel -state:resolved task:"send mail" executions:>1 after:2h key.scope:exec_a1

A comma means or, a minus means not, quotes hold spaces and commas together (`\\"` and `\\\\`
inside them), and only the first colon of a term parts its name from its values. Nothing is ever
ignored: what cannot be understood is a fault with its position. Source: reference/jobs.md
section 5 lines 7 to 9, contract section 4.
"""

from __future__ import annotations

from kit.search.parser import parse
from kit.search.suggestions import suggest
from kit.search.terms import (
    MAX_ITEMS,
    MAX_LENGTH,
    RELATIVE_TIMES,
    FieldSpec,
    FieldType,
    Query,
    QueryFault,
    Suggestion,
    Term,
)
from kit.search.values import EARLIEST, LATEST, is_time, moment, moment_to_read_at, pair
from kit.search.writer import render, with_term, without

__all__ = [
    "EARLIEST",
    "LATEST",
    "MAX_ITEMS",
    "MAX_LENGTH",
    "RELATIVE_TIMES",
    "FieldSpec",
    "FieldType",
    "Query",
    "QueryFault",
    "Suggestion",
    "Term",
    "is_time",
    "moment",
    "moment_to_read_at",
    "pair",
    "parse",
    "render",
    "suggest",
    "with_term",
    "without",
]
