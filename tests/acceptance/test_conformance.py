"""The official conformance suite of MCP, against pgrag and against its transport with fixtures.

`make test-conformance` installs Node and the suite and runs this. What a server cannot pass stands
in tests/conformance/baseline, with its reason.
"""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from service import eventually, free_port, served

#: Where Node and the suite are installed.
INSTALLED = os.environ.get("PGRAG_CONFORMANCE")
SUITE = "suite/node_modules/@modelcontextprotocol/conformance/dist/index.js"
FOLDER = Path(__file__).parents[1] / "conformance"

pytestmark = pytest.mark.skipif(INSTALLED is None, reason="make test-conformance runs it")


@contextmanager
def pgrag_itself(pgrag):
    with served(pgrag) as (client, _):
        yield client.base_url


@contextmanager
def transport_with_fixtures(_):
    port = free_port()
    process = subprocess.Popen([sys.executable, FOLDER / "fixture_server.py", str(port)])

    def answers():
        assert process.poll() is None
        try:
            return httpx.get(f"http://127.0.0.1:{port}/mcp", trust_env=False).status_code == 405
        except httpx.ConnectError:
            return False

    try:
        eventually(answers)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


SERVERS = {"pgrag": pgrag_itself, "fixtures": transport_with_fixtures}


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("name", SERVERS)
def test_every_check_passes_or_stands_in_the_baseline(indexed, tmp_path, name, revision):
    with SERVERS[name](indexed) as address:
        run = subprocess.run(
            [
                Path(INSTALLED) / "bin" / "node", Path(INSTALLED) / SUITE, "server",
                "--url", f"{str(address).rstrip('/')}/mcp", "--requirements", revision,
                "--expected-failures", FOLDER / "baseline" / f"{name}-{revision}.yaml",
                "--output-dir", tmp_path,
            ],
            check=False, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert run.returncode == 0, run.stdout[run.stdout.find("=== SUMMARY") :] + run.stderr[-2000:]
    checks = [
        check
        for file in tmp_path.rglob("checks.json")
        for check in json.loads(file.read_text("utf-8"))
    ]
    # Whatever a scenario is about, each message that it saw has the form of the schema.
    forms = [check for check in checks if check["id"] == "wire-schema-valid"]
    assert len(forms) > 20, len(forms)
    assert [check for check in forms if check["status"] != "SUCCESS"] == []
