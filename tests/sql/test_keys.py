"""Keys of callers: made, rotated, revoked, admitted within their limits, and never shown again."""

import hashlib
import re
import threading

import psycopg
import pytest
from library import ingest, page, refused, run, value
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

ADMIT = """
select *
from _pgrag.admit(
    %(hash)s, %(role)s, %(is_for_pages)s, %(origin)s, %(is_foreign)s, %(lasts)s::interval,
    %(is_for_answers)s
)
"""


def create(connection, name, **options):
    given = {"role": "search", "libraries": ["*"]} | options
    [row] = run(connection, "create_key", name=name, **given)
    return row["create_key"]


def admit(connection, secret, **options):
    given = {
        "hash": hashlib.sha256(secret.encode()).digest(), "role": "search", "is_for_pages": True,
        "origin": None, "is_foreign": False, "lasts": "1 minute", "is_for_answers": False,
    }  # fmt: skip
    return connection.execute(ADMIT, given | options).fetchone()


def finish(connection, admitted, **entry):
    request = {
        "key_id": admitted["key_id"],
        "lease": admitted["lease"] and admitted["lease"].isoformat(),
        "entry": {"action": "a"} | entry,
    }
    [ended] = connection.execute("select _pgrag.end_request(%s)", [Jsonb(request)]).fetchall()
    return ended["end_request"]


def entries(connection):
    return run(connection, "audit_log", top_k=None)


class TestSecrets:
    def test_a_secret_is_recognised_and_only_its_hash_kept(self, connection):
        secret = create(connection, "docs")
        kept = value(connection, "select hash from pgrag.key_secrets")
        assert bytes(kept) == hashlib.sha256(secret.encode()).digest()
        for table in ("keys", "key_secrets", "key_usage", "audit"):
            rows = connection.execute(f"select t::text as row from pgrag.{table} as t").fetchall()
            assert secret[9:] not in repr(rows)
        assert secret[9:] not in repr(run(connection, "keys"))
        assert re.fullmatch(r"pgrag_sk_[0-9a-f]{72}", secret)
        assert hashlib.sha256(secret[:-8].encode()).hexdigest()[:8] == secret[-8:]
        page = create(connection, "page", kind="publishable", origins=["https://docs.example"])
        assert page.startswith("pgrag_pk_")
        assert page[9:] != secret[9:]

    def test_an_admin_of_the_database_manages_keys(self, connection):
        create(connection, "docs")
        connection.execute("create role pgrag_test_admin in role pgrag_admin")
        connection.execute("set local session authorization pgrag_test_admin")
        create(connection, "other")
        run(connection, "rotate_key", name="docs")
        assert [key["name"] for key in run(connection, "keys")] == ["docs", "other"]
        assert next(entry["action"] for entry in entries(connection)) == "rotate_key docs"

    @pytest.mark.parametrize("table", ["keys", "key_secrets", "key_usage", "audit"])
    def test_readers_and_writers_see_no_keys(self, connection, table):
        create(connection, "docs")
        for role in ("pgrag_reader", "pgrag_writer"):
            connection.execute(f"set local role {role}")
            with refused(connection, "42501", "permission denied"):
                connection.execute(f"select from pgrag.{table}")
        # Nor does a role that may read every table.
        connection.execute("reset role; create role pgrag_test_reader")
        connection.execute("grant select on all tables in schema pgrag to pgrag_test_reader")
        connection.execute("set local role pgrag_test_reader")
        assert value(connection, f"select count(*) from pgrag.{table}") == 0


