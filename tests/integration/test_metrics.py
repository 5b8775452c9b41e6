"""What Prometheus reads of a service, by the parser of its own client."""

import json
import logging

import pytest
from api_client import serving
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from pgrag.ground.errors import EmbeddingError
from pgrag.ground.settings import Settings
from pgrag.models.endpoint import Endpoint, Service
from pgrag.service.app import App
from pgrag.service.jobs import create
from pgrag.service.metrics import Metrics
from pgrag.service.worker import Worker


@pytest.fixture
def app(database_url):
    with App(Settings(database_url=database_url)) as app:
        yield app


@pytest.fixture
def metrics(app):
    return Metrics(app)


def samples(metrics):
    """The value of each sample by its name and labels; the text is what a scrape reads."""
    text = generate_latest(metrics.registry).decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found, name, **labels):
    return found.get((name, frozenset(labels.items())))


@pytest.fixture
def client(database_url):
    with serving(database_url, metrics=Metrics) as client:
        yield client


def test_requests_are_counted_by_route_and_not_by_address(client):
    for number in range(30):
        client.get(f"/v1/libraries/kittiwake{number}/versions")
        client.get(f"/nothing/{number}")
        client.request("HEAD", "/v1/search", params={"q": f"rope {number}"})
    client.get("/healthz")
    found = samples(client.metrics)
    requests = {
        labels: times for (name, labels), times in found.items() if name == "pgrag_requests_total"
    }
    assert requests[
        frozenset({("route", "/v1/libraries/{library}/versions"), ("method", "GET"),
                   ("status", "404"), ("work", "read")})
    ] == 30  # fmt: skip
    assert value(
        found, "pgrag_requests_total", route="(none)", method="GET", status="404", work="(none)"
    ) == 30  # fmt: skip
    assert value(
        found, "pgrag_request_seconds_count", route="/v1/search", method="HEAD"
    ) == 30  # fmt: skip
    assert value(found, "pgrag_request_seconds_count", route="/healthz", method="GET") == 1
    assert len(requests) == 4, requests
    assert "kittiwake" not in str(found)


def test_a_scrape_says_how_the_process_and_its_database_fare(client):
    client.get("/v1/libraries")
    found = samples(client.metrics)
    assert value(found, "pgrag_database_up") == 1
    assert value(found, "pgrag_work_size", work="costly") == client.app.settings.costly_pool_size
    assert value(found, "pgrag_work_waiting", work="write") == 0
    assert (
        value(
            found, "pgrag_connections_waiting", server="primary", pool="shared", callers="service"
        )
        == 0
    )
    assert value(found, "pgrag_table_bytes", table="documents") > 0
    assert value(found, "pgrag_jobs", state="queued") == 0
    assert value(found, "process_cpu_seconds_total") > 0
    assert any(name == "pgrag_build_info" for name, _ in found)


def test_jobs_are_counted_by_state_and_outcome(app, metrics, tmp_path):
    (tmp_path / "a.md").write_text("# Rope\n")
    for library, source in (("kestrel", tmp_path), ("gannet", tmp_path / "none")):
        create(app.database.call, library, "", str(source), {}, confined=False)
    found = samples(metrics)
    assert value(found, "pgrag_jobs", state="queued") == 2
    assert value(found, "pgrag_jobs_oldest_seconds") > 0
    worker = Worker(app)
    before = value(found, "pgrag_job_attempts_total", outcome="succeeded") or 0
    while worker.work():
        pass
    found = samples(Metrics(app))
    assert value(found, "pgrag_job_attempts_total", outcome="succeeded") == before + 1
    assert value(found, "pgrag_job_attempts_total", outcome="failed") >= 1
    assert value(found, "pgrag_jobs", state="succeeded") == 1
    assert "kestrel" not in str(found)


def test_a_scrape_answers_without_its_database(metrics, app):
    app._url = "postgresql://127.0.0.1:1/nowhere"
    found = samples(metrics)
    assert value(found, "pgrag_database_up") == 0
    assert value(found, "pgrag_jobs", state="queued") is None


def test_calls_of_models_are_counted(metrics):
    service = Service(
        "embedding", "PGRAG_EMBEDDING", EmbeddingError, "/embeddings", "", "http://a.example/v1", ""
    )
    endpoint = Endpoint("http://127.0.0.1:1/v1", service, retries=1, sleep=lambda _: None)
    name, labels = "pgrag_model_calls_total", {"model": "embedding", "outcome": "failed"}
    before = value(samples(metrics), name, **labels) or 0
    with pytest.raises(EmbeddingError):
        endpoint.post({})
    endpoint.close()
    assert value(samples(metrics), name, **labels) == before + 2


def test_an_answer_has_the_id_of_its_request(client, caplog):
    caplog.set_level(logging.INFO, "pgrag.access")
    for sent in ("abc-1.~:/+=@_", "a" * 128):
        answer = client.request("GET", "/v1/libraries", headers={"X-Request-Id": sent})
        assert answer.headers["x-request-id"] == sent
    made = set()
    for sent in ("", "a" * 129, "a b", "a,b", 'a"b', "é", "<script>", "a\tb"):
        answer = client.request("GET", "/nothing", headers={"X-Request-Id": sent.encode("utf-8")})
        made.add(answer.headers["x-request-id"])
        assert answer.headers.get_list("x-request-id") != [sent]
    assert len(made) == 8
    assert all(len(number) == 32 and number.isalnum() for number in made)
    assert not caplog.records  # the server writes such lines itself, unless they are JSON


def test_lines_of_a_request_have_its_id_and_key(database_url, app, caplog):
    [row] = app.database.call("create_key", name="docs", role="search", libraries=["*"])
    secret = row["create_key"]
    caplog.set_level(logging.INFO, "pgrag.access")
    with serving(database_url, log_format="json") as client:
        header = {"Authorization": f"Bearer {secret}", "X-Request-Id": "abc-1"}
        client.request("GET", "/v1/libraries/a%1Bb/versions", headers=header)
    [record] = [each for each in caplog.records if each.name == "pgrag.access"]
    fields = record.fields
    assert fields["path"] == "/v1/libraries/a\x1bb/versions"
    assert fields["route"] == "/v1/libraries/{library}/versions"
    assert fields["status"] == 404
    assert fields["duration_ms"] > 0
    assert secret not in json.dumps(fields)
