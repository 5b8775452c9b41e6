"""Our labelled questions and cited sentences: the form of their files, and what reads them."""

import re
from collections import Counter

import pytest
from benchmarks.questions import checking, citations, east_asian
from benchmarks.questions.rows import (
    KINDS,
    LANGUAGES,
    SETS,
    Question,
    Relevant,
    half,
    read,
    split_of,
    write_set,
)

from pgrag.evaluation.labelled import read_labelled_set

QUESTIONS = [question for name in SETS for question in read(name)]


def question(*relevant: Relevant, facts: tuple[tuple[str, ...], ...] = ()) -> Question:
    """A question about a little handbook."""
    return Question("x-001", "why", "x-en", "en", "how-to", "open", relevant, facts)


def test_the_questions_are_many_and_whole_and_halved_by_their_ids():
    languages = Counter(each.language for each in QUESTIONS)
    assert len(QUESTIONS) >= 300
    assert languages["de"] >= 50
    assert languages["ru"] >= 50
    assert sum(bool(each.facts) for each in QUESTIONS) >= 100
    assert {each.kind for each in QUESTIONS} == set(KINDS)
    assert len({(each.library, each.text.lower()) for each in QUESTIONS}) == len(QUESTIONS)
    assert all(each.split == split_of(each.id) for each in QUESTIONS)
    held = half(QUESTIONS, "held")
    assert 0.4 < len(held) / len(QUESTIONS) < 0.6
    assert not {each.id for each in held} & {each.id for each in half(QUESTIONS, "open")}
    for each in QUESTIONS:
        for fact in each.facts:
            assert fact, each.id
            assert all(alternative.strip() for alternative in fact), each.id
            for alternative in fact:
                if alternative.startswith("/") and alternative.endswith("/"):
                    re.compile(alternative[1:-1])
    for name in SETS:
        rows = read(name)
        prefix = name.removesuffix("-questions")
        assert [each.id for each in rows] == [f"{prefix}-{n:03}" for n in range(1, len(rows) + 1)]
        for each in rows:
            assert each.library == SETS[name]
            assert each.language in {"en", "de", "ru"}
            assert LANGUAGES.get(each.library, each.language) == each.language
            assert each.text == " ".join(each.text.split())
            assert 1 <= len(each.text.split()) <= 30
            assert {2} <= {one.grade for one in each.relevant} <= {1, 2}, each.id
            assert len({one.section for one in each.relevant}) == len(each.relevant), each.id


def test_the_east_asian_questions_are_fifty_a_language_and_whole():
    asked = east_asian.read()
    assert Counter(each.language for each in asked) == {"zh": 50, "ja": 50, "ko": 50}
    assert {*east_asian.SEGMENTERS} == {each.language for each in asked}
    assert len({each.text for each in asked}) == len({each.id for each in asked}) == 150
    for each in asked:
        assert each.kind in KINDS
        assert {2} <= {one.grade for one in each.relevant} <= {1, 2}, each.id
        assert len({one.page for one in each.relevant}) == len(each.relevant), each.id


def test_pages_are_graded_by_their_best_section_and_facts_found_in_any_case():
    asked = question(Relevant("a.md", "b", 1), Relevant("a.md", None, 2), Relevant("c.md", "d", 1))
    assert asked.judgements("page") == {"a.md": 2, "c.md": 1}
    assert asked.judgements("section") == {"a.md#b": 1, "a.md": 2, "c.md#d": 1}
    asked = question(facts=(("--grace-period", "never"), ("/[23]0 seconds/",), ("Two Words",)))
    assert asked.missing_facts("`--grace-period` is **30  seconds**; two\nwords") == []
    assert asked.missing_facts("40 seconds, two words") == [
        ("--grace-period", "never"),
        ("/[23]0 seconds/",),
    ]


@pytest.mark.parametrize("unit", ["page", "section"])
def test_a_written_set_is_what_pgrag_eval_reads(tmp_path, unit):
    questions = half(read("k8s-questions"), "open")
    written = read_labelled_set(write_set(questions, tmp_path / "set", unit))
    assert [(each.id, each.text, each.judgements) for each in written.queries] == [
        (each.id, each.text, each.judgements(unit)) for each in questions
    ]


def test_the_check_names_pages_sections_and_facts_that_are_not_there(tmp_path):
    (tmp_path / "a.md").write_text("# A\n\nHello.\n\n## B\n\nThe limit is 30 seconds.\n", "utf-8")
    (tmp_path / "lead.md").write_text("It lasts a day.\n\n## C\n\nMore.\n", "utf-8")
    right = question(
        Relevant("a.md", "b", 2), Relevant("lead.md", None, 2), facts=(("30 seconds",), ("a day",))
    )
    assert list(checking.faults([right], tmp_path)) == []
    wrong = question(
        Relevant("a.md", None, 2), Relevant("a.md", "b", 1), Relevant("gone.md", "b", 1),
        Relevant("a.md", "gone", 1), facts=(("30 seconds", "half a minute"),),
    )  # fmt: skip
    assert list(checking.faults([wrong], tmp_path)) == [
        "x-001: there is no section a.md",
        "x-001: there is no page gone.md",
        "x-001: there is no section a.md#gone",
        "x-001: no section that answers it says 30 seconds or half a minute",
    ]


def test_every_passage_has_a_right_and_a_wrong_sentence_whose_doubts_are_counted():
    sentences = citations.read()
    languages = Counter(each.language for each in sentences)
    assert len(sentences) == 150
    assert languages["de"] == languages["ru"] == 20
    assert len({each.id for each in sentences}) == len(sentences)
    for right, wrong in zip(sentences[::2], sentences[1::2], strict=True):
        assert (right.passage, right.key) == (wrong.passage, wrong.key)
        assert right.supported
        assert right.fault is None
        assert not wrong.supported
        assert right.sentence != wrong.sentence
    assert {each.fault for each in sentences if not each.supported} == set(citations.FAULTS)
    sentences = citations.read()[:6]
    wrong = [each.id for each in sentences if not each.supported]
    counts = citations.tally(sentences, {*wrong[:2], sentences[0].id, "another"})
    assert (counts.wrong, counts.doubted, counts.caught) == (3, 3, 2)
    assert (counts.precision, counts.recall) == (2 / 3, 2 / 3)
    assert citations.tally(sentences, set()).precision == 0