class TestCreation:
    def test_a_key_is_listed_with_all_but_its_secret(self, connection):
        create(
            connection, " Docs ", role="write", libraries=["b", "A", "a"], rate=0.5, burst=7,
            concurrency=3, timeout_ms=900, expires_in="90 days",
        )  # fmt: skip
        [key] = run(connection, "keys")
        assert {name: key[name] for name in ("name", "kind", "role", "libraries", "state")} == {
            "name": "docs", "kind": "secret", "role": "write", "libraries": ["a", "b"],
            "state": "valid",
        }  # fmt: skip
        limits = (key["rate"], key["burst"], key["concurrency"], key["timeout_ms"])
        assert limits == (0.5, 7, 3, 900)
        assert (key["expires_at"] - key["created_at"]).days == 90
        assert key["last_used_at"] is None
        run(connection, "revoke_key", name="docs")
        with refused(connection, "PGR01", "one that has been revoked"):
            create(connection, "docs")

    def test_the_burst_is_two_seconds_of_the_rate(self, connection):
        create(connection, "slow", rate=0.1)
        create(connection, "fast", rate=50)
        assert {key["name"]: key["burst"] for key in run(connection, "keys")} == {
            "fast": 100, "slow": 1,
        }  # fmt: skip

    @pytest.mark.parametrize(("options", "complaint"), [
        ({"name": "a b"}, "cannot be named 'a b'"),
        ({"role": "reader"}, "role must be search, write or admin, got 'reader'"),
        ({"kind": "open"}, "kind must be secret or publishable"),
        ({"libraries": []}, "at least one library"),
        ({"libraries": ["a", "*"]}, "stands alone"),
        ({"role": "admin", "libraries": ["a"]}, "role admin opens all libraries"),
        ({"libraries": ["a", None]}, "each has a name"),
        ({"libraries": None}, "at least one library"),
        ({"expires_in": "101 years"}, "expires within 100 years"),
        ({"kind": "publishable", "origins": [None]}, "not the origin"),
        ({"kind": "publishable"}, "needs the origins"),
        ({"origins": ["https://a.example"]}, "never belongs in a page"),
        (
            {"kind": "publishable", "role": "write", "origins": ["https://a.example"]},
            "may only search",
        ),
        ({"kind": "publishable", "origins": ["https://a.example/docs"]}, "not the origin"),
        ({"kind": "publishable", "origins": ["https://*.example"]}, "not the origin"),
        ({"expires_in": "0 s"}, "expires within 100 years"),
        ({"rate": 0}, "rate must be"),
        ({"rate": float("nan")}, "rate must be"),
        ({"burst": 0}, "burst must be"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"timeout_ms": 99}, "timeout_ms must be"),
        ({"answers_per_hour": -1}, "answers_per_hour must be"),
    ])  # fmt: skip
    def test_what_is_wrong_is_said(self, connection, options, complaint):
        with refused(connection, "PGR01", complaint):
            create(connection, options.pop("name", "docs"), **options)

    def test_a_library_that_is_not_there_yet_is_noticed(self, connection, notices):
        ingest(connection, "here", [page("a.md", "Words.")])
        create(connection, "docs", libraries=["here", "later"])
        assert "There is no library later yet; the key opens it once it is there." in notices


class TestRotation:
    def test_rotation_keeps_the_newest_two_secrets(self, connection):
        old = create(connection, "docs")
        [row] = run(connection, "rotate_key", name="docs", grace="1 hour")
        new = row["rotate_key"]
        assert admit(connection, old)["refusal"] is None
        assert admit(connection, new)["refusal"] is None
        assert run(connection, "keys")[0]["secrets"] == 2
        connection.execute(
            "update pgrag.key_secrets set expires_at = now() where expires_at > now()"
        )
        assert admit(connection, old)["refusal"] == "rotated"
        assert admit(connection, new)["caller"] == "docs"
        oldest = create(connection, "twice")
        [row] = run(connection, "rotate_key", name="twice")
        [again] = run(connection, "rotate_key", name="twice")
        refusals = [
            admit(connection, s)["refusal"] for s in (oldest, *row.values(), *again.values())
        ]
        assert refusals == ["unknown", None, None]
        old = create(connection, "brief")
        run(connection, "rotate_key", name="brief", grace="0 s")
        assert admit(connection, old)["refusal"] == "rotated"
        create(connection, "gone")
        run(connection, "revoke_key", name="gone")
        with refused(connection, "PGR01", "has been revoked"):
            run(connection, "rotate_key", name="gone")
        with refused(connection, "PGR17", "There is no key 'docks'"):
            run(connection, "rotate_key", name="docks")


