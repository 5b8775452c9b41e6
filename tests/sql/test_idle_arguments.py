"""An argument has its effect, or is refused with what it needs; nothing is silently ignored."""

import pytest
from library import ids, ingest, page, refused, run, search


@pytest.fixture(autouse=True)
def plant(connection):
    ingest(connection, "plant", [
        {**page(f"{n}.md", *(f"The {what} {n} opens at {k} bar." for k in range(3))), "type": kind}
        for n, (what, kind) in enumerate([("valve", "guide"), ("tap", "note"), ("cock", "")])
    ])  # fmt: skip


@pytest.mark.parametrize(("arguments", "told"), [
    ({"rrf_k": 10}, "rrf_k has an effect only with fusion=rrf"),
    ({"rrf_weights": [1, 2]}, "rrf_weights has an effect only with fusion=rrf"),
    ({"aggregate": "mean"}, "aggregate has an effect only with unit=page"),
    ({"aggregate": "rrf", "unit": "document"}, "aggregate has an effect only with unit=page"),
    ({"unit": "page", "max_per_page": 2}, "max_per_page has an effect only with unit=document"),
    ({"alpha": 0, "model": "static-en-de-ru-256"}, "model has an effect only with an alpha above"),
    ({"alpha": 1, "page_evidence": 0.5}, "page_evidence has an effect only with an alpha below"),
    ({"alpha": 1, "query_expansion": "feedback"}, "query_expansion has an effect only with"),
    ({"alpha": 1, "prefix": True}, "prefix has an effect only with an alpha below 1"),
    ({"fusion": "rrf", "alpha": 0.7, "rrf_weights": [1, 2]}, "alpha and rrf_weights are two ways"),
    ({"fusion": "rrf", "rrf_weights": [0, 0]}, "rrf_weights must not both be 0"),
])  # fmt: skip
def test_what_could_have_no_effect_is_refused(connection, arguments, told):
    with refused(connection, "PGR01", told):
        search(connection, "valve", library="plant", **arguments)
    if "aggregate" not in arguments and "unit" not in arguments:
        with refused(connection, "PGR01", told):
            run(connection, "context", query="valve", library="plant", **arguments)


@pytest.mark.parametrize(("arguments", "told"), [
    ({"expand": False, "max_documents_to_expand": 2}, "max_documents_to_expand has an effect only"),
    ({"expand": False, "max_chunks_per_document": 2}, "max_chunks_per_document has an effect only"),
    ({"expand": False, "expansion_threshold": 0.2}, "expansion_threshold has an effect only with"),
    ({"expand": False, "expansion_share": 0.2}, "expansion_share has an effect only with expand"),
    ({"intent": "off", "inject_count": 2}, "inject_count has an effect only with inject_types"),
    ({"inject_types": ["gudie"]}, "inject_types: no page has the type 'gudie'"),
])  # fmt: skip
def test_so_are_those_of_contexts_and_answers(connection, arguments, told):
    with refused(connection, "PGR01", told):
        run(connection, "context", query="valve", library="plant", **arguments)
    with refused(connection, "PGR01", told):
        run(connection, "answer_context", question="valve", library="plant", **arguments)


def test_what_the_library_or_the_strategy_supplies_counts_as_given(connection, notices):
    for arguments in (
        {"fusion": "rrf", "rrf_k": 10, "rrf_weights": [1, 2]},
        {"unit": "page", "aggregate": "mean"},
        {"alpha": 0.5, "page_evidence": 0.5, "model": "static-en-de-ru-256"},
    ):
        assert search(connection, "valve", library="plant", **arguments)
    connection.execute("update pgrag.intents set unit = 'page' where name = 'SEMANTIC'")
    assert search(connection, "valve", library="plant", intent="SEMANTIC", aggregate="mean")
    for types in (["guide"], ["Guide", "note"], []):
        assert run(
            connection, "context", query="valve", library="plant", inject_types=types,
            inject_count=2,
        )  # fmt: skip
    assert notices == []


def test_alpha_weighs_the_ranks(connection):
    def hits(**arguments):
        return search(connection, "tap 1 opens", library="plant", fusion="rrf", **arguments)

    plain = hits()
    assert [hit["score"] for hit in hits(alpha=0.5)] == [hit["score"] for hit in plain]
    for alpha, weights in ((0.7, [0.6, 1.4]), (0, [2, 0]), (0.25, [1.5, 0.5])):
        by_alpha, by_weights = hits(alpha=alpha), hits(rrf_weights=weights)
        if alpha:
            assert ids(by_alpha) == ids(by_weights)
        scores = [hit["score"] for hit in by_alpha]
        assert scores == pytest.approx([hit["score"] for hit in by_weights][: len(scores)])
    assert ids(hits(alpha=0.9)) != ids(hits(alpha=0.1))


def test_synonyms_that_are_not_there_are_a_notice(connection, notices):
    search(connection, "valve", library="plant", query_expansion="synonyms")
    assert notices == ["query_expansion=synonyms adds no synonyms: the library has none."]
    run(connection, "set_synonyms", library="plant", synonyms={"valve": ["tap"]})
    search(connection, "valve", library="plant", query_expansion="both")
    assert len(notices) == 1
