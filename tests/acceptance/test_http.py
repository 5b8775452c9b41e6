"""`pgrag serve` over a real network connection, as clients meet it."""

import os
import re
import shlex
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from command_line import SECONDS, CommandLine
from service import eventually, served

import pgrag
from pgrag.ground.embedded import EmbeddedServer

REFERENCE = Path(__file__).parents[2] / "docs" / "rest.md"


@pytest.fixture(scope="module")
def client(indexed):
    """A client of a service on four small libraries."""
    with served(indexed) as (client, _):
        yield client


def test_a_service_for_this_machine_answers_at_once_and_has_no_other_name(client):
    """A page whose name was made to mean 127.0.0.1 reads nothing."""
    refused = client.get("/v1/libraries", headers={"Host": "evil.example"})
    assert (refused.status_code, refused.json()["type"]) == (421, "/problems/wrong-host")
    assert client.get("/v1/libraries", headers={"Host": "localhost"}).status_code == 200
    # A client that keeps its connection delays acknowledgements, after some at once, by 40 ms.
    times = [client.get("/healthz").elapsed.total_seconds() for _ in range(60)]
    assert min(times[30:]) < 10 * min(times[:10])


def test_a_client_in_python_answers_like_that_of_the_database(client, indexed):
    question = "restore a backup"
    with (
        pgrag.connect_service(f"{client.base_url}/v1/") as service,
        pgrag.connect(indexed.variables["PGRAG_DATABASE_URL"]) as db,
    ):

        def asked(one):
            first = one.search(question, "kestrel", top_k=2, snippets=True)
            grouped = one.search(question, "kestrel", group="page")
            return (
                [hit.snippet for hit in first],
                (first.version, first.reason, first.next()[0].url),
                ([hit.document_id for hit in grouped.hits], len(grouped.pages)),
                one.search_pages(question, "kestrel", version="1.4")[0].key,
                one.context(question, "kestrel", token_budget=500).text,
                one.libraries(),
            )

        assert asked(service) == asked(db)
        with pytest.raises(pgrag.UnknownVersion, match="has no version that fits"):
            service.search(question, "kestrel", version="^9")
        with pytest.raises(pgrag.InvalidInput, match="colour: there is no such argument"):
            service.search(question, colour="red")


def test_a_port_in_use_is_an_error_before_the_service_says_that_it_is_ready(pgrag):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = pgrag.run("serve", "--port", port, code=1)
    assert ended.err.splitlines() == [
        f"error: Port {port} of 127.0.0.1 is in use: another program listens there.",
        "Stop that program, or choose another port; --port 0 takes a free one.",
    ]
    assert "Cannot listen on port" in pgrag.run("serve", "--host", "192.0.2.1", code=1).err


def commands():
    """The commands of the reference, comments and line breaks taken out."""
    blocks = re.findall(r"^```sh\n(.*?)^```", REFERENCE.read_text("utf-8"), re.S | re.M)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("curl ")]


@pytest.mark.parametrize("command", commands())
def test_the_examples_of_the_reference(client, command):
    if "SEARCH_ID" in command:
        searched = client.get("/v1/search?q=restore&library=kestrel").json()
        command = command.replace("SEARCH_ID", searched["search_id"])
    words = shlex.split(command, comments=True)[1:]
    [address] = [word for word in words if word.startswith("http")]
    path = address.removeprefix("http://127.0.0.1:8000")
    assert path != address
    data = [value for option, value in pairwise(words) if option in {"-d", "--data-urlencode"}]
    if "-H" in words:
        header = dict([words[words.index("-H") + 1].split(": ")])
        response = client.post(path, content=data[0], headers=header)
    elif data:
        response = client.get(path, params=dict(part.split("=", 1) for part in data))
    else:
        response = client.get(path)
    assert response.status_code == 200, response.text
    answer = response.json()
    others = {"libraries", "versions", "pages", "reason", "facets", "feedback_id"}
    assert answer.get("hits") or answer.get("text") or answer.keys() & others


def test_a_stop_lets_requests_end_and_leaves_no_connection(pgrag, connection):
    sessions = (
        "select pid from pg_stat_activity where datname = current_database()"
        " and application_name = 'pgrag' and wait_event_type = %s"
    )

    def waiting():
        return bool(connection.execute(sessions, ["Lock"]).fetchall())

    with served(pgrag) as (client, process), ThreadPoolExecutor(1) as other:
        with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as locking:
            locking.execute("lock table pgrag.libraries in access exclusive mode")
            response = other.submit(client.get, "/v1/libraries")
            eventually(waiting)
            process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            assert process.poll() is None, "a request is under way"
        assert response.result(SECONDS).json() == {"libraries": []}
        _, errors = process.communicate(timeout=SECONDS)
        assert process.returncode in {0, -signal.SIGTERM}
        assert "Traceback" not in errors
    eventually(lambda: not connection.execute(sessions, ["Client"]).fetchall())


def test_an_embedded_server_that_crashes_is_started_again(tmp_path):
    home = tmp_path / "home"
    pgrag = CommandLine(tmp_path, {"PGRAG_HOME": str(home)})
    server = EmbeddedServer(home)
    try:
        pgrag.run("libraries")
        with served(pgrag) as (client, _):
            assert client.get("/v1/libraries").status_code == 200
            crashed = server.status().pid
            assert crashed is not None
            os.kill(crashed, signal.SIGKILL)
            # For a moment the orphaned sessions of the old server still answer.
            eventually(
                lambda: (
                    client.get("/v1/libraries").status_code == 200
                    and server.status().pid not in (None, crashed)
                )
            )
            assert client.get("/readyz").status_code == 200
            server.stop()
            assert client.get("/v1/libraries").status_code == 503
            assert not server.status().running
    finally:
        server.remove()