class TestAdmission:
    def test_unknown_revoked_and_expired_keys_are_refused(self, connection):
        secret = create(connection, "docs")
        assert admit(connection, secret + "0")["refusal"] == "unknown"
        assert admit(connection, secret + "0")["caller"] is None
        connection.execute("update pgrag.keys set expires_at = now() - interval '1 s'")
        assert admit(connection, secret)["refusal"] == "expired"
        [first], [second] = (run(connection, "revoke_key", name="DOCS") for _ in range(2))
        assert first == second
        assert admit(connection, secret)["refusal"] == "revoked"
        assert run(connection, "keys")[0]["state"] == "revoked"

    def test_a_key_takes_on_a_role_that_sees_its_libraries(self, connection):
        ingest(connection, "here", [page("a.md", "Words.")])
        ids = value(connection, "select array_agg(library_id)::text from pgrag.libraries")
        limited = admit(connection, create(connection, "docs", libraries=["here", "later"]))
        assert (limited["database_role"], limited["library_ids"]) == ("pgrag_reader", ids)
        every = admit(connection, create(connection, "every", role="write"))
        assert (every["database_role"], every["library_ids"]) == ("pgrag_writer", "*")
        nothing = admit(connection, create(connection, "later", libraries=["later"]))
        assert nothing["library_ids"] == "{}"
        admin = admit(connection, create(connection, "admin", role="admin"))
        assert (admin["database_role"], admin["library_ids"]) == ("pgrag_admin", "*")

    def test_without_row_security_a_limited_key_is_refused(self, connection):
        """Whoever cannot be kept to the libraries of the key is not admitted."""
        limited = create(connection, "docs", libraries=["here"])
        every = create(connection, "every")
        connection.execute("alter table pgrag.documents disable row level security")
        assert admit(connection, limited)["refusal"] == "separation"
        admitted = admit(connection, every)
        assert (admitted["refusal"], admitted["database_role"]) == (None, None)

    def test_use_is_noted_once_a_minute(self, connection):
        secret = create(connection, "docs")
        admit(connection, secret)
        assert run(connection, "keys")[0]["last_used_at"] is not None
        connection.execute("update pgrag.keys set last_used_at = now() - interval '59 s'")
        admit(connection, secret)
        aged = "select now() - last_used_at > interval '50 s' from pgrag.keys"
        assert value(connection, aged) is True
        connection.execute("update pgrag.keys set last_used_at = now() - interval '61 s'")
        admit(connection, secret)
        assert value(connection, aged) is False

    def test_a_replica_admits_without_counting(self, connection):
        secret = create(connection, "docs", burst=1)
        connection.execute("set local transaction_read_only = on")
        admitted = [admit(connection, secret) for _ in range(3)]
        assert [each["refusal"] for each in admitted] == [None] * 3
        assert not finish(connection, admitted[0])


class TestLimits:
    def test_the_rate_of_each_key_refuses_and_says_when_to_come_again(self, connection):
        secret = create(connection, "docs", rate=0.5, burst=3)
        admitted = [admit(connection, secret) for _ in range(4)]
        assert [each["refusal"] for each in admitted] == [None, None, None, "rate"]
        assert [each["remaining"] for each in admitted] == [2, 1, 0, 0]
        assert 1.5 < admitted[3]["retry_after"] <= 2
        connection.execute("update pgrag.key_usage set full_at = full_at - interval '2 s'")
        assert admit(connection, secret)["refusal"] is None
        assert admit(connection, secret)["refusal"] == "rate"
        one, other = (create(connection, name, burst=1, rate=0.01) for name in ("one", "other"))
        assert admit(connection, one)["refusal"] is None
        assert admit(connection, one)["refusal"] == "rate"
        assert admit(connection, other)["refusal"] is None

    def test_running_requests_are_limited_until_they_end(self, connection):
        secret = create(connection, "docs", concurrency=2)
        first, second, third = (admit(connection, secret) for _ in range(3))
        assert (second["refusal"], third["refusal"]) == (None, "concurrency")
        assert third["retry_after"] > 0
        assert finish(connection, first)
        assert admit(connection, secret)["refusal"] is None
        secret = create(connection, "died", concurrency=1)
        assert admit(connection, secret, lasts="0 s")["refusal"] is None
        assert admit(connection, secret)["refusal"] is None
        assert admit(connection, secret)["refusal"] == "concurrency"

    def test_answers_are_limited_by_the_hour(self, connection):
        page = {"kind": "publishable", "origins": ["https://docs.example"]}
        from_page = {"origin": "https://docs.example", "is_foreign": True}
        secret = create(connection, "plain", **page)
        assert admit(connection, secret, **from_page)["refusal"] is None
        refused = admit(connection, secret, is_for_answers=True, **from_page)
        assert (refused["refusal"], refused["retry_after"]) == ("answers", None)
        secret = create(connection, "asking", answers_per_hour=2, **page)
        asked = [admit(connection, secret, is_for_answers=True, **from_page) for _ in range(3)]
        assert [each["refusal"] for each in asked] == [None, None, "answers"]
        assert 3590 < asked[2]["retry_after"] <= 3600
        assert admit(connection, secret, **from_page)["refusal"] is None
        connection.execute("update pgrag.key_usage set answers_since = now() - interval '2 hours'")
        assert admit(connection, secret, is_for_answers=True, **from_page)["refusal"] is None
        limits = {key["name"]: key["answers_per_hour"] for key in run(connection, "keys")}
        assert limits == {"plain": 0, "asking": 2}
        secret = create(connection, "program")
        assert admit(connection, secret, is_for_answers=True)["refusal"] is None

    @pytest.mark.parametrize("days", [-1, 1])
    def test_a_clock_that_is_set_locks_no_key_out(self, connection, days):
        """What the clock said before the change is as far off as if the table had moved."""
        secret = create(connection, "docs", rate=0.5, burst=2, concurrency=2)
        assert [admit(connection, secret)["refusal"] for _ in range(3)] == [None, None, "rate"]
        connection.execute(
            "update pgrag.key_usage set full_at = full_at - make_interval(days => %(days)s),"
            " running = array("
            "select r - make_interval(days => %(days)s) from unnest(running) as r)",
            {"days": days},
        )
        assert [admit(connection, secret)["refusal"] for _ in range(3)] == [None, None, "rate"]

    def test_processes_share_the_limits(self, clone):
        """Nobody is admitted twice for one request of the burst, however they come."""
        with clone() as url, psycopg.connect(url, autocommit=True, row_factory=dict_row) as main:
            secret = create(main, "docs", rate=0.001, burst=25, concurrency=1000)
            refusals = []

            def call():
                with psycopg.connect(url, autocommit=True, row_factory=dict_row) as own:
                    refusals.extend(admit(own, secret)["refusal"] for _ in range(20))

            callers = [threading.Thread(target=call) for _ in range(4)]
            for caller in callers:
                caller.start()
            for caller in callers:
                caller.join()
            assert (refusals.count(None), refusals.count("rate")) == (25, 55)


