"""A page whose title is the query comes before pages that mention its words as often."""

import pytest
from library import ingest, keys, page, rebuild_statistics, run, search

TEXT = "Tokens are rotated every night. Who rotates tokens by hand must stop the gateway first."


@pytest.fixture(scope="module")
def gateway(module_connection):
    ingest(module_connection, "gateway", [
        page("long.md", TEXT, title="How to rotate tokens and certificates of a gateway"),
        page("exact.md", TEXT, title="Rotate tokens"),
        page("other.md", "Nothing of the kind.", title="Imprint"),
        page("call.md", "Returns the token.", title="Gateway.rotateToken()"),
        page("de.md", "Die Schlüssel werden getauscht.", title="Schlüssel", language="de"),
    ])  # fmt: skip
    return "gateway"


def titles(connection, query, **arguments):
    given = {"library": "gateway", "explain": True, "top_k": 50, "levels": [2], **arguments}
    hits = search(connection, query, **given)
    return {hit["key"]: hit["explanation"]["keyword"]["title_score"] for hit in hits}


def test_whole_title_beats_a_longer_one_in_its_language_alone(connection, gateway):
    hits = run(connection, "keyword_search", query="rotate tokens", library=gateway, levels=[2])
    assert keys(hits)[:2] == ["exact.md", "long.md"]
    # Each language reads the query separately, for its own pages.
    assert titles(connection, "Schlüssel tauschen")["de.md"] == pytest.approx(1 / 2, rel=1e-5)
    for query, key, expected in [
        ("rotate tokens", "exact.md", 1), ("Rotate the token", "exact.md", 1),
        ("token", "exact.md", 1 / 2), ("rotate tokens daily", "exact.md", 2 / 3),
        ("rotate tokens", "long.md", 2 / 4), ("rotate tokens zzyzx", "exact.md", 2 / 3),
        ("nothing", "other.md", 0), ("Gateway.rotateToken", "call.md", 1),
        ("Schlüssel", "de.md", 1),
    ]:  # fmt: skip
        assert titles(connection, query)[key] == pytest.approx(expected, rel=1e-5)


def test_titles_count_as_written_and_headings_half_also_when_rebuilt(connection, gateway):
    section = {"content": TEXT, "path": ["Manual", "Rotate tokens"], "heading": "Rotate tokens"}
    ingest(connection, gateway, [page("manual.md", section, title="Manual")])
    assert titles(connection, "rotate tokens")["manual.md"] == pytest.approx(1 / 2, rel=1e-5)
    ingest(connection, gateway, [page("long.md", TEXT, title="Tokens")])
    assert titles(connection, "tokens")["long.md"] == pytest.approx(1, rel=1e-5)
    before = titles(connection, "rotate tokens")
    rebuild_statistics(connection, gateway)
    assert titles(connection, "rotate tokens") == pytest.approx(before)
    ingest(connection, "songs", [page("who.md", "A band with a drummer.", title="The Who")])
    [hit] = search(connection, "drummer", library="songs", explain=True)
    assert hit["explanation"]["keyword"]["title_score"] == 0
    # Otherwise each synonym would lower the score of the exact title.
    run(connection, "set_synonyms", library=gateway, synonyms={"rotate": ["exchange", "renew"]})
    expanded = titles(connection, "rotate tokens", query_expansion="synonyms")
    assert expanded["exact.md"] == pytest.approx(1, rel=1e-5)


def test_long_query_is_less_of_a_title_in_each_library(connection, gateway):
    """A language that knows its stop words counts fewer words, in its own library alone."""
    query = "tauscht heute die Schlüssel der Gateways"
    ingest(connection, "plain", [page("a.md", "Die Schlüssel.", title="A")], language="simple")
    ingest(connection, "german", [page("b.md", "Die Schlüssel.", title="B")], language="german")

    def shares(library):
        hits = search(connection, query, library=library, explain=True, top_k=50)
        return {h["library"]: h["explanation"]["keyword"]["title_evidence"] for h in hits}

    alone = shares("plain") | shares("german")
    assert alone["plain"] < alone["german"] == 0.5
    assert shares(None).items() >= alone.items()
    # Four words count in full, stop words not at all.
    for query, counts in [
        ("rotate tokens of gateways nightly", 1),
        ("how do I rotate the tokens of all these gateways nightly", 1),
        ("rotate tokens of gateways nightly by hand", 4 / 5),
        ("rotate rotate rotate tokens tokens", 1),
        ("rotate tokens of gateways nightly by hand without certificates or any operators", 4 / 8),
        ("the", 1),
    ]:
        for hit in search(connection, query, library=gateway, explain=True):
            why = hit["explanation"]["keyword"]
            share = 0.5 * counts
            assert why["title_evidence"] == pytest.approx(share, rel=1e-5)
            evident = (1 - share) * why["page_bm25"] + share * why["title_score"]
            assert why["page_score"] == pytest.approx(evident, rel=1e-5)
    for share in [0.0, 0.5, 1.0]:
        run(connection, "configure_library", library=gateway, settings={"title_evidence": share})
        for hit in search(connection, "rotate tokens", library=gateway, explain=True):
            why = hit["explanation"]["keyword"]
            assert why["title_evidence"] == share
            evident = (1 - share) * why["page_bm25"] + share * why["title_score"]
            assert why["page_score"] == pytest.approx(evident, rel=1e-5)
            assert 0 <= hit["score"] <= 1
