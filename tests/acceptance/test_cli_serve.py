"""`pgrag serve` starts where its address and its keys allow, and not otherwise."""

import json
import socket
from contextlib import closing

import httpx
import pytest
from service import eventually, free_port, served


def own_address():
    """An address of this machine that is not loopback; no packet is sent."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but loopback")
        return str(probe.getsockname()[0])


def words(text):
    return " ".join(text.replace("│", " ").split())


def test_without_keys_it_listens_on_this_machine_only(pgrag):
    public = ("serve", "--host", "0.0.0.0", "--port", free_port())
    refused = pgrag.run(*public, code=1)
    assert "Callers of 0.0.0.0 need a key, and there is none." in words(refused.err)
    assert "pgrag keys create" in words(refused.err)
    assert "give it twice" in words(pgrag.run(*public, "--open", code=2).err)
    assert "need a key" in words(pgrag.run("serve", "--require-keys", "--port", 0, code=1).err)
    both = ("--open", "--open", "--require-keys")
    assert "contradicts" in words(pgrag.run(*public, *both, code=2).err)
    assert "here every caller needs one" in words(pgrag.run(*public, "--allow-writes", code=2).err)
    pgrag.run("keys", "create", "old", "-l", "*")
    pgrag.run("keys", "revoke", "old")
    assert "there is none" in words(pgrag.run(*public, code=1).err)


def test_callers_read_without_a_key_here_or_with_one_anywhere(pgrag):
    with served(pgrag, "--host", "0.0.0.0", "--open", "--open") as (client, _):
        assert client.get("/v1/libraries").status_code == 200
        assert client.patch("/v1/configuration", json={"entries": {}}).status_code == 403
    secret = pgrag.json("keys", "create", "docs", "-l", "*")["secret"]
    with served(pgrag, "--host", "0.0.0.0") as (client, process):
        address = f"http://{own_address()}:{client.base_url.port}/v1/libraries"
        assert httpx.get(address, trust_env=False).status_code == 401
        assert client.get("/v1/libraries").status_code == 401
        header = {"Authorization": f"Bearer {secret}"}
        assert httpx.get(address, headers=header, trust_env=False).json() == {"libraries": []}
        process.terminate()
        out, err = process.communicate(timeout=60)
        assert secret not in out + err


def test_writing_is_allowed_by_an_option_or_a_key(pgrag):
    body = {"entries": {}}
    with served(pgrag) as (client, _):
        assert client.patch("/v1/configuration", json=body).status_code == 403
        secret = pgrag.json("keys", "create", "docs", "-l", "*", "--role", "admin")["secret"]
        header = {"Authorization": f"Bearer {secret}"}
        assert client.patch("/v1/configuration", json=body, headers=header).status_code == 200
        eventually(lambda: len(pgrag.json("audit", "list", "--caller", "docs")) == 1)
    with served(pgrag, "--allow-writes") as (client, _):
        assert client.patch("/v1/configuration", json=body).status_code == 200


def test_logs_for_programs_are_one_object_a_line(pgrag):
    address = f"127.0.0.1:{free_port()}"
    programs = pgrag.with_variables(PGRAG_LOG_FORMAT="json", PGRAG_METRICS_ADDRESS=address)
    with served(programs) as (client, process):
        answer = client.get("/v1/search", params={"q": "rope"}, headers={"X-Request-Id": "abc-1"})
        assert answer.headers["x-request-id"] == "abc-1"
        with closing(socket.create_connection((client.base_url.host, client.base_url.port))) as raw:
            raw.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: y\n\r\n\r\n")
            assert raw.recv(65536).startswith(b"HTTP/1.1 400 ")
        scraped = httpx.get(f"http://{address}/metrics", trust_env=False).text
        assert 'route="/v1/search"' in scraped
        assert "pgrag_database_up 1.0" in scraped
        assert 'pgrag_unreadable_requests_total{status="400"} 1.0' in scraped
        process.terminate()
        out, err = process.communicate(timeout=60)
    assert out == ""
    lines = [json.loads(line) for line in err.splitlines()]
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    [search] = [line for line in lines if line.get("request_id") == "abc-1"]
    assert (search["route"], search["work"], search["status"]) == ("/v1/search", "read", 200)
    assert any("Serving on http://" in line["message"] for line in lines)
    assert not any("rope" in str(line) for line in lines)


def test_a_worker_tells_its_metrics(pgrag):
    address = f"127.0.0.1:{free_port()}"
    process = pgrag.with_variables(PGRAG_METRICS_ADDRESS=address).start("worker")

    def scraped():
        try:
            return httpx.get(f"http://{address}/metrics", trust_env=False).text
        except httpx.ConnectError:
            return ""

    try:
        eventually(lambda: 'pgrag_jobs{state="queued"} 0.0' in scraped())
    finally:
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Metrics are on" in err
