"""Pages that would take their parser too long are read without what costs the time."""

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats import formats
from pgrag.ingest.formats.html import limits
from pgrag.ingest.formats.html.limits import within_limits

PAGE = "<html><body><main>{}</main></body></html>"


def numbered(unit, count=4000):
    return "".join(unit.replace("#", str(number)) for number in range(count))


@pytest.mark.parametrize(("body", "names"), [
    (numbered("<p><font a#=1>word"), "<font>"),
    (numbered("<p><b class=c#>word</i>"), "<b>"),
    (numbered("<I x=#>") + numbered("<p>word"), "<i>"),
    (numbered("<b x=#>") + "<p>word</p>" * 4000 + "</b>" * 4000, "<b>"),
])  # fmt: skip
def test_formatting_that_never_ends_is_left_out_with_a_warning(body, names):
    text, warnings = within_limits("a.html", PAGE.format(body))
    assert warnings == [f"a.html: has too many {names} that do not end; it is read without them"]
    assert text.count("word") == 4000
    assert len(text) < len(body)
    read = formats.convert("a.html", PAGE.format(body).encode())
    assert read.markdown.count("word") == 4000
    assert warnings[0] in read.warnings


def test_formatting_of_ordinary_pages_stays():
    for body in [
        numbered("<p><font a=#>word</font> <b><i>x</i></b> <code>y</code>"),
        numbered("<p><b>word"),  # equal ones are opened again three times at most
        "<font size=2>" * 300 + "<p>word",
        numbered("<font size=#>", 20) + numbered("<p>word", 2000),
    ]:
        assert within_limits("a.html", PAGE.format(body)) == (PAGE.format(body), [])


def test_thousands_of_attributes_of_one_element_are_left_out():
    for attributes in (numbered(" a#=1"), numbered(" a#='>'"), numbered(" a#"), numbered(' "a#')):
        text, warnings = within_limits("a.html", f"<p>x<div{attributes}><p>word</div>")
        assert "word" in text or '"' in attributes
        assert len(warnings) == 1
        assert "<div> with more than 1,000 attributes" in warnings[0]
    drawing = f"<svg><path d='{'M 1 2 ' * 5000}'/></svg><img src='data:{'a' * 50_000}'><p>word"
    assert within_limits("a.html", drawing) == (drawing, [])


def test_what_nests_without_end_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(limits, "_DEEPEST", 100)
    assert within_limits("a.html", "<div><ul><li>x</ul></div>" * 200)[1] == []
    for body in ("<div>" * 101, "<TABLE><tr><td>" * 101, "<fieldset>" * 101):
        with pytest.raises(SourceError, match="nests more than 100 elements") as error:
            within_limits("a.html", PAGE.format(body))
        assert error.value.hint
