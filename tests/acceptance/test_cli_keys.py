"""`pgrag keys` and `pgrag audit`."""

import json
import re

import psycopg
import pytest


@pytest.fixture
def pgrag(indexed):
    """What tests make is gone after them: others serve the same database."""
    yield indexed
    with psycopg.connect(indexed.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("delete from pgrag.keys")
        connection.execute("select pgrag.forget_audit('0')")


def test_a_secret_is_shown_once_and_nowhere_else(pgrag):
    made = pgrag.run("keys", "create", "Docs", "--libraries", "*", "--expires", "90d")
    [secret] = re.findall(r"^(pgrag_sk_[0-9a-f]{72})$", made.out, re.MULTILINE)
    assert made.out == f"{secret}\n"
    assert "not shown again" in made.err
    assert secret not in made.err
    again = pgrag.json("keys", "rotate", "docs", "--grace", "12h")
    assert again["name"] == "docs"
    listed, shown, log, exported, doctor, dump = pgrag.run_all(
        ("keys", "list"), ("keys", "list", "--json"), ("audit", "list"), ("audit", "export"),
        ("doctor",), ("db", "dump"),
    )  # fmt: skip
    assert "valid, 2 secrets" in " ".join(listed.out.split())
    assert shown.json[0]["libraries"] == ["*"]
    assert "rotate_key docs" in log.out
    assert [json.loads(line)["action"] for line in exported.out.splitlines()] == [
        "create_key docs", "rotate_key docs",
    ]  # fmt: skip
    for finished in (listed, shown, log, exported, doctor, dump):
        assert secret[9:] not in finished.out + finished.err
        assert again["secret"][9:] not in finished.out + finished.err
    assert "key_secrets" in dump.out
    assert pgrag.run("keys", "revoke", "docs").out == "Revoked: docs.\n"
    assert pgrag.json("keys", "list")[0]["state"] == "revoked"


def test_who_revokes_a_key_learns_of_its_jobs(pgrag):
    pgrag.run("keys", "create", "docs", "-l", "*", "--role", "write")
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        for confined in (True, False):
            connection.execute(
                "select pgrag.create_job('kestrel', %s, confined => %s)",
                ['{"source": "/docs"}', confined],
            )
        connection.execute("update pgrag.jobs set asked_by = 'docs'")
        revoked = pgrag.run("keys", "revoke", "docs").err
        jobs = connection.execute("delete from pgrag.jobs returning confined, state").fetchall()
    assert revoked == "Its jobs that waited or ran were cancelled: 1.\n"
    assert sorted(jobs) == [(False, "queued"), (True, "cancelled")]


def test_options_become_limits_and_what_is_wrong_is_said(pgrag):
    pgrag.run(
        "keys", "create", "page", "-l", "kestrel", "--origin", "https://docs.example",
        "--rate", "600/min", "--burst", 5, "--concurrency", 2, "--timeout", "1.5s",
    )  # fmt: skip
    [key] = pgrag.json("keys", "list")
    limits = {name: key[name] for name in ("rate", "burst", "concurrency", "timeout_ms")}
    assert limits == {"rate": 10, "burst": 5, "concurrency": 2, "timeout_ms": 1500}
    assert (key["kind"], key["origins"]) == ("publishable", ["https://docs.example"])
    bad = {
        ("--expires", "90"): "'90' is not a duration, such as 30s",
        ("--expires", "0d"): "'0d' is not a duration",
        ("--rate", "10"): "'10' is not a rate, such as 10/s",
        ("--rate", "0/s"): "'0/s' is not a rate",
        ("--role", "reader"): "'reader' is not one of",
    }
    for options, complaint in bad.items():
        ended = pgrag.run("keys", "create", "docs", "-l", "*", *options, code=2)
        assert complaint in " ".join(ended.err.replace("│", " ").split())
    assert "--libraries" in pgrag.run("keys", "create", "docs", code=2).err
    assert "There is no key 'docs'." in pgrag.run("keys", "revoke", "docs", code=1).err
    later = pgrag.run("keys", "create", "docs", "-l", "kestrel,later")
    assert "There is no library later yet" in later.err


def test_the_audit_is_kept_as_long_as_said(pgrag):
    pgrag.run("keys", "create", "docs", "-l", "*")
    assert pgrag.run("audit", "retention").out == "The audit is kept for 365 days.\n"
    assert pgrag.run("audit", "retention", "forever").out == "The audit is kept for ever.\n"
    assert pgrag.run("audit", "retention", 365).out == "The audit is kept for 365 days.\n"
    assert "not a number of days" in pgrag.run("audit", "retention", "long", code=2).err
    assert pgrag.json("audit", "list", "--refused") == []
    assert len(pgrag.json("audit", "list", "--allowed")) == 1
    assert pgrag.json("audit", "list", "--since", "2999-01-01") == []
    assert pgrag.run("audit", "forget", "--older-than", 0).out == "Forgotten: 1.\n"
