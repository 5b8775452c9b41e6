"""What a GET cannot answer, of all routes: each row is an address, the problem, and words of it."""

from urllib.parse import quote

import pytest
from api_client import problem

from pgrag.api.problems import HTTP_KINDS, INVALID_REQUEST, KINDS

STATUS = {kind.slug: kind.status for kind in [*KINDS.values(), *HTTP_KINDS.values()]}
STATUS |= {INVALID_REQUEST.slug: INVALID_REQUEST.status}

PAGES = "libraries/harbour/versions/2.1/pages"
PARTS = ["", "/parent", "/children", "/siblings", "/ancestors", "/context"]

#: An argument is wrong by itself; the name of each that is wrong.
INVALID = [
    ("search?q=tide&top_k=0", "top_k"),
    ("search?q=tide&top_k=1001", "top_k"),
    (f"search?q=tide&top_k={10**30}", "top_k"),
    ("search?q=tide&top_k=ten", "top_k"),
    ("search?q=tide&top_k=1&top_k=2", "top_k"),
    ("search?q=tide&alpha=1.5", "alpha"),
    ("search?q=tide&alpha=nan", "alpha"),
    ("search?q=tide&min_score=inf", "min_score"),
    ("search?q=tide&levels=3", "levels"),
    ("search?q=tide&levels=1;2", "levels"),
    ("search?q=tide&filters=[1]", "filters"),
    ("search?q=tide&filters={type", "filters"),
    ("search?q=tide&mode=fuzzy", "mode"),
    ("search?q=tide&fusion=sum", "fusion"),
    ("search?q=tide&rrf_weights=1", "rrf_weights"),
    ("search?q=tide&max_per_page=0", "max_per_page"),
    ("search?q=tide&candidate_count=3000000000", "candidate_count"),
    ("search?q=tide&explain=perhaps", "explain"),
    ("search?q=tide&graph=sometimes", "graph"),
    (f"search?q=tide&library={'x' * 201}", "library"),
    ("search?q=tide&library=har%00bour", "library"),
    ("search?q=tide&lybrary=harbour", "lybrary"),
    ("search?q=tide&limit=3&query=tide", "limit query"),
    ("search/libraries", "q"),
    ("search/libraries?q=tide&top_k=0", "top_k"),
    ("search/libraries?q=tide&top_k=1001", "top_k"),
    (f"search/libraries?q={'a' * 10_001}", "q"),
    ("context?q=sill&token_budget=0", "token_budget"),
    (f"context?q=sill&token_budget={10**12}", "token_budget"),
    ("context?q=sill&format=html", "format"),
    ("context?q=sill&siblings=-1", "siblings"),
    (f"context?q=sill&max_documents_to_expand={10**10}", "max_documents_to_expand"),
    ("context?q=sill&expansion_threshold=nan", "expansion_threshold"),
    ("context?q=sill&mode=keyword", "mode"),
    ("parse", "q"),
    ("parse?q=a&x=1", "x"),
    *((f"intent?{wrong}", "q") for wrong in ("", "q=", "q=%00")),
    ("intent?q=a&language=de", "language"),
    ("suggestions?q=a&top_k=0", "top_k"),
    ("resolve", "library"),
    ("resolve?library=harbour&wanted=2", "wanted"),
    ("libraries?top_k=3", "top_k"),
    ("libraries/harbour?x=", "x"),
    ("libraries/%00", "library"),
    ("libraries/harbour/versions?page=2", "page"),
    (f"libraries/{'a' * 201}/versions", "library"),
    ("libraries/harbour/versions/%00", "version"),
    ("libraries/harbour/versions/2.1?verbose", "verbose"),
    (f"{PAGES}?top_k=0", "top_k"),
    (f"{PAGES}?top_k=99999999999", "top_k"),
    (f"{PAGES}?after=%00", "after"),
    (f"{PAGES}?from=a", "from"),
    ("libraries/harbour/changes", "from_version"),
    ("libraries/harbour/changes?from_version=1.0&since=2", "since"),
    ("libraries/harbour/text?pattern=", "pattern"),
    ("libraries/harbour/enrichment?top_k=-1", "top_k"),
    ("libraries/harbour/links?state=lost", "state"),
    (f"libraries/harbour/links?after={2**63}", "after"),
    *((f"documents/{n}{part}", "document_id") for n in ("0", "-1") for part in PARTS),
    (f"documents/{2**63}", "document_id"),
    ("documents/1?x=1", "x"),
    ("documents/1/parent?before=1", "before"),
    ("documents/1/siblings?before=-1", "before"),
    ("documents/1/siblings?after=99999999999", "after"),
    ("documents/1/context?levels=1", "levels"),
    *((f"pages/{n}{part}", "page_id") for n in ("0", "-7") for part in ("", "/outline")),
    ("pages/1?fields=title", "fields"),
    ("pages/1/outline?depth=2", "depth"),
    ("pages/1/neighbourhood?depth=0", "depth"),
    ("pages/1/neighbourhood?direction=up", "direction"),
    ("path?from=1", "to"),
]
#: Something is not there, or the database cannot use it.
REFUSED = [
    ("", "not-found", "/openapi.json"),
    ("nothing", "not-found", "/openapi.json"),
    ("search/", "not-found", "/openapi.json"),
    ("documents/", "not-found", "/openapi.json"),
    ("search?q=", "invalid-input", ""),
    ("search?q=   ", "invalid-input", ""),
    ("search?q=-tide", "invalid-input", ""),
    ("search?q=tide&library=harbor", "unknown-library", "harbour"),
    ("search?q=tide&library=harbour&version=0.1", "unknown-version", "2.1, 1.0"),
    ("search?q=tide&library=harbour&changed_since=0.1", "unknown-version", "0.1"),
    ("search?q=tide&model=ada", "unknown-model", "static-en-de-ru-256"),
    ('search?q=tide&filters={"colour":"red"}', "invalid-filter", "colour"),
    ('search?q=tide&filters={"created":"soon"}', "invalid-filter", "soon"),
    ("search?q=tide&after=yesterday", "invalid-cursor", "yesterday"),
    ("search?q=tide&exclude=tidal", "invalid-input", "exclude cannot hold 'tidal'"),
    ("context?q=sill&library=harbor", "unknown-library", "harbour"),
    ("context?q= ", "invalid-input", ""),
    ("facets?library=nonesuch", "unknown-library", "nonesuch"),
    ('facets?filters={"colour":1}', "invalid-filter", "colour"),
    ("parse?q=tide created:soon", "invalid-filter", "Column 14 of the query"),
    ("suggestions?q=x&library=nope", "unknown-library", "nope"),
    ("resolve?library=harbor", "unknown-library", "harbour"),
    ("resolve?library=harbour&version=0.1", "unknown-version", "0.1"),
    ("libraries/harbor", "unknown-library", "harbour"),
    ("libraries/harbor/versions", "unknown-library", "harbour"),
    ("libraries/harbor/versions/2.1", "unknown-library", "harbour"),
    ("libraries/harbor/versions/2.1/pages", "unknown-library", "harbour"),
    ("libraries/harbour/versions/3.0", "unknown-version", "It has: 2.1, 1.0."),
    ("libraries/harbour/versions/3.0/pages", "unknown-version", "It has: 2.1, 1.0."),
    ("libraries/harbour/versions/-", "unknown-version", "It has: 2.1, 1.0."),
    ("libraries/harbour/versions/latest/pages", "unknown-version", "It has: 2.1, 1.0."),
    ("libraries/harbour/changes?from_version=0.1", "unknown-version", "0.1"),
    ("libraries/harbour/text?pattern=(a&mode=regex", "invalid-input", "parentheses"),
    ("libraries/nowhere/text?pattern=a", "unknown-library", "nowhere"),
    ("libraries/harbour/health?checks=x", "invalid-input", ""),
    ("libraries/none/enrichment", "unknown-library", "none"),
    ("libraries/harbour/enrichment?version=nightly", "unknown-version", "nightly"),
    ("libraries/harbor/links", "unknown-library", "harbour"),
    ("libraries/harbour/links?page=nowhere", "unknown-page", "nowhere"),
    (f"libraries/harbour/links?after={10**12}", "invalid-cursor", ""),
    ("libraries/kitchens/tuning", "unknown-library", "kitchens"),
    ("edges/search?q=x&library=nothing", "unknown-library", "nothing"),
    *((f"documents/{2**62}{part}", "unknown-document", f"{2**62}") for part in PARTS),
    ("documents/999999/history", "unknown-document", "999999"),
    ("documents?library=harbour&chunk_key=tides%23c99", "unknown-document", "navigation/tides"),
    *((f"pages/{2**63 - 1}{part}", "unknown-page", "") for part in ("", "/outline")),
    *(
        (f"pages/999999999/{part}", "unknown-page", "")
        for part in ("backlinks", "related", "neighbourhood", "edges", "properties")
    ),
    ("path?from=999999998&to=999999999", "unknown-page", "99999999"),
    ("pages?library=harbour&page=tide", "unknown-page", "Did you mean navigation/tides"),
]


def address_of(path: str) -> str:
    return f"/v1/{quote(path, safe='/?&=%;-')}"


@pytest.mark.parametrize(("path", "names"), INVALID)
def test_arguments_that_cannot_be_used_are_named(harbour, path, names):
    document = problem(harbour.get(address_of(path)), 422, "invalid-request")
    assert sorted(error["field"] for error in document["errors"]) == names.split()
    assert all(name in document["detail"] for name in names.split())


@pytest.mark.parametrize(("path", "slug", "words"), REFUSED)
def test_what_is_refused_says_why(harbour, path, slug, words):
    document = problem(harbour.get(address_of(path)), STATUS[slug], slug)
    assert words in document["detail"] + document.get("hint", "")
