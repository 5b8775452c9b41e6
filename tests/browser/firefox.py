"""Firefox, driven by WebDriver BiDi (the W3C's protocol) over a WebSocket, without a driver."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

PATIENCE = 60.0
#: Nothing but what the tests ask for: no updates, no start page, no telemetry.
PREFERENCES = {
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.chrome.site_icons": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "intl.accept_languages": "en",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disabled": False,
    "network.proxy.type": 0,
    "services.settings.server": "data:,",
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
#: Keys by their names; the protocol has them in the private area of Unicode.
KEYS = {
    "Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "ArrowDown": "\ue015",
    "ArrowUp": "\ue013", "Backspace": "\ue003",
}  # fmt: skip


class Firefox:
    """A tab of a running Firefox; see `firefox`."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._calls = 0
        #: What pages wrote to the console as errors, and what they did not catch.
        self.errors: list[str] = []
        self.call("session.new", capabilities={})
        self.call("session.subscribe", events=["log.entryAdded"])
        [tab] = self.call("browsingContext.getTree")["contexts"]
        self._tab = tab["context"]

    def open(self, url: str) -> None:
        """Go to an address, and wait until it is loaded."""
        self.call("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    def back(self) -> None:
        """Go back in the history of the tab."""
        self.call("browsingContext.traverseHistory", context=self._tab, delta=-1)

    def evaluate(self, script: str) -> Any:
        """The JSON value of an expression in the page."""
        answer = self.call(
            "script.evaluate",
            expression=f"JSON.stringify({script}) ?? 'null'",
            target={"context": self._tab},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def wait_for(self, script: str) -> Any:
        """Wait until an expression is true; returns its value."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.evaluate(script)):
            assert time.monotonic() < deadline, f"in vain: {script}\n{self.evaluate(_SHOWN)}"
            time.sleep(0.02)
        return value

    def press(self, *keys: str) -> None:
        """Press keys by their names, one after the other; other words go letter by letter."""
        letters = [letter for key in keys for letter in KEYS.get(key, key)]
        actions = [
            {"type": kind, "value": letter} for letter in letters for kind in ("keyDown", "keyUp")
        ]
        keyboard = {"type": "key", "id": "keyboard", "actions": actions}
        self.call("input.performActions", context=self._tab, actions=[keyboard])

    def call(self, method: str, **params: Any) -> Any:
        """Send a command of the protocol; returns its result."""
        self._calls += 1
        self._socket.send(json.dumps({"id": self._calls, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(timeout=PATIENCE))
            if answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error":
                self.errors.append(answer["params"]["text"])
            if answer.get("id") == self._calls:
                assert answer["type"] == "success", answer
                return answer["result"]


_SHOWN = "document.body.innerText.slice(0, 500)"


@contextmanager
def firefox(command: str) -> Iterator[Firefox]:
    """Start Firefox with a profile of its own for the time of a block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        profile = Path(folder)
        written = (
            f'user_pref("{name}", {json.dumps(value)});' for name, value in PREFERENCES.items()
        )
        (profile / "user.js").write_text("\n".join(written), encoding="utf-8")
        process = subprocess.Popen(
            [
                command,
                "--headless",
                "--no-remote",
                "--remote-debugging-port=0",
                "--profile",
                folder,
            ],
            env={**os.environ, "HOME": folder, "MOZ_CRASHREPORTER_DISABLE": "1"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            address = f"ws://127.0.0.1:{_port(profile, process)}/session"
            with connect(address, max_size=None, ping_interval=None) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
            process.wait()


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    """The port that Firefox writes into its profile when it listens."""
    written = profile / "WebDriverBiDiServer.json"
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if written.exists() and (text := written.read_text()):
            return int(json.loads(text)["ws_port"])
        time.sleep(0.05)
    raise RuntimeError("Firefox did not start.")
