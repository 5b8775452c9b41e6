"""How a query is read, and what else may have been meant, over HTTP."""

from __future__ import annotations


def test_the_words_and_the_filters_of_a_query(harbour):
    assert harbour.ok("/v1/parse", q="tide type:guide #fees") == {
        "words": "tide",
        "filters": {"type": "guide", "tags": "fees"},
    }
    assert harbour.ok("/v1/parse", q="std::vector key: value") == {
        "words": "std::vector key: value",
        "filters": None,
    }


def test_near_words_for_a_typo(harbour):
    [first, *_] = harbour.ok("/v1/suggestions", q="pontton fees", library="harbour")["suggestions"]
    assert first["suggestion"] == "pontoon fees"
    assert (first["word"], first["replacement"], first["distance"]) == ("pontton", "pontoon", 1)
    assert first["document_count"] >= 1
    assert harbour.ok("/v1/suggestions", q="pontoon fees", library="harbour") == {"suggestions": []}
