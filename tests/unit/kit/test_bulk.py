from __future__ import annotations

from itertools import chain

import pytest

from kit import bulk


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 99, 100, 101, 110, 111, 999, 1_000])
def test_rows_are_cut_into_parts_that_hold_each_once_and_in_order(count: int) -> None:
    rows = [(number, f"row {number}") for number in range(count)]

    parts = list(bulk._parts(rows))

    values = chain.from_iterable(chain.from_iterable(of_size for _, of_size in parts))
    assert list(values) == list(chain.from_iterable(rows))
    assert all(len(part) == 2 * size for size, of_size in parts for part in of_size)


def test_many_rows_take_few_statements() -> None:
    rows = [(number,) for number in range(1_023)]

    parts = [(size, len(of_size)) for size, of_size in bulk._parts(rows)]

    assert parts == [(100, 10), (10, 2), (1, 3)]
