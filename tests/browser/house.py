"""One running server with projects, people, tokens and a history, for all browser tests."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httpx

from tests.browser import bus_story, feeds, history, shop
from tests.running import Counterfoil
from tests.servers import PATIENCE

PEOPLE = {"alice": "admin", "bob": "viewer"}
BATCH = 100
SPARE = 24
"""Projects that tests which change something take one each of."""

SETUP = """
import json
from access import store
from access.rows import COMMAND_LINE as actor
people = {name: store.create_user(username=name, display_name=name.title(), actor=actor)
          for name in ("alice", "bob", "charlie")}
names = dict.fromkeys(("odd", "empty", "elsewhere", "feeds", "shop", "buses"), "")
names["orders"] = "acme / orders"
names |= {"spare-%d" % number: "" for number in range(SPARE)}
tokens = {}
for slug, name in names.items():
    project = store.create_project(slug=slug, name=name, actor=actor)
    for user, role in ({"charlie": "admin"} if slug == "elsewhere" else PEOPLE).items():
        store.add_member(project.id, people[user].id, role=role, actor=actor)
    tokens[slug] = {}
    for scope, label in (("ingest", "checkout-w7"), ("read", "reports")):
        _, text = store.create_token(
            project.id, name=label, scope=scope, source="oban/prod-1" if scope == "ingest" else "",
            expires_at=None, actor=actor)
        tokens[slug][scope] = text
links = {name: [store.create_login_link(user.id, actor=actor, minutes=600).path for _ in range(3)]
         for name, user in people.items()}
print("SET UP " + json.dumps({"tokens": tokens, "links": links}))
"""


@dataclass
class House:
    """A server, and what one may do with it beside a browser."""

    server: Counterfoil
    tokens: dict[str, dict[str, str]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    cookies: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    spare: list[str] = field(default_factory=lambda: [f"spare-{n}" for n in range(SPARE)])

    @property
    def url(self) -> str:
        return self.server.url

    def fill(self) -> None:
        """Make projects and people, log each in, and post the histories."""
        code = f"SPARE = {SPARE}\nPEOPLE = {PEOPLE!r}\n{SETUP}"
        printed = self.server.manage("shell", "-c", code)
        known = json.loads(printed.split("SET UP ", 1)[1].splitlines()[0])
        self.tokens, self.links = known["tokens"], known["links"]
        self.cookies = {name: self.log_in(name) for name in self.links}
        now = datetime.now(UTC)
        self.load("orders", history.orders(now))
        self.load("odd", history.odd(now))
        self.load(shop.PROJECT, shop.bodies(now))
        self.load("buses", bus_story.bodies(now))
        self.wait_until_derived("orders")
        self.wait_until_derived("odd")
        self.wait_until_derived(shop.PROJECT)
        wait_for(lambda: self.has_buses("buses"))
        self.server.manage("shell", "-c", feeds.code())
        wait_for(lambda: self.read("feeds", "producers")["feed"]["incomplete"] == 5)

    def log_in(self, person: str) -> list[dict[str, str]]:
        """Spend one of a person's links and return the cookies of the session."""
        with httpx.Client(base_url=self.url, timeout=PATIENCE) as client:
            path = self.links[person].pop()
            form = client.get(path).text
            token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form)[0]
            action = re.findall(r'class="form" method="post" action="([^"]+)"', form)[0]
            client.post(action, data={"csrfmiddlewaretoken": token})
            return [
                {"name": name, "value": value, "url": self.url}
                for name, value in client.cookies.items()
            ]

    def post(self, project: str, bodies: Sequence[history.Body]) -> list[httpx.Response]:
        """Post bodies one by one, in order."""
        headers = {"authorization": f"Bearer {self.tokens[project]['ingest']}"}
        headers["content-type"] = "application/json"
        with httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE) as client:
            return [
                client.post(
                    "/api/v1/receipts",
                    content=body if isinstance(body, bytes) else json.dumps(body).encode(),
                )
                for body in bodies
            ]

    def load(self, project: str, bodies: Sequence[history.Body]) -> None:
        """Post bodies in order; many objects in a row go as one batch."""
        for is_raw, run in itertools.groupby(bodies, lambda body: isinstance(body, bytes)):
            together = list(run)
            if is_raw or len(together) < BATCH:
                self.post(project, together)
                continue
            headers = {"authorization": f"Bearer {self.tokens[project]['ingest']}"}
            headers["content-type"] = "application/x-ndjson"
            lines = b"\n".join(json.dumps(body).encode() for body in together)
            url = f"{self.url}/api/v1/receipts"
            answer = httpx.post(url, content=lines, headers=headers, timeout=PATIENCE)
            assert answer.status_code == 200, answer.text

    def send(self, project: str, **body: Any) -> str:
        """Post one receipt and return its ref."""
        answer = self.post(project, [body])[0]
        assert answer.status_code in (201, 202), answer.text
        ref: str = answer.json()["ref"]
        return ref

    def read(self, project: str, tail: str) -> Any:
        """Read a JSON answer of the API."""
        headers = {"authorization": f"Bearer {self.tokens[project]['read']}"}
        answer = httpx.get(f"{self.url}/api/v1/{tail}", headers=headers, timeout=PATIENCE)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def ref_of(self, project: str, receipt_id: str) -> str:
        """Find a receipt's ref by the producer's id."""
        found = self.read(project, f"receipts?id={receipt_id}")["items"]
        ref: str = found[0]["ref"]
        return ref

    def wait_until_derived(self, project: str) -> None:
        """Return once the lists have read all that was posted."""
        wait_for(lambda: not self.read(project, "receipts?limit=1")["window"]["lag"])

    def has_buses(self, project: str) -> bool:
        """Tell whether the pages of buses have read all that was posted."""
        found = self.read(project, "installations")
        return bool(found["items"]) and not found["window"]["lag"]

    def take_project(self, *bodies: history.Body) -> str:
        """Give a project that no other test uses, with a history of its own."""
        slug = self.spare.pop()
        self.load(slug, bodies)
        self.wait_until_derived(slug)
        return slug


def wait_for(is_so: Callable[[], object], patience_s: float = PATIENCE) -> None:
    """Return once something is so; raise when it does not become so in time."""
    deadline = time.monotonic() + patience_s
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not so within {patience_s} s")
        time.sleep(0.05)
