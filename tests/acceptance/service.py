"""Runs `pgrag serve` as a process of its own, for clients on loopback."""

import socket
import time
from contextlib import contextmanager

import httpx
from command_line import SECONDS


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(condition):
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, condition
        time.sleep(0.05)


@contextmanager
def served(pgrag, *options):
    """A client of a service that runs as a process of its own, and the process."""
    port = free_port()
    process = pgrag.start("serve", "--port", port, *options)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)

    def answers():
        assert process.poll() is None, process.communicate()
        try:
            return client.get("/healthz").status_code == 200
        except httpx.ConnectError:
            return False

    try:
        eventually(answers)
        yield client, process
    finally:
        client.close()
        process.kill()
        process.communicate()
