"""Links over REST: listed, followed and searched."""

import psycopg
import pytest
from api_client import serving
from promised_shapes import assert_answered
from psycopg.types.json import Jsonb

TEXT = "The blade is cleaned with a dry brush after each cut, and oiled once a week."
#: tides → moorings → fees, and back from fees to tides.
VAULT = [
    {"key": "tides.md", "body": "x", "tags": ["water"], "front_matter": {"n": 1}, "edges": [
        {"target": "moorings.md", "line": 3, "sentence": "Then go to the moorings."},
        {"target": "fees.md", "line": 5, "kind": "depends_on", "rule": "inline:rel",
         "confidence": 0.95, "sentence": "The times depend on the fees."},
        {"target": "nowhere.md", "line": 6},
    ]},
    {"key": "moorings.md", "title": "Moorings", "body": "x", "tags": ["water"], "edges": [
        {"target": "fees.md", "line": 4, "sentence": "What it costs is listed there."},
    ]},
    {"key": "fees.md", "title": "Fees", "body": "x", "edges": [
        {"target": "tides.md", "line": 9, "sentence": "Come at high water."},
    ]},
]  # fmt: skip
TEAM = [
    {"key": "b.md", "body": "x"},
    {"key": "c.md", "body": "x"},
    *({"key": f"{tool}.md", "body": f"{tool}: {TEXT}"} for tool in ("saw", "plane")),
    {"key": "a.md", "body": "x", "edges": [
        {"target": "b.md", "fragment": "gone", "line": 3, "text": "words"},
        {"target": "nowhere", "line": 4, "kind": "needs", "rule": "inline:rel", "confidence": 0.95},
        {"target": "https://example.org", "line": 5},
    ]},
]  # fmt: skip
#: Of two passages in both versions, one has a text and the other a failure.
ENRICHED = """
select pgrag.store_enrichments('team/vault', 'context', 'scribe', '1', (
    select jsonb_agg(
        jsonb_build_object(
            'input_hash', p.input_hash, 'document_ids', p.document_ids,
            case p.key when 'saw.md' then 'text' else 'reason' end, 'Words.'
        )
    )
    from pgrag.pending_enrichments('team/vault', 'context', 'scribe', '1') as p
))
"""
LINKS = "/v1/libraries/team/vault/links"


@pytest.fixture(scope="module")
def client(clone):
    with clone() as url:
        with psycopg.connect(url) as connection:
            for library, pages, version, resolve in [
                ("vault", VAULT, "", True),
                ("team/vault", TEAM, "1.0", True), ("team/vault", TEAM, "0.9", False),
            ]:  # fmt: skip
                connection.execute(
                    "select pgrag.ingest_pages(%s, %s, %s, resolve => %s)",
                    [library, Jsonb(pages), version, resolve],
                )
                if resolve:
                    connection.execute("select pgrag.finish_version(%s, %s)", [library, version])
            connection.execute("select pgrag.embed_pending('vault', 'edge')")
            connection.execute(ENRICHED)
        with serving(url) as client:
            yield client


@pytest.fixture(scope="module")
def ids(client):
    """The ids of the pages of the vault."""
    rows = client.app.database.call("pages", library="vault")
    return {row["key"].removesuffix(".md"): row["page_id"] for row in rows}


ROUTES = [
    ("pages/{fees}/backlinks", "backlinks", "backlinks({fees})"),
    ("pages/{fees}/backlinks?kinds=depends_on, similar_to&top_k=1", "backlinks",
     "backlinks({fees}, '{{depends_on, similar_to}}', 1)"),
    ("pages/{tides}/related?top_k=1", "related", "related_pages({tides}, 1)"),
    ("pages/{tides}/neighbourhood?depth=2&direction=out&kinds=references", "neighbourhood",
     "neighbourhood({tides}, 2, '{{references}}', 'out')"),
    ("pages/{tides}/edges?structure=1", "edges",
     "edges('vault', page_id => {tides}, structure => true)"),
    ("path?from={moorings}&to={tides}", "path", "shortest_path({moorings}, {tides})"),
    ("path?from={moorings}&to={tides}&kinds=depends_on", "path",
     "shortest_path({moorings}, {tides}, kinds => '{{depends_on}}')"),
    ("edges/search?q=what does it cost&library=vault&top_k=2", "edges",
     "search_edges('what does it cost', 'vault', top_k => 2)"),
    ("libraries/team/vault/links", "links", "links('team/vault', '1.0')"),
    ("libraries/team/vault/links?state=broken&version=^1.0", "links",
     "links('team/vault', '1.0', 'broken')"),
    ("libraries/team/vault/links?kind=needs", "links", "links('team/vault', kind => 'needs')"),
    ("libraries/team/vault/links?page=b", "links", "links('team/vault', page => 'b')"),
    ("libraries/team/vault/enrichment", "kinds", "enrichment_state('team/vault')"),
    ("libraries/team/vault/enrichment", "failures", "enrichment_failures('team/vault')"),
    ("libraries/team/vault/enrichment?version=latest&top_k=1", "kinds",
     "enrichment_state('team/vault', '1.0')"),
    ("libraries/team/vault/enrichment?version=0.9&top_k=1", "failures",
     "enrichment_failures('team/vault', '0.9', top_k => 1)"),
    ("libraries/vault/properties?examples=1", "properties",
     "properties('vault', example_count => 1)"),
    ("pages/{tides}/properties", "properties", "page_properties({tides})"
     " as p, lateral (select p.name, p.type, p.value) as r"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "member", "call"), ROUTES)
def test_a_route_answers_what_its_function_answers(client, ids, path, member, call):
    assert_answered(client, path, member, call, ids)


def test_a_version_whose_links_are_not_all_known_says_so(client):
    finished = client.ok(LINKS, version="1.0")
    begun = client.ok(LINKS, version="0.9")
    assert (finished["is_finished"], begun["is_finished"]) == (True, False)


@pytest.mark.parametrize(
    ("address", "member"),
    [
        (f"{LINKS}?state=orphan", "links"), (f"{LINKS}?", "links"),
        ("/v1/pages/{tides}/edges?direction=out", "edges"),
    ],
)  # fmt: skip
def test_rows_follow_each_other(client, ids, address, member):
    address = address.format(**ids)
    whole = client.ok(address)
    first = client.ok(f"{address}&top_k=1")
    rest = client.ok(f"{address}&after={first['next']}")
    assert first[member] + rest[member] == whole[member]
    assert (len(first[member]), rest["next"]) == (1, None)
