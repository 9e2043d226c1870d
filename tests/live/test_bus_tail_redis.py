"""A real Redis as the tail reads it: what is sent, what is missed, what is permitted."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from events.integrations import grants, listener, redis_link
from events.integrations.backlog import Backlog, Chunk
from events.integrations.key_samples import KeySampler
from events.integrations.listener import Listener, Subscription
from events.integrations.redis_address import Address, read_address
from events.integrations.redis_link import ALLOWED, Link, NotPermitted, Unreachable
from events.integrations.redis_pushes import Pushes
from events.integrations.sources import Batch, ChannelSource
from tests import servers
from tests.servers import Redis

pytestmark = pytest.mark.slow
PATIENCE_S = 30.0
PATTERN = "pad:events:*"
BY_PATTERN = Subscription((PATTERN,), is_by_pattern=True)
KEYS = {"seq": "pad:event_seq", "epoch": "pad:event_epoch", "gen": "pad:event_epoch_gen"}


@pytest.fixture
def server() -> Iterator[Redis]:
    with closing(Redis()) as server:
        yield server.start()


@pytest.fixture
def client(server: Redis) -> Iterator[redis.Redis]:
    with closing(redis.Redis.from_url(server.url)) as client:
        yield client


class Heard:
    """A listener with what it heard so far."""

    def __init__(self, address: Address, backlog: Backlog | None = None) -> None:
        self.backlog = backlog or Backlog(None)
        self.said: list[str] = []
        self.chunks: list[Chunk] = []
        self._pushes = Pushes((), [PATTERN])
        self.listener = Listener(address, BY_PATTERN, self.backlog, self.said.append)

    def start(self) -> Heard:
        self.listener.connect()
        self.listener.start()
        return self

    def __enter__(self) -> Heard:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.listener.stop()

    def bodies(self) -> list[bytes]:
        """Take what came, and give the messages so far; a hole starts the cutting anew."""
        self.chunks += self.backlog.take(0)
        found = []
        pushes = Pushes((), [PATTERN])
        for chunk in self.chunks:
            if not chunk.raw:
                pushes = Pushes((), [PATTERN])
            found += [body for _, body, _ in pushes.cut(chunk.raw)]
        return found

    @property
    def holes(self) -> list[Chunk]:
        self.chunks += self.backlog.take(0)
        return [chunk for chunk in self.chunks if not chunk.raw]


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)


def test_a_listener_hears_each_message_of_its_pattern_in_order(
    server: Redis, client: redis.Redis
) -> None:
    with Heard(read_address(server.url)) as heard:
        for number in range(500):
            client.publish(f"pad:events:ws-{number % 3}", b"%d|x\r\n" % number)
            client.publish("pad:watchevents", b"not for us")
        wait_until(lambda: len(heard.bodies()) >= 500)

        assert heard.bodies() == [b"%d|x\r\n" % number for number in range(500)]
        assert heard.holes == []


def test_a_redis_that_was_gone_leaves_a_hole_and_is_heard_again(server: Redis) -> None:
    with Heard(read_address(server.url)) as heard, redis.Redis.from_url(server.url) as client:
        client.publish("pad:events:a", b"before")
        wait_until(lambda: heard.bodies() == [b"before"])
        server.kill()
        wait_until(lambda: heard.said)
        server.start()
        wait_until(lambda: heard.holes)
        client.publish("pad:events:a", b"after")
        wait_until(lambda: heard.bodies() == [b"before", b"after"])

        [hole] = heard.holes
        assert hole.why == listener.RECONNECT and hole.at < hole.until


def test_a_full_backlog_lets_the_redis_go_and_says_that_it_did_not_watch(
    server: Redis, client: redis.Redis
) -> None:
    heard = Heard(read_address(server.url), Backlog(None, memory=200_000, disk=0))
    with heard:
        wait_until(lambda: publish_much(client) and heard.said)
        heard.bodies()
        wait_until(lambda: heard.holes)
        client.publish("pad:events:a", b"after")
        wait_until(lambda: heard.bodies()[-1] == b"after")

        assert [hole.why for hole in heard.holes] == [listener.BUFFER_FULL]


def publish_much(client: redis.Redis) -> bool:
    with client.pipeline(transaction=False) as pipe:
        for _ in range(500):
            pipe.publish("pad:events:a", b"x" * 300)
        pipe.execute()
    return True


def test_a_connection_that_is_cut_without_a_word_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listener, "BREATH_S", 0.02)
    monkeypatch.setattr(listener, "PING_S", 0.05)
    monkeypatch.setattr(listener, "DEAD_S", 0.2)
    monkeypatch.setattr(redis_link, "ANSWER_S", 0.2)
    with closing(socket.create_server(("127.0.0.1", 0))) as mute:
        port = mute.getsockname()[1]
        answer = threading.Thread(target=answer_once, args=[mute], daemon=True)
        answer.start()
        heard = Heard(read_address(f"redis://127.0.0.1:{port}"))
        with heard:
            wait_until(lambda: heard.said)

    assert "no answer for" in heard.said[0]


def answer_once(server: socket.socket) -> None:
    """Accept the name and the subscription, then say nothing more."""
    opened, _ = server.accept()
    with opened:
        for answer in (b"+OK\r\n", b"*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n"):
            opened.recv(4096)
            opened.sendall(answer)
        while opened.recv(4096):
            pass


def test_nobody_at_the_address_is_said_in_one_line_without_the_password() -> None:
    port = servers.find_free_port()

    with pytest.raises(Unreachable) as refused:
        Heard(read_address(f"redis://u:hunter2@127.0.0.1:{port}")).start()

    assert "hunter2" not in str(refused.value)
    assert str(refused.value).startswith(f"127.0.0.1:{port}: ")


def test_all_that_a_tail_sends_only_looks(server: Redis, client: redis.Redis) -> None:
    client.set("pad:event_seq", 41)
    client.config_resetstat()

    with Heard(read_address(server.url + "?db=1")) as heard:
        sampler = KeySampler(read_address(server.url), "i1", "activity", KEYS)
        sampler.channels.add("pad:events:a")
        client.publish("pad:events:a", b"one")
        wait_until(heard.bodies)
        found = sampler.sample()
        sampler.close()

    used = {name.removeprefix("cmdstat_") for name in client.info("commandstats")}
    ours = used - {"publish", "config|resetstat", "hello", "client|setinfo"}
    assert {name.replace("|", " ").upper() for name in ours} <= ALLOWED
    assert client.info("commandstats")["cmdstat_publish"]["calls"] == 1
    assert [one["what"] for one in found] == ["keys", "heads"]


def test_a_sample_says_what_each_key_holds(server: Redis, client: redis.Redis) -> None:
    client.set("pad:event_seq", 41, ex=600)
    client.rpush("pad:event_epoch", "x")
    sampler = KeySampler(read_address(server.url), "i1", "activity", KEYS)
    sampler.channels.add("pad:events:a")

    with closing(sampler):
        keys, heads = sampler.sample()

    by_role = {one["role"]: one for one in keys["keys"]}
    assert by_role["seq"]["value_class"] == "integer" and 590 < by_role["seq"]["ttl_s"] <= 600
    assert by_role["epoch"]["type"] == "list" and by_role["epoch"]["value_class"] == "wrong_type"
    assert by_role["gen"] == {
        "name": "pad:event_epoch_gen", "role": "gen", "type": "none", "value_class": "absent",
        "ttl_s": None,
    }  # fmt: skip
    assert keys["policy"] == "noeviction" and keys["server"]["role"] == "master"
    assert keys["channels"] == [{"channel": "pad:events:a", "subscribers": 0}]
    assert heads["heads"] == [{"channel": "", "node": f"127.0.0.1:{server.port}", "head": "41"}]


def test_a_sample_that_says_nothing_new_is_left_out(server: Redis, client: redis.Redis) -> None:
    client.set("pad:event_seq", 41)
    sampler = KeySampler(read_address(server.url), "i1", "activity", KEYS)

    with closing(sampler):
        first = sampler.sample()
        again = sampler.sample()
        client.incr("pad:event_seq")
        moved = sampler.sample()

    assert [len(first), again] == [2, []]
    assert [one["what"] for one in moved] == ["heads"]


def test_the_documented_user_may_do_all_that_a_tail_does_and_cannot_publish(
    server: Redis, client: redis.Redis
) -> None:
    client.set("pad:event_seq", 41)
    line = grants.line_of([PATTERN], [*KEYS.values()]).replace("PASSWORD", "hunter2")
    client.execute_command(*line.split())
    address = read_address(f"redis://counterfoil:hunter2@127.0.0.1:{server.port}")

    with Heard(address) as heard:
        sampler = KeySampler(address, "i1", "activity", KEYS)
        sampler.channels.add("pad:events:a")
        client.publish("pad:events:a", b"one")
        wait_until(heard.bodies)
        assert [one["what"] for one in sampler.sample()] == ["keys", "heads"]
        sampler.close()

    with redis.Redis(port=server.port, username="counterfoil", password="hunter2") as user:
        for words in (
            ("PUBLISH", "pad:events:a", "x"),
            ("SET", "pad:event_seq", "1"),
            ("DEL", "pad:event_seq"),
            ("CONFIG", "GET", "*"),
            ("GET", "other"),
        ):
            with pytest.raises(redis.exceptions.NoPermissionError):
                user.execute_command(*words)


@pytest.mark.parametrize(
    ("rules", "line"),
    [
        ("&pad:* +psubscribe", "ACL SETUSER eve &pad:events:*"),
        ("&pad:events:*", "ACL SETUSER eve +psubscribe"),
    ],
)
def test_what_is_not_permitted_is_said_with_the_line_that_permits_it(
    server: Redis, client: redis.Redis, rules: str, line: str
) -> None:
    granted = f"ACL SETUSER eve on >hunter2 resetchannels -@all +client|setname {rules}"
    client.execute_command(*granted.split())
    address = read_address(f"redis://eve:hunter2@127.0.0.1:{server.port}")

    with pytest.raises(NotPermitted) as refused:
        Heard(address).start()

    assert str(refused.value).endswith(line)
    assert "hunter2" not in str(refused.value)
    client.execute_command(*line.split())
    if "psubscribe" in line:
        Heard(address).start().listener.stop()


def test_a_key_that_may_not_be_read_is_said_with_the_line_that_permits_it(
    server: Redis, client: redis.Redis
) -> None:
    line = grants.line_of([PATTERN], ["pad:event_seq"]).replace("PASSWORD", "hunter2")
    client.execute_command(*line.split())
    address = read_address(f"redis://counterfoil:hunter2@127.0.0.1:{server.port}")

    sampler = KeySampler(address, "i1", "activity", KEYS)
    with closing(sampler), pytest.raises(NotPermitted) as refused:
        sampler.sample()

    assert str(refused.value).endswith("ACL SETUSER counterfoil %R~pad:event_epoch")


def test_a_wrong_password_is_refused_without_being_shown(
    server: Redis, client: redis.Redis
) -> None:
    with pytest.raises(redis_link.Refused) as refused:
        Link(read_address(f"redis://nobody:hunter2@127.0.0.1:{server.port}"))

    assert "hunter2" not in str(refused.value)


def test_a_socket_of_this_machine_is_an_address_too(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    with closing(Redis("--unixsocket", str(path))) as server:
        server.start()
        with Heard(read_address(f"unix://{path}?db=0")) as heard:
            with closing(redis.Redis.from_url(server.url)) as client:
                client.publish("pad:events:a", b"one")
            wait_until(lambda: heard.bodies() == [b"one"])


def test_an_encrypted_connection_is_checked_against_the_authority_that_is_named(
    tmp_path: Path,
) -> None:
    certificate, key = make_certificate(tmp_path)
    port = servers.find_free_port()
    options = (
        "--tls-port",
        str(port),
        "--tls-cert-file",
        str(certificate),
        "--tls-key-file",
        str(key),
        "--tls-ca-cert-file",
        str(certificate),
        "--tls-auth-clients",
        "no",
    )
    given = f"rediss://127.0.0.1:{port}/0"
    with closing(Redis(*options)) as server:
        try:
            server.start()
        except servers.DidNotStart:
            pytest.skip("this Redis is built without TLS")
        with pytest.raises(Unreachable, match="certificate verify failed"):
            Heard(read_address(given)).start()
        with Heard(read_address(f"{given}?ssl_ca_certs={certificate}")) as heard:
            with closing(redis.Redis.from_url(server.url)) as client:
                for number in range(100):
                    client.publish("pad:events:a", b"%d" % number + b"x" * 5_000)
            wait_until(lambda: len(heard.bodies()) == 100)


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate of its own authority for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now, here = datetime.now(UTC), x509.IPAddress(ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([here]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    pem, own = folder / "redis.crt", folder / "redis.key"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    own.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return pem, own


def test_what_is_no_message_makes_the_tail_connect_anew() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as odd:
        port = odd.getsockname()[1]
        answering = threading.Thread(target=answer_oddly, args=[odd])
        answering.start()
        said: list[str] = []
        address = read_address(f"redis://127.0.0.1:{port}")
        with closing(ChannelSource(address, BY_PATTERN, None, said.append)) as source:
            source.connect()
            source.start()
            found: list[Batch] = []
            wait_until(lambda: found.extend(source.take(0.05)) or len(found) >= 2)
        answering.join(PATIENCE_S)

    assert found[0].why == listener.RECONNECT
    assert [body for _, body, _ in found[1].messages] == [b"one"]
    assert said[0].endswith("it sent what is no message. What it sends now is not seen.")


def answer_oddly(server: socket.socket) -> None:
    """Send what is no protocol on the first connection, and a message on the second."""
    message = b"*4\r\n$8\r\npmessage\r\n$12\r\npad:events:*\r\n$1\r\na\r\n$3\r\none\r\n"
    subscribed = b"*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n"
    for last in (b"HTTP/1.1 200 OK\r\n", message):
        opened, _ = server.accept()
        with opened:
            for answer in (b"+OK\r\n", subscribed + last):
                opened.recv(4096)
                opened.sendall(answer)
            while opened.recv(4096):
                pass


def test_a_reader_that_fails_begins_anew(
    server: Redis, client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = iter([RuntimeError("no room for hunter2")])
    receive = Link.receive

    def receive_or_fail(self: Link, timeout_s: float) -> bytes | None:
        if threading.current_thread().name == "listener" and (error := next(fails, None)):
            raise error
        return receive(self, timeout_s)

    monkeypatch.setattr(Link, "receive", receive_or_fail)
    with Heard(read_address(server.url)) as heard:
        wait_until(lambda: heard.holes)
        client.publish("pad:events:a", b"one")
        wait_until(lambda: heard.bodies() == [b"one"])

    assert heard.said[0] == "The reader failed, and begins anew: RuntimeError."
