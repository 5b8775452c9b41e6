"""What users of a service, a command or a program meet if standbys are read."""

import os
import re
import subprocess
import sys

import psycopg
import pytest
from api_client import serving

import pgrag
from pgrag.cli import quick
from pgrag.ground import errors, schema
from pgrag.ground.settings import Settings, load_settings
from pgrag.ground.standbys import standings
from pgrag.service.access import Policy
from pgrag.service.app import App
from pgrag.service.metrics import Metrics
from poolers import missing_program, pooled

SYNONYMS = "/v1/libraries/harbour/synonyms"
POSITION = "Pgrag-Position"


def changed(api, terms, **headers):
    sent = api.request("PATCH", SYNONYMS, json={"synonyms": terms}, headers=headers)
    assert sent.status_code == 200, sent.text
    return sent


def known(api, **headers):
    return {row["term"] for row in api.request("GET", SYNONYMS, headers=headers).json()["synonyms"]}


def records(url):
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        row = connection.execute("select * from pgrag.searches order by at desc limit 1").fetchone()
    varying = ("search_id", "at", "timings", "duration_ms")
    return {name: value for name, value in row.items() if name not in varying}


def test_a_request_reads_what_was_written_up_to_a_position(primary, standby):
    with serving(primary, read_url=standby.url) as api, standby.delayed():
        position = changed(api, {"hawser": ["rope"]}).headers[POSITION]
        assert re.fullmatch(r"[0-9A-F]+/[0-9A-F]+", position)
        assert "hawser" not in known(api)
        assert "hawser" in known(api, **{POSITION: position})
        assert "hawser" in known(api, **{POSITION: "now"})
        assert POSITION not in api.get(SYNONYMS).headers
        refused = api.request("GET", SYNONYMS, headers={POSITION: "yesterday"})
        assert refused.status_code == 422
        assert "yesterday" in refused.json()["detail"]
    standby.follow(primary)


def test_a_change_reads_what_it_changes_from_the_primary(primary, standby):
    with serving(primary, read_url=standby.url) as api, standby.delayed():
        answer = changed(api, {"bollard": ["post"]}).json()
        assert "bollard" in {row["term"] for row in answer["synonyms"]}
    standby.follow(primary)


def test_a_service_without_standbys_tells_no_position(primary):
    with serving(primary) as api:
        assert POSITION not in changed(api, {"fender": ["buffer"]}).headers


@pytest.mark.parametrize("reads", [{}, {"library": "harbour", "top_k": 3, "snippets": True}])
def test_a_search_on_a_standby_is_recorded_on_the_primary_as_one_there(primary, standby, reads):
    kept = []
    for url in (None, standby.url):
        with serving(primary, read_url=url) as api:
            found = api.ok("/v1/search", q="mooring fees", **reads)
            assert {hit["search_id"] for hit in found["hits"]} == {found["search_id"]}
            kept.append(records(primary))
            rated = api.post("/v1/feedback", {"search_id": found["search_id"], "rating": 1})
            assert rated.status_code == 200, rated.text
    assert kept[0] == kept[1]


def test_a_key_sees_its_libraries_on_a_standby(primary, standby):
    with psycopg.connect(primary, autocommit=True) as connection:
        [secret] = connection.execute(
            "select pgrag.create_key('pilot', 'search', '{harbour}')"
        ).fetchone()
    standby.follow(primary)
    headers = {"Authorization": f"Bearer {secret}"}
    with serving(primary, read_url=standby.url, policy=Policy(needs_key=True)) as api:

        def asked(url):
            return api.request("GET", url, headers=headers)

        assert api.get("/v1/libraries").status_code == 401
        listed = asked("/v1/libraries").json()["libraries"]
        assert [row["library"] for row in listed] == ["harbour"]
        assert asked("/v1/search?q=moorings").json()["hits"]
        hidden = asked("/v1/search?q=Gebühren&library=port/authority")
        assert hidden.status_code == 404
        [read] = api.app.database.replicas.databases
        pools = read.pools()
        assert ("read", True) in pools
        # Admission and audit are the primary's.
        assert not any(name == "admission" for name, _ in pools)


def test_readiness_metrics_doctor_and_status_tell_how_far_a_standby_is(primary, standby):
    read_url = f"{standby.url} application_name=reader"
    with serving(primary, read_url=read_url, metrics=Metrics) as api:
        ready = api.ok("/readyz")
        [told] = [each for each in ready["findings"] if each["name"] == "replica"]
        assert re.fullmatch(
            r"Replica 1 follows, [\d,]+ bytes and \d+\.\d seconds behind the primary\.",
            told["message"],
        )
        names = {
            (sample.name, sample.labels.get("replica"), sample.labels.get("server"))
            for family in api.metrics.registry.collect()
            for sample in family.samples
        }
        assert {("pgrag_replica_lag_bytes", "1", None), ("pgrag_replica_fit", "1", None)} <= names
        assert ("pgrag_connections", None, "primary") in names
        with standby.delayed():
            changed(api, {"winch": ["crane"]})
            [behind] = standings(primary, standby.url)
            assert behind.lag_bytes > 0
            assert behind.lag_seconds > 0
        assert [each.level for each in api.app.findings() if each.name == "replica"] == ["ok"]
    standby.follow(primary)


