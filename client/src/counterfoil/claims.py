"""Do a piece of work once for a key, by the caller's own guard, and leave a receipt either way.

The order is: claim, start (durable), work, done (durable), `guard.finish`. The token given to the
guard is the id of the start receipt and the done receipt's id is UUIDv5(token, "done"), so whoever
is turned away can name what it was turned away for without asking anybody. Counterfoil decides
nothing: the guard's answer alone does.

What a crash leaves behind: after the claim, a guard that is held and a token without a start;
after the start, a start without an end; after the work, the same, although the work is done; after
the done, a done whose guard still says that it runs. In each case the guard's own time limit lets
the work run a second time, as a second claim with ids of its own: two dones of one key, never two
contents of one id.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Callable, Generic, TypeVar, cast

from counterfoil import context, digests, encode, ids, receipts
from counterfoil.client import Client
from counterfoil.errors import BadReceipt, CounterfoilError, SpoolError
from counterfoil.guards import Answer, Guard, GuardLike, as_guard
from counterfoil.receipts import KeyForm

log = logging.getLogger("counterfoil")

T = TypeVar("T")


# The blocks that are open here, innermost last: one `Once` may be entered by several threads, and
# by several tasks of an event loop, at a time.
_entered: ContextVar[tuple[tuple[Claim, Any], ...]] = ContextVar("entered", default=())


class NotAsked(CounterfoilError):
    """A `with once(…)` block ended without asking whether the claim is mine."""


class BadWork(CounterfoilError):
    """A coroutine or generator cannot be run by `once`; write `with once(…)` inside it."""


@dataclass(frozen=True)
class Skipped:
    """What a decorated function gives when its work was skipped: false, and says why."""

    receipt: str
    reason: str
    holder: str | None
    original: str | None

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True)
class Result(Generic[T]):
    """What `once(…).run(work)` gives: the work's value, or the skip."""

    value: T | None = None
    skipped: Skipped | None = None

    @property
    def ran(self) -> bool:
        """True when the work was done by this call."""
        return self.skipped is None


class Claim:
    """One answer of the guard, and the receipts that follow from it."""

    def __init__(self, client: Client, guard: Guard, name: str, fields: Mapping[str, Any]) -> None:
        self.token = ids.v7()
        self._client, self._guard, self._name = client, guard, name
        self._fields = fields
        self._is_asked = False
        self._done_line: bytes | None = None
        self.skipped: Skipped | None = None
        #: Put in the done receipt's `data`; names, sizes and digests, nothing personal.
        self.data: dict[str, Any] = {}

    @property
    def mine(self) -> bool:
        """True when the work is ours to do."""
        self._is_asked = True
        return self.skipped is None

    def __bool__(self) -> bool:
        return self.mine

    def take(self) -> None:
        """Ask the guard, and put the start or the skip on disk."""
        answer = self._guard.claim(self._name, self.token)
        if not answer.mine:
            self.skipped = self._skip(answer)
            return
        try:
            self._write("start", self.token, _took_over(answer), durable=True)
        except BaseException:
            self._release()
            raise

    def finish(self) -> None:
        """Put the done receipt on disk, then tell the guard."""
        try:
            # Its start was admitted, so the bound of the spool does not hold for it.
            self._client.write_line(self.done_line(), durable=True, admitted=True)
        finally:
            # The work is done, whether or not that could be written down: doing it again is worse.
            self._tell_guard()

    def fail(self, error: BaseException) -> None:
        """Put a fail receipt on disk and let go of the guard, so that a retry may claim it."""
        with contextlib.suppress(SpoolError):
            # The error of the work is what the caller must see.
            data = {"error": digests.error_of(error), **self.data}
            self._write("fail", ids.fail_of(self.token), {"data": data}, durable=True)
        self._release()

    def done_line(self) -> bytes:
        """Give the done receipt of this claim; built once, so that it is always the same bytes."""
        if self._done_line is None:
            extra = {"data": self.data} if self.data else {}
            done = self._made("done", ids.done_of(self.token), extra)
            self._done_line = encode.line_of(done)
        return self._done_line

    def check_asked(self) -> None:
        """Raise NotAsked when a skipped claim's block never looked at `mine`."""
        if self.skipped is not None and not self._is_asked:
            raise NotAsked("Write `if claim.mine:` around the work")

    def _skip(self, answer: Answer) -> Skipped:
        reason = "already_done" if answer.finished else "in_flight"
        if answer.holder is None and not answer.finished:
            reason = "lock_contended"
        original = receipts.original_from_holder(answer.holder, is_finished=answer.finished)
        receipt = ids.v7()
        # Of the skip alone: a start and a done of the running job are written by who runs it.
        fields = context.filled({**self._fields, "reason": reason, "id": receipt})
        fields["original"] = original
        made = receipts.made("skip", fields, self._client.settings.source)
        self._client.write(made, durable=True)
        name = next(iter(original.values())) if original else None
        return Skipped(receipt, reason, answer.holder, name)

    def _made(self, kind: str, receipt: str, extra: Mapping[str, Any]) -> dict[str, Any]:
        fields = {**self._fields, **extra, "id": receipt}
        return receipts.made(kind, fields, self._client.settings.source)

    def _write(self, kind: str, receipt: str, extra: Mapping[str, Any], *, durable: bool) -> None:
        self._client.write(self._made(kind, receipt, extra), durable=durable)

    def _release(self) -> None:
        try:
            self._guard.release(self._name, self.token)
        except Exception:
            # The guard is foreign code and its error must not hide the one of the work.
            log.warning("the guard could not be released; it holds until its own time limit")

    def _tell_guard(self) -> None:
        try:
            self._guard.finish(self._name, self.token)
        except Exception:
            # Likewise: the work is done and written down, and the caller needs its result.
            log.warning("the guard was not told that the work is done; it may run again")


