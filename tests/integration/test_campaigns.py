"""Campaigns against a service: overload, and requests that schemathesis makes of the OpenAPI."""

import psycopg
import pytest
from campaign import __main__ as whole
from campaign import overload, rest, services, worst
from campaign.outcome import Outcome
from campaign.servers import execute

from pgrag.ground.schema import sql_root


def broken(url: str, table: str = "lexeme_statistics") -> str:
    """Let whatever needs a table fail in the database: suggestions, or searches."""
    with psycopg.connect(url) as connection:
        connection.execute(f"alter table pgrag.{table} rename to elsewhere".encode())
    return url


def test_a_flood_gets_documented_answers(database_url, monkeypatch):
    # The percentile, and how many requests come at all, depend on what else the machine does.
    monkeypatch.setattr(overload, "TIMES_SLOWER", 1000)
    monkeypatch.setattr(worst, "KINDS", {"pages of a taken library": worst.KINDS["pages"]})
    monkeypatch.setattr(worst, "HALVES", {"half requests": b""})
    outcome = overload.run(database_url, count=12, seed=1)
    assert outcome.faults == []
    assert outcome.counts["× 429"] > 20
    assert outcome.counts["× 200"] > 0
    assert outcome.counts["polite searches"] > 10
    assert outcome.counts["ms p95 with it"] > 0
    assert outcome.counts["× pages under pages of a taken library"] > 0
    assert outcome.counts["× searches under half requests"] > 0


def test_searches_that_fail_or_are_slow_and_other_answers_are_reported(database_url, monkeypatch):
    monkeypatch.setattr(overload, "ANSWERS", {"429"})
    monkeypatch.setattr(overload, "_worst", lambda *_: ({}, []))
    create_keys = overload.create_keys

    def keys_of_a_broken_database(url: str, **keys: object) -> dict[str, str]:
        made = create_keys(url, **keys)
        broken(url, "pages")
        return made

    monkeypatch.setattr(overload, "create_keys", keys_of_a_broken_database)
    slow, other = overload.run(database_url, count=8, seed=1).faults
    assert slow.startswith("polite searches took inf s")
    assert other.startswith("answers to the flood: {'")


def test_requests_of_schemathesis_pass_and_a_server_error_is_reported(database_url, monkeypatch):
    monkeypatch.setattr(rest, "ROLES", {"search": ["*"]})
    outcome = rest.run(database_url, count=15, seed=1)
    assert outcome.counts["requests"] > 50
    assert outcome.faults == []
    monkeypatch.setattr(rest.corpus, "build", broken)
    monkeypatch.setattr(rest, "ROLES", {"write": ["*"]})
    outcome = rest.run(database_url, count=15, seed=1)
    assert any("Server error" in fault for fault in outcome.faults)


def test_another_library_changes_no_answer_of_a_service(database_url):
    outcome = services.run(database_url, count=400, seed=1)
    assert outcome.counts["requests"] == 400
    assert outcome.counts["answers 200"] > 100
    assert outcome.counts["routes, tools and methods"] > 90
    assert outcome.counts["timed requests"] == 20
    assert outcome.counts["changes of a hidden library meanwhile"] > 20
    assert outcome.faults == []


#: Looks into what is hidden before the caller of a service learns that it is unknown.
LOOK = """
create function _pgrag.look(library text) returns void language plpgsql security definer as $$
begin
    perform {} from pgrag.libraries as l where l.name = library and l.name like 'zyxquokka%'
        and current_setting('lock_timeout') <> '0';
end $$
"""
LOOKING = (
    (sql_root() / "versions" / "_library_id.sql")
    .read_text("utf-8")
    .replace("begin\n", "begin\n    perform _pgrag.look(library_id.library);\n", 1)
)


@pytest.mark.parametrize(
    ("look", "count", "told"),
    [
        ("pg_sleep(0.02)", 100, "different times"),
        (
            "pg_advisory_xact_lock_shared(hashtextextended('pgrag index ' || l.name, 0))", 40,
            "'503' instead of '404'",
        ),
    ],
)  # fmt: skip
def test_a_look_at_what_is_hidden_is_reported_by_its_time_or_its_wait(
    database_url, monkeypatch, look, count, told
):
    monkeypatch.setattr(services, "SHARE_LOCKED", 0)
    build = services.Tenants.build

    def leaking(self):
        known = build(self)
        for url in (self.alone, self.both):
            execute(url, LOOK.format(look), LOOKING)
        return known

    monkeypatch.setattr(services.Tenants, "build", leaking)
    faults = services.run(database_url, count=count, seed=1).faults
    assert any(told in fault for fault in faults), faults
    assert all("zyxquokka" in fault for fault in faults)


def test_a_missing_policy_and_a_route_of_the_owner_are_reported(database_url, monkeypatch):
    monkeypatch.setattr(services, "SHARES", {"login role": 1, "search key": 1})
    with psycopg.connect(database_url) as connection:
        connection.execute("alter table pgrag.evaluation_sets disable row level security")
        connection.execute("alter function pgrag.libraries security definer")
    faults = services.run(database_url, count=300, seed=1).faults
    for told in ("quokka-set", "zyxquokka-library"):
        assert any(told in fault for fault in faults), told


@pytest.fixture
def parts(monkeypatch):
    asked = {}

    def part(name, faults):
        def run(url, **given):
            asked[name] = given
            with psycopg.connect(url) as connection:
                connection.execute("select from pgrag.libraries")
            return Outcome(name, {"calls": 3}, faults)

        return run

    monkeypatch.setattr(
        whole, "PARTS", {"whole": (part("whole", []), 3), "torn": (part("torn", ["torn!"]), 1)}
    )
    return asked


def test_all_parts_get_their_share_and_their_table_goes_into_a_page(parts, tmp_path, capsys):
    page = tmp_path / "page.md"
    marks = "<!-- figures: made by `make campaign PAGE=…` -->\nold\n<!-- end of the figures -->\n"
    page.write_text(f"Before.\n\n{marks}\nAfter.\n", "utf-8")
    assert whole.main(["--minutes", "4", "--seed", "5", "--page", str(page)]) == 1
    assert {name: given["minutes"] for name, given in parts.items()} == {"whole": 3, "torn": 1}
    assert parts["torn"]["seed"] == 5
    text = page.read_text()
    assert text.startswith("Before.\n")
    assert text.endswith("After.\n")
    assert "| torn | 3 calls | 1 | `python -m campaign --minutes 4 --seed 5` |" in text
    assert "old" not in text
    assert "torn: torn!" in capsys.readouterr().out
    assert whole.main(["--minutes", "1", "--only", "whole"]) == 0
