"""Inline Markdown to words; headings and their anchors."""

import pytest

from pgrag.ingest.text.anchors import Anchors
from pgrag.ingest.text.inline import heading_text, plain


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("**bold** and _slanted_ and ~~gone~~", "bold and slanted and gone"),
        ("***both***", "both"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("*args and **kwargs", "*args and **kwargs"),
        ("`a_b` and ``x ` y``", "a_b and x ` y"),
        ("`<video>` is `&lt;`", "<video> is &lt;"),
        ("[label](https://x.org/a_(b)) end", "label end"),
        ("[label][ref] and ![alt](x.png)", "label and alt"),
        ("[![badge](b.svg)](https://x.org)", "badge"),
        ("[[Page#Part|shown]] and [[Page]] and ![[Embed.png]]", "shown and Page and"),
        ("<https://x.org> <b>bold</b><br/>", "https://x.org bold"),
        ("a\\_b \\* &amp; &#228;", "a_b * & ä"),
        ("a\n  b", "a b"),
        ("**Datei**namen", "Dateinamen"),
        ("[not a link] and *single", "[not a link] and *single"),
    ],
)
def test_plain(markdown: str, words: str) -> None:
    assert plain(markdown) == words


@pytest.mark.parametrize(
    ("source", "words", "explicit"),
    [
        ("Query Parameters { #query-parameters }", "Query Parameters", "query-parameters"),
        ("Open {#open-valve .step}", "Open", "open-valve"),
        ("Next { .step }", "Next", None),
        ("Next {: #kramdown }", "Next", "kramdown"),
        ("`useEffect(setup)` ##", "useEffect(setup)", None),
        ("C#", "C#", None),
        ("The {braces} stay", "The {braces} stay", None),
        ("{}", "{}", None),
        ("", "", None),
    ],
)
def test_heading_text(source: str, words: str, explicit: str | None) -> None:
    assert heading_text(source) == (words, explicit)


def test_an_endless_heading_is_cut_at_a_word() -> None:
    words, _ = heading_text("word " * 2000)
    assert len(words) <= 200
    assert words.endswith("word…")


def test_anchors_are_those_of_github_and_unique() -> None:
    anchors = Anchors()
    made = [
        anchors.make(heading, explicit)
        for heading, explicit in [
            ("What's next?", None),
            ("JavaScript API Übersicht", None),
            ("snake_case & more", None),
            ("Version 2.1", None),
            ("Notes", None),
            ("Notes", None),
            ("Notes", None),
            ("Other", "notes-3"),
            ("Notes", None),
        ]
    ]
    assert made == [
        "whats-next",
        "javascript-api-übersicht",
        "snake_case--more",
        "version-21",
        "notes",
        "notes-1",
        "notes-2",
        "notes-3",
        "notes-4",
    ]