def _took_over(answer: Answer) -> dict[str, Any]:
    return {"data": {"took_over": answer.took_over}} if answer.took_over else {}


class Once:
    """Made by `once`; use it as a context manager, by `run`, or as a decorator."""

    def __init__(
        self,
        client: Callable[[], Client],
        key: KeyForm | Callable[..., KeyForm],
        guard: GuardLike,
        fields: Mapping[str, Any],
    ) -> None:
        self._client, self._key, self._guard = client, key, as_guard(guard)
        self._fields = fields

    def __enter__(self) -> Claim:
        if callable(self._key):
            raise BadReceipt("A key that is a function is for the decorator")
        scope = self._scope(self._key)
        claim = scope.__enter__()
        _entered.set((*_entered.get(), (claim, scope)))
        return claim

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool | None:
        *outer, (claim, scope) = _entered.get()
        _entered.set(tuple(outer))
        ended = cast("bool | None", scope.__exit__(kind, error, trace))
        if error is None:
            claim.check_asked()
        return ended

    def run(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> Result[T]:
        """Do the work if the guard says so, and give its value or the skip."""
        _check_sync(work)
        key = self._key(*args, **kwargs) if callable(self._key) else self._key
        with self._scope(key) as claim:
            if not claim.mine:
                return Result(skipped=claim.skipped)
            return Result(work(*args, **kwargs))

    def __call__(self, work: Callable[..., T]) -> Callable[..., T | Skipped]:
        """Decorate a function: it gives its value, or a `Skipped`, which is false."""
        _check_sync(work)

        @functools.wraps(work)
        def guarded(*args: Any, **kwargs: Any) -> T | Skipped:
            result = self.run(work, *args, **kwargs)
            return cast(T, result.value) if result.skipped is None else result.skipped

        return guarded

    @contextlib.contextmanager
    def _scope(self, key: KeyForm) -> Iterator[Claim]:
        fields = {**self._fields, "key": receipts.key_of(key)}
        claim = Claim(self._client(), self._guard, receipts.guard_name(key), fields)
        claim.take()
        if claim.skipped is not None:
            yield claim
            return
        try:
            yield claim
        except BaseException as error:
            claim.fail(error)
            raise
        claim.finish()


def _check_sync(work: Callable[..., Any]) -> None:
    # Calling one of these does nothing yet, so its done would be written before its work.
    if inspect.iscoroutinefunction(work) or inspect.isgeneratorfunction(work):
        raise BadWork(f"({work!r})")
