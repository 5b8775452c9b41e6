"""What `pgrag doctor` says about a database on another machine."""

from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrag.ground.embedded import EmbeddedServer
from pgrag.service.doctor import _LOSSES, findings, network_warnings, settings_findings

GUARDED = {
    "user": "reader",
    "database": "docs",
    "password": "b2Nlk8u3",
    "is_open": False,
    "sslmode": "verify-full",
}


def test_a_variable_that_is_nearly_a_setting_is_named(monkeypatch):
    for name in ("RECORD_SEARCH", "RECORD_SEARCHES", "SOMETHING_ELSE", "KEY"):
        monkeypatch.setenv(f"PGRAG_{name}", "true")
    [found] = settings_findings()
    assert "PGRAG_RECORD_SEARCH;" in found.message
    assert found.remedy == "Perhaps PGRAG_RECORD_SEARCHES is meant."


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    """The TCP port of a server with a role `postgres`, the password of which is its name."""
    server = EmbeddedServer(tmp_path_factory.mktemp("doctor"))
    try:
        url = server.start(listen=True)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create role postgres login password 'postgres'")
            connection.execute("create role careful login password 'b2Nlk8u3'")
            connection.execute("create role anybody login")
        data = server.status().data_directory
        rules = data / "pg_hba.conf"
        rules.write_text(f"host all anybody 0.0.0.0/0 trust\n{rules.read_text()}")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("select pg_reload_conf()")
        found = urlsplit(url).port
        yield found
    finally:
        server.remove()


@pytest.mark.parametrize(
    ("credentials", "warned"),
    [
        ("postgres:postgres", ["password", "tls"]),
        ("anybody", ["password", "tls"]),
        ("careful:b2Nlk8u3", ["tls"]),
    ],
)
def test_a_server_elsewhere_needs_a_password_and_tls(port, credentials, warned):
    """0.0.0.0 leads to this machine, but is not loopback: it stands for another machine."""
    for host, expected in (("0.0.0.0", warned), ("127.0.0.1", [])):
        url = f"postgresql://{credentials}@{host}:{port}/pgrag"
        found = findings(url, is_embedded=False, models=[])
        warnings = [finding for finding in found if finding.level == "warning"]
        assert [finding.name for finding in warnings] == expected
        assert all(finding.ok and finding.remedy for finding in warnings)
        assert not any("b2Nlk8u3" in finding.message for finding in found)


def test_pages_that_lost_much_of_their_text_are_named(database_url):
    pages = [
        {"key": f"{number}.html", "words_shown": shown, "words_kept": kept}
        for number, (shown, kept) in enumerate([(10_000, 682), (30, 2), (100, 90), (19, 0)])
    ]
    with psycopg.connect(database_url, autocommit=True) as connection:
        for library, version in (("guide", "1"), ("guide", "2"), ("other", "")):
            sent = pages if library == "guide" else pages[2:]
            connection.execute(
                "select pgrag.ingest_pages(%s, %s, %s)", (library, Jsonb(sent), version)
            )
        read = connection.execute("select key, words_shown, words_kept from pgrag.pages('guide')")
        assert read.fetchall() == [tuple(page.values()) for page in pages]
        connection.execute("set enable_seqscan = off")
        plan = connection.execute("explain " + _LOSSES).fetchall()
        assert "pages_lost" in str(plan)
    found = [each for each in findings(database_url, is_embedded=False, models=[]) if each.remedy]
    assert [each.message for each in found if "words" in each.message] == [
        "Of 4 pages more than a tenth of the words is not indexed, most of 0.html of 1"
        " (682 of 10,000), 0.html of 2 (682 of 10,000), 1.html of 1 (2 of 30)."
    ]


def test_a_socket_needs_neither(database_url):
    found = findings(database_url, is_embedded=False, models=[])
    assert not {"password", "tls"} & {finding.name for finding in found}


@pytest.mark.parametrize(
    ("addresses", "change"),
    [
        (["", "127.0.0.1", "127.8.9.10", "::1"], {"password": "postgres", "sslmode": "disable"}),
        (["10.1.2.3", "fd00::2", "fe80::1%eth0"], {}),
        (["10.1.2.3", "fd00::2", "fe80::1%eth0"], {"password": None}),
        (["10.1.2.3"], {"sslmode": "require"}),
        (["10.1.2.3"], {"sslmode": "verify-ca"}),
    ],
)
def test_this_machine_and_a_guarded_server_are_not_warned_of(addresses, change):
    for address in addresses:
        assert list(network_warnings(address, **GUARDED | change)) == []


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        ({"password": "postgres"}, "password", "easily guessed"),
        ({"password": "Reader"}, "password", "easily guessed"),
        ({"password": "docs"}, "password", "easily guessed"),
        ({"password": None, "is_open": True}, "password", "lets everybody in"),
        ({"sslmode": "disable"}, "tls", "sslmode=disable"),
        ({"sslmode": "prefer"}, "tls", "sslmode=prefer"),
        ({"sslmode": "allow"}, "tls", "sslmode=allow"),
    ],
)
def test_each_weakness_has_a_warning(change, name, words):
    [finding] = network_warnings("10.1.2.3", **GUARDED | change)
    assert (finding.name, finding.level) == (name, "warning")
    assert words in finding.message
    assert finding.remedy