def test_a_server_of_another_database_is_no_replica(primary, database_url):
    # The read servers of a test lane are a cluster of their own.
    [standing] = standings(primary, database_url)
    assert standing.level == "wrong"
    assert "no copy" in standing.message


def test_a_server_without_the_schema_is_not_read(primary, empty_database_url, caplog):
    with App(Settings(database_url=primary, read_url=empty_database_url)) as app:
        assert app.search.search("moorings").rows
        [finding] = [each for each in app.findings() if each.name == "replica"]
    assert "The database has no pgrag schema yet." in caplog.text
    assert finding.level == "wrong"


def test_a_program_sees_what_was_written_before_its_first_call(primary, standby, tmp_path):
    (tmp_path / "a.md").write_text("# Dredger\n\nA dredger deepens the basin.")
    with standby.delayed():
        with pgrag.connect(primary, read_url=standby.url) as writer:
            writer.index("dredger", str(tmp_path))
        with pgrag.connect(primary, read_url=standby.url) as reader:
            assert reader.search("deepens", "dredger").hits
    standby.follow(primary)


def test_a_command_finds_what_the_last_one_wrote_and_status_and_upgrade_know_standbys(
    primary, standby, tmp_path
):
    def pgrag(*arguments, url=primary, read_url=standby.url):
        urls = {"PGRAG_DATABASE_URL": url, "PGRAG_READ_URL": read_url}
        command = [sys.executable, "-m", "pgrag", *arguments]
        return subprocess.run(
            command, env=os.environ | urls, check=True, capture_output=True, text=True
        ).stdout

    (tmp_path / "a.md").write_text("# Gantry\n\nA gantry spans the quay.")
    with standby.delayed():
        pgrag("index", "gantry", str(tmp_path))
        assert "A gantry spans the quay." in pgrag("search", "spans", "--library", "gantry")
    standby.follow(primary)
    assert "follows, " in pgrag("db", "status")
    upgraded = pgrag("db", "upgrade", url=standby.url, read_url="")
    assert upgraded.startswith("The database is up to date")


def test_a_url_of_a_program_does_not_read_the_standbys_of_another_database(monkeypatch, primary):
    monkeypatch.setenv("PGRAG_DATABASE_URL", "postgresql://elsewhere/docs")
    monkeypatch.setenv("PGRAG_READ_URL", "postgresql://nowhere/docs")
    with pgrag.connect(primary) as client:
        assert client._app.read_url is None
    assert load_settings().read_url is not None


def test_the_short_way_of_a_search_leaves_standbys_to_the_full_program(monkeypatch, primary):
    monkeypatch.setenv("PGRAG_DATABASE_URL", primary)
    assert quick.address() is not None
    monkeypatch.setenv("PGRAG_READ_URL", primary)
    assert quick.address() is None


def test_standbys_of_the_embedded_database_are_refused(monkeypatch):
    monkeypatch.setenv("PGRAG_READ_URL", "postgresql://standby/docs")
    with pytest.raises(errors.SettingsError, match=r"PGRAG_READ_URL .*PGRAG_DATABASE_URL"):
        load_settings()


def test_a_standby_alone_is_searched_and_says_what_writes(primary, standby, tmp_path):
    (tmp_path / "a.md").write_text("# Anchor\n\nAn anchor holds.")
    with serving(standby.url) as api:
        assert api.ok("/v1/search", q="moorings")["hits"]
        refused = api.request("PATCH", SYNONYMS, json={"synonyms": {"a": ["b"]}})
        assert refused.status_code == 501
        problem = refused.json()
        assert problem["type"].endswith("/read-only")
        assert "PGRAG_DATABASE_URL" in problem["hint"]
        with pytest.raises(errors.ReadOnly, match="This writes, and the database is read-only"):
            api.app.index("anchors", "", str(tmp_path))


def test_an_upgrade_of_a_standby_is_done_if_nothing_is_to_be_done(primary, standby, monkeypatch):
    with App(Settings(database_url=standby.url)) as app:
        assert app.upgrade().state == "current"
        monkeypatch.setattr(schema, "digest", lambda _: "of another version")
        with pytest.raises(errors.ReadOnly, match=r"read-only, .*Upgrade the primary"):
            app.upgrade()


@pytest.mark.skipif(missing_program() is not None, reason="needs PgBouncer")
def test_standbys_are_read_by_way_of_a_pooler(primary, standby, tmp_path):
    with (
        pooled(standby.url, tmp_path, size=1) as through,
        serving(primary, read_url=through) as api,
    ):
        for number in range(4):
            position = changed(api, {f"rope-{number}": ["line"]}).headers[POSITION]
            assert f"rope-{number}" in known(api, **{POSITION: position})
            assert api.ok("/v1/search", q="moorings")["hits"]
