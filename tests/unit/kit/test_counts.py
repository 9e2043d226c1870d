"""Counts: exact to the cap, and said in words that do not claim more."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kit import counts
from kit.counts import Count

AT = datetime(2026, 10, 5, tzinfo=UTC)
THREE_ROWS = "SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3"

WORDS = {
    "none": (0, "exact", "0"),
    "exact": (1_234, "exact", "1,234"),
    "capped": (10_000, "capped", "10,000+"),
    "millions": (103_412_345, "estimate", "about 103 million"),
    "a few millions": (1_234_567, "estimate", "about 1.23 million"),
    "a round million": (999_999, "estimate", "about 1 million"),
    "thousands": (12_345, "estimate", "about 12,300"),
    "billions": (2_040_000_000, "estimate", "about 2.04 billion"),
    "a thousand millions": (999_999_999, "estimate", "about 1 billion"),
    "few": (42, "estimate", "about 42"),
}


@pytest.mark.parametrize(("value", "method", "text"), WORDS.values(), ids=WORDS.keys())
def test_a_count_is_said_as_it_was_come_by(value: int, method: counts.Method, text: str) -> None:
    assert counts.words(Count(value, method, AT)) == text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("cap", "expected"),
    [(4, (3, "exact")), (3, (3, "exact")), (2, (2, "capped"))],
    ids=["below the cap", "at the cap", "above the cap"],
)
def test_a_select_is_counted_to_its_cap(cap: int, expected: tuple[int, str]) -> None:
    count = counts.capped(THREE_ROWS, as_of=AT, cap=cap)

    assert (count.value, count.method) == expected
    assert count.as_of == AT


@pytest.mark.django_db
def test_a_select_keeps_its_parameters() -> None:
    sql = THREE_ROWS.join(("SELECT n FROM (", ") AS t WHERE n > %s"))

    assert counts.capped(sql, [1], as_of=AT).value == 2


@pytest.mark.django_db
def test_a_queryset_is_counted_in_one_limited_query_without_its_order() -> None:
    ContentType.objects.create(app_label="a", model="b")
    ContentType.objects.create(app_label="a", model="c")

    with CaptureQueriesContext(
        connection,
    ) as queries:
        count = counts.capped(
            ContentType.objects.filter(app_label="a").order_by("model"), as_of=AT, cap=1
        )

    assert count == Count(1, "capped", AT)
    (query,) = queries.captured_queries
    assert "LIMIT 2" in query["sql"]
    assert "ORDER BY" not in query["sql"]


@pytest.mark.django_db
def test_without_a_planner_a_table_is_counted_to_the_cap() -> None:
    expected = ContentType.objects.count()

    count = counts.estimated(ContentType._meta.db_table, as_of=AT)

    assert count.value == expected
