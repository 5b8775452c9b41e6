"""Where nothing is styled, plain texts show what those of rich show."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from pgrag.cli import output
from pgrag.cli.texts import PlainText, cell_len, is_styled
from pgrag.ground.printable import printable

WORDS = st.text(
    st.sampled_from("ab \n\t«漢é│…") | st.characters(exclude_categories=["Cs"]), max_size=12
).map(printable)


def printed(made):
    stream = io.StringIO()
    console = Console(file=stream, highlight=False, markup=False, emoji=False, width=1_000_000)
    console.print(made, soft_wrap=True)
    return stream.getvalue()


def plainly(made):
    stream = io.StringIO()
    output._Plain(stream).print(made, soft_wrap=True)
    return stream.getvalue()


@given(WORDS, WORDS, WORDS)
def test_plain_texts_show_what_those_of_rich_show(first, second, third):
    rich, plain = (
        kind.assemble(first, (second, "bold")).append(third, style="dim").append_text(kind(first))
        for kind in (Text, PlainText)
    )
    assert plainly(plain) == printed(rich)
    assert [line.plain for line in plain.split("\n")] == [line.plain for line in rich.split("\n")]
    wrapped = rich.wrap(Console(width=1_000_000), 1_000_000)
    assert [line.plain for line in plain.wrap(None, 0)] == [line.plain for line in wrapped]
    assert cell_len(first) == Text(first).cell_len
    assert plain.cell_len == rich.cell_len
    rich.rstrip()
    plain.rstrip()
    assert plain.plain == rich.plain


@pytest.mark.parametrize(
    ("variables", "styled"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"TTY_COMPATIBLE": "1"}, True),
     ({"FORCE_COLOR": ""}, False)],
)  # fmt: skip
def test_what_is_styled_is_what_rich_takes_for_a_terminal(monkeypatch, variables, styled):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    assert is_styled(stream) == Console(file=stream).is_terminal == styled