class TestAudit:
    def test_changes_of_keys_are_audited_and_exported_in_order(self, connection):
        create(connection, "docs")
        run(connection, "rotate_key", name="docs")
        run(connection, "revoke_key", name="docs")
        run(connection, "revoke_key", name="docs")
        assert [entry["action"] for entry in entries(connection)] == [
            "revoke_key docs", "rotate_key docs", "create_key docs",
        ]  # fmt: skip
        assert {entry["caller"] for entry in entries(connection)} == {
            value(connection, "select current_user")
        }
        rows = [row["export_audit"] for row in run(connection, "export_audit")]
        assert [row["action"].partition("_")[0] for row in rows] == ["create", "rotate", "revoke"]
        assert rows[0].keys() == entries(connection)[0].keys()

    def test_a_refusal_that_repeats_is_kept_once_a_minute(self, connection):
        nobody = {"key_id": None, "lease": None}
        refusal = {"action": "search", "allowed": False, "reason": "unknown", "address": "::1"}
        for _ in range(3):
            finish(connection, nobody, **refusal)
        finish(connection, nobody, **refusal | {"address": "::2"})
        assert [entry["address"] for entry in entries(connection)] == ["::2", "::1"]
        connection.execute("update pgrag.audit set at = at - interval '61 s'")
        finish(connection, nobody, **refusal)
        assert len(entries(connection)) == 3

    def test_what_was_allowed_is_kept_each_time(self, connection):
        admitted = admit(connection, create(connection, "docs"))
        for _ in range(2):
            finish(connection, admitted, caller="docs", action="search", library="here")
        kept = run(connection, "audit_log", caller="Docs", library="HERE", refused=False)
        assert [entry["action"] for entry in kept] == ["search", "search"]
        assert run(connection, "audit_log", refused=True) == []

    def test_old_entries_are_forgotten(self, connection):
        create(connection, "docs")
        assert value(connection, "select pgrag.audit_retention()") == 365
        assert value(connection, "select pgrag.forget_audit()") == 0
        connection.execute("update pgrag.audit set at = now() - interval '366 days'")
        assert value(connection, "select pgrag.forget_audit()") == 1
        assert value(connection, "select pgrag.keep_audit(null)") is None
        assert value(connection, "select pgrag.audit_retention()") is None
        with refused(connection, "PGR01", "1 to 36500 days"):
            value(connection, "select pgrag.keep_audit(0)")
        with refused(connection, "PGR01", "must not be negative"):
            value(connection, "select pgrag.forget_audit('-1 day')")

    def test_writing_forgets_by_the_way(self, connection):
        create(connection, "docs")
        run(connection, "record_search", query="old", hits=Jsonb([]))
        for table in ("audit", "searches"):
            connection.execute(f"update pgrag.{table} set at = now() - interval '366 days'")
        value(connection, "select pgrag.keep_searches(90)")
        connection.execute("select setseed(0.5)")
        for _ in range(600):
            finish(connection, {"key_id": None, "lease": None})
        assert value(connection, "select count(*) from pgrag.searches") == 0
        assert "create_key docs" not in {entry["action"] for entry in entries(connection)}
