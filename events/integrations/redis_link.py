"""One connection to a Redis that can ask and listen, and cannot write.

It speaks the protocol itself: a client library sends commands of its own accord (its name and
version, requests for notices of maintenance), other ones with each release, and what a tail may
send is fixed. Source: design.md section 6.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Sequence
from typing import Any

from events.integrations import redis_replies
from events.integrations.redis_address import Address
from events.integrations.redis_replies import Fault, Unfinished

NAME = "counterfoil-tail"
CONNECT_S, ANSWER_S = 10.0, 10.0
CHUNK = 256 * 1024
ALLOWED = frozenset(
    {
        "PING", "AUTH", "CLIENT SETNAME", "SUBSCRIBE", "PSUBSCRIBE", "UNSUBSCRIBE",
        "PUNSUBSCRIBE", "GET", "TYPE", "TTL", "PTTL", "PUBSUB NUMSUB", "PUBSUB NUMPAT", "INFO",
        "XINFO STREAM", "XRANGE", "SELECT",
    }
)  # fmt: skip
"""All that is ever sent. SELECT is sent where an address names a database other than 0: keys lie
in one, though messages do not."""

_IN_TWO_WORDS = frozenset({"CLIENT", "PUBSUB", "XINFO"})


class Unreachable(ConnectionError):
    """The Redis cannot be reached; the message says why, without secrets."""


class Refused(RuntimeError):
    """The Redis answered with an error, which is the message."""


class NotPermitted(Refused):
    """The Redis does not permit a command, a key or a channel to the user."""


class Link:
    """A connection; raises Unreachable for whatever ends it, and closes it then."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._read = b""
        self._socket = _open(address)
        try:
            self._enter()
        except BaseException:
            self.close()
            raise

    def send(self, *words: str) -> None:
        """Send a command; ValueError for one that a tail may not send."""
        if name_of(words) not in ALLOWED:
            raise ValueError(f"A tail does not send {name_of(words)}.")
        try:
            self._socket.settimeout(ANSWER_S)
            self._socket.sendall(_written(words))
        except OSError as error:
            raise self._broken(error) from error

    def ask(self, *words: str) -> Any:
        """Send a command and give its answer; raises Refused or NotPermitted."""
        return self.ask_all([words])[0]

    def ask_all(self, commands: Sequence[Sequence[str]]) -> list[Any]:
        """Send commands at once and give their answers in order."""
        for words in commands:
            self.send(*words)
        answers = [self._answer() for _ in commands]
        for answer in answers:
            if isinstance(answer, Fault):
                raise _refusal(answer)
        return answers

    def receive(self, timeout_s: float) -> bytes | None:
        """Give what has come, as it came; None when nothing did in that time."""
        if self._read:
            read, self._read = self._read, b""
            return read
        self._socket.settimeout(timeout_s)
        try:
            chunk = self._socket.recv(CHUNK)
        except TimeoutError:
            return None
        except OSError as error:
            raise self._broken(error) from error
        if not chunk:
            raise self._broken(ConnectionError("the server closed the connection"))
        return chunk

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(OSError):
            self._socket.close()

    def _enter(self) -> None:
        address = self.address
        if address.password:
            self.ask("AUTH", *([address.user] if address.user else []), address.password)
        self.ask("CLIENT", "SETNAME", NAME)
        if address.database:
            self.ask("SELECT", str(address.database))

    def _answer(self) -> Any:
        while True:
            try:
                answer, end = redis_replies.read(self._read, 0)
            except Unfinished:
                self._read += self._more()
                continue
            except ValueError as error:
                raise self._broken(error) from error
            self._read = self._read[end:]
            return answer

    def _more(self) -> bytes:
        kept, self._read = self._read, b""
        chunk = self.receive(ANSWER_S)
        self._read = kept
        if chunk is None:
            raise self._broken(TimeoutError("the server does not answer"))
        return chunk

    def _broken(self, error: Exception) -> Unreachable:
        self.close()
        return Unreachable(_sentence(self.address, error))


def name_of(words: Sequence[str]) -> str:
    """Name a command as an access list does, in one word or two."""
    first = words[0].upper()
    return f"{first} {words[1].upper()}" if first in _IN_TWO_WORDS and words[1:] else first


def _written(words: Sequence[str]) -> bytes:
    encoded = [word.encode("utf-8", "surrogateescape") for word in words]
    parts = [b"*%d\r\n" % len(encoded)]
    parts += [b"$%d\r\n%b\r\n" % (len(word), word) for word in encoded]
    return b"".join(parts)


def _open(address: Address) -> socket.socket:
    try:
        plain = _plain(address)
        try:
            return _encrypted(plain, address) if address.is_encrypted else plain
        except BaseException:
            plain.close()
            raise
    except OSError as error:
        raise Unreachable(_sentence(address, error)) from error


def _plain(address: Address) -> socket.socket:
    if address.path:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.settimeout(CONNECT_S)
        opened.connect(address.path)
        return opened
    opened = socket.create_connection((address.host, address.port), CONNECT_S)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return opened


def _encrypted(plain: socket.socket, address: Address) -> socket.socket:
    context = ssl.create_default_context(cafile=address.authority or None)
    if not address.is_checked:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if address.certificate:
        context.load_cert_chain(address.certificate, address.key or None)
    return context.wrap_socket(plain, server_hostname=address.host)


def _refusal(fault: Fault) -> Refused:
    kind = NotPermitted if fault.text.startswith("NOPERM") else Refused
    return kind(fault.text)


def _sentence(address: Address, error: Exception) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{address.shown}: {said}"
