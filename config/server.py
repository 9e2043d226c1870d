"""The embedded server: uvicorn and the follower in one process."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn
from django.conf import settings

from config.asgi import application
from config.first_start import DEMO_PROJECT, Start
from config.follower import Follower
from ledger import live

Say = Callable[[str], object]


class Server(uvicorn.Server):
    """Ends open live streams as soon as it is told to stop, so that Ctrl-C is quick."""

    def __init__(self, config: uvicorn.Config, when_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._when_ready = when_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._when_ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        live.close()
        super().handle_exit(sig, frame)


def address_of(host: str, listener: socket.socket) -> str:
    """Give the address to type into a browser."""
    port = listener.getsockname()[1]
    shown = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def run(listener: socket.socket, address: str, start: Start, say: Say) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    follower = Follower()
    demo: list[subprocess.Popen[bytes]] = []

    def when_ready() -> None:
        say(f"Counterfoil is at {address}")
        say(f"Log in once with {address}{start.login_path}")
        if start.run_demo:
            say(f"The demo is running into {address}/p/{DEMO_PROJECT}/ for about a minute.")
            demo.append(_run_demo(address))
        say("Ctrl-C stops it.")
        sys.stdout.flush()

    config = uvicorn.Config(
        application,
        # Ours is set up already; uvicorn's own would write past it, secrets and all.
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=3,
        server_header=False,
    )
    follower.start()
    try:
        Server(config, when_ready).run(sockets=[listener])
    except KeyboardInterrupt:
        pass
    finally:
        for process in demo:
            process.terminate()
        follower.stop()


def _run_demo(address: str) -> subprocess.Popen[bytes]:
    manage = Path(settings.BASE_DIR) / "manage.py"
    return subprocess.Popen(
        [sys.executable, str(manage), "demo", "--url", address],
        stdout=subprocess.DEVNULL,
    )
