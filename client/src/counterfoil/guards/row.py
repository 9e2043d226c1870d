"""A guard in a table: a unique row for a key, through any DB-API connection."""

from __future__ import annotations

import re
import time
from typing import Any, Callable

from counterfoil.errors import CounterfoilError
from counterfoil.guards.answers import MINE, Answer, held


class BadTable(CounterfoilError):
    """A table's name may hold letters, digits, underscores and one dot."""


class RowGuard:
    """Holds a key by a row of a table in SQLite (3.24 and newer) or PostgreSQL.

    The connection must be one of its own: each call commits it. A row that has not finished within
    `run_for_s` is taken over, so the limit must be longer than the longest run; None never takes
    over, and a crash then holds the key until the row is deleted by hand. Done rows stay for ever.
    """

    def __init__(
        self,
        connection: Any,
        *,
        run_for_s: float | None = 3600.0,
        table: str = "counterfoil_once",
        now: Callable[[], float] = time.time,
    ) -> None:
        if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", table, re.ASCII):
            raise BadTable(f"({table!r})")
        self._connection, self._table, self._now = connection, table, now
        self._run_for_s = run_for_s
        self._mark = "?" if type(connection).__module__.startswith("sqlite3") else "%s"

    def create_table(self) -> None:
        """Create the table if it is not there."""
        self._do(
            "CREATE TABLE IF NOT EXISTS {table} (name VARCHAR(512) PRIMARY KEY,"
            " token VARCHAR(64) NOT NULL, finished INTEGER NOT NULL,"
            " claimed_at DOUBLE PRECISION NOT NULL)"
        )

    def claim(self, key: str, token: str) -> Answer:
        """Insert the row, or take over one whose time has run out, else say who has it."""
        for _ in range(16):
            if self._do(
                "INSERT INTO {table} (name, token, finished, claimed_at) VALUES (?, ?, 0, ?)"
                " ON CONFLICT (name) DO NOTHING",
                key,
                token,
                self._now(),
            ):
                return MINE
            row = self._find(key)
            # No row: the holder let go of it between the two statements, so it is free again.
            if row is not None:
                return self._answer(key, token, *row)
        return held()

    def finish(self, key: str, token: str) -> bool:
        """Mark the row as done if the token still holds it."""
        return self._do("UPDATE {table} SET finished = 1 WHERE name = ? AND token = ?", key, token)

    def release(self, key: str, token: str) -> bool:
        """Delete the row if the token still holds it."""
        return self._do(
            "DELETE FROM {table} WHERE name = ? AND token = ? AND finished = 0", key, token
        )

    def _answer(
        self, key: str, token: str, holder: str, finished: int, claimed_at: float
    ) -> Answer:
        if holder == token and not finished:
            return MINE
        limit = self._run_for_s
        if finished or limit is None or self._now() - claimed_at < limit:
            return held(holder, finished=bool(finished))
        taken = self._do(
            "UPDATE {table} SET token = ?, claimed_at = ?"
            " WHERE name = ? AND token = ? AND finished = 0 AND claimed_at = ?",
            token,
            self._now(),
            key,
            holder,
            claimed_at,
        )
        # Not taken: somebody was faster. Who it is now would need another look; its start is
        # younger than ours, so the old holder is still what turned us away.
        return Answer(mine=True, took_over=holder) if taken else held(holder)

    def _find(self, key: str) -> tuple[str, int, float] | None:
        cursor = self._connection.cursor()
        try:
            cursor.execute(
                self._sql("SELECT token, finished, claimed_at FROM {table} WHERE name = ?"), (key,)
            )
            row = cursor.fetchone()
            return None if row is None else (row[0], row[1], row[2])
        finally:
            cursor.close()
            self._connection.commit()

    def _do(self, statement: str, *values: Any) -> bool:
        cursor = self._connection.cursor()
        try:
            cursor.execute(self._sql(statement), values)
            changed = bool(cursor.rowcount == 1)
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        finally:
            cursor.close()
        return changed

    def _sql(self, statement: str) -> str:
        return statement.replace("{table}", self._table).replace("?", self._mark)
