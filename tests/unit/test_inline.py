"""Inline Markdown and headings to words."""

import pytest

from pgrag.ingest.text.inline import heading_text, plain


@pytest.mark.parametrize(("markdown", "words"), [
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
])  # fmt: skip
def test_plain(markdown, words):
    assert plain(markdown) == words


@pytest.mark.parametrize(("source", "words"), [
    ("Query Parameters { #query-parameters }", "Query Parameters"),
    ("Open {#open-valve .step}", "Open"),
    ("Next { .step }", "Next"),
    ("Next {: #kramdown }", "Next"),
    ("`set` functions {/*setstate*/}", "set functions"),
    ("Pour {/* #pour-tea */}", "Pour"),
    ("`useEffect(setup)` ##", "useEffect(setup)"),
    ("![logo](logo.png) Kettle [![Build](b.svg)](https://x.org)", "Kettle"),
    ("[![Kettle logo](logo.png)](https://x.org)", "Kettle logo"),
    ("![Kettle](kettle.png) boils", "Kettle boils"),
    ("`![logo](x.png)` and ![icon](y.png)", "![logo](x.png) and"),
    ("C#", "C#"),
    ('9.7.6 <small>March</small> { id="9.7.6" }', "9.7.6 March"),
    ("Changes { data-search-exclude }", "Changes"),
    ("The {mod}`json` module", "The json module"),
    ("The {braces} stay", "The {braces} stay"),
    ("{}", "{}"),
    ("", ""),
])  # fmt: skip
def test_heading_text(source, words):
    assert heading_text(source) == words


def test_headings_show_labels_that_have_a_link_and_are_cut_at_a_word():
    shown = [heading_text(each, {"2.0"}) for each in ("[2.0] - May", "[3.0] - May", "a[2.0](x)")]
    assert shown == ["2.0 - May", "[3.0] - May", "a2.0"]
    words = heading_text("word " * 2000)
    assert len(words) <= 200
    assert words.endswith("word…")
