"""Sentence borders by rule."""

import pytest

from pgrag.ingest.text.sentences import sentence_spans, split_words


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("expected", [
    ["One ends here.", "Two asks?", "Three shouts!", "Four trails…", "Five"],
    ["Er kam z. B. am 3. Mai nach Jena.", "Dort blieb er ca. ein Jahr."],
    ["See e.g. Smith et al. for details.", "Dr. No agrees."],
    ["Он жил в г. Томске и т. д. до 1950.", "Потом уехал."],
    ["Ask the owner resp. the tenant first."],
    ["It was built in 2019.", "Then it grew."],
    ["Use version 1.2.3 or node.js here.", "It works."],
    ['He said "stop."', "Then he left."],
    ["これは文です。", "次の文！", "終わり"],
    ["It runs.", "- not a list here"],
    ["First paragraph without a full stop", "Second one"],
])  # fmt: skip
def test_sentences(expected):
    separator = "\n\n" if "Second one" in expected else "" if expected[0][0] == "こ" else " "
    assert sentences(separator.join(expected)) == expected


def test_what_has_no_sentences_or_spaces_is_cut_into_similar_parts():
    text = "word " * 500
    parts = [text[start:end] for start, end in split_words(text, 600)]
    assert " ".join(parts) == text.strip()
    assert all(400 <= len(part) <= 600 for part in parts)
    text = "x" * 2500
    parts = [text[start:end] for start, end in split_words(text, 1200)]
    assert "".join(parts) == text
    assert [len(part) for part in parts] == [834, 833, 833]
    for text in ["", "  \n ", "."]:
        assert "".join(sentences(text)) == text.strip()
