"""Marks of notes and of dialects of Markdown, reduced to what a reader sees."""

import pytest

from pgrag.ingest.text.markdown import parse, read
from pgrag.ingest.text.notes import has_marks, reduce


@pytest.mark.parametrize(("source", "shown"), [
    ("a %%b\nc%% d %%%% `%%e%%`", "a \n d %%%% `%%e%%`"),
    ("100 %% of it\n\nand %% here", "100 %% of it\n\nand %% here"),
    (
        "[[rel:uses A|b]], [[rel:uses]] [[B]], rel: uses [[C]] rel: x",
        "[[A|b]], [[B]], [[C]] rel: x",
    ),
    ("> [!edge] uses: [[A]]\n> [!EDGE]- part of: [[B]]", "> uses: [[A]]\n> part of: [[B]]"),
    ("> [!note|wide]+ Title\n> text", "> [!note] Title\n> text"),
    ("Text ^a1b2c3\n- item ^x-1\n^last", "Text\n- item\n"),
    ("E = m ^2 and ^ a", "E = m ^2 and ^ a"),
    ("key:: v\n- **Big key**:: v\n> a:: b", "key: v\n- **Big key**: v\n> a: b"),
    ("x [a:: b] y (c:: d) [a](b::c) std::x `e:: f`", "x a: b y d [a](b::c) std::x `e:: f`"),
    (
        '[Go](a.md){ .button #x } ![i](i.png){width="5"} `c`{.py} {:.x}',
        "[Go](a.md) ![i](i.png) `c` {:.x}",
    ),
    ("Text\n{: .note title=x}\n{.wide}\n{ #a }", "Text\n\n\n"),
    ("[words]{.smallcaps} and \\frac{a}{b=1} $x]{.5}$", "words and \\frac{a}{b=1} $x]{.5}$"),
    ("{ref}`A page <a>` {doc}`/b` {py:func}`~c.d` {math}`x^2`", "A page /b `~c.d` $x^2$"),
    ("`{a}` and `{b}`", "`{a}` and `{b}`"),
    ("(label)=\nText\n(a)= b", "\nText\n(a)= b"),
    ('[TOC]\n[[_TOC_]]\n[[toc]]\n--8<-- "a.md"\n<<< @/a.js{1}', "\n\n\n\n"),
    ('=== "Linux"\n===+ "Windows"', "**Linux**\n**Windows**"),
    ("!> Take care\n?> A hint", "**Warning:** Take care\n**Tip:** A hint"),
])  # fmt: skip
def test_reduce(source, shown):
    assert has_marks(source)
    assert reduce(source) == shown
    assert source.count("\n") == shown.count("\n")


@pytest.mark.parametrize(("source", "shown"), [
    ("%%\n# No\n```\nx\n%% Yes\n\n%%\nnever closed", ["Yes", "%%\nnever closed"]),
    ("```\n%%\na\n%%\n```", ["```\n%%\na\n%%\n```"]),
    ("```{note}\n:class: wide\nText\n```", ["**Note**", "Text"]),
    ("```{admonition} Mind\nText\n```", ["**Mind**\nText"]),
    ("````{tab-set}\n```{tab-item} A\nText\n```\n````", ["**A**\nText"]),
    ("```{versionadded} 1.2\nText\n```", ["**Added in version 1.2**\nText"]),
    ("```{code-block} python\n:linenos:\nx = 1\n```", ["```python\n\nx = 1\n```"]),
    ("```{toctree}\n:maxdepth: 2\na\nb\n```\n\nText", ["Text"]),
    ("```{mermaid}\ngraph\n```", ["```{mermaid}\ngraph\n```"]),
    (":::{table} A caption\n:widths: auto\nText\n:::", ["**A caption**", "Text"]),
    (
        "::: {.callout-tip title=\"T\"}\nText\n:::\n\n::: {.column width=5}\nMore\n:::",
        ["**T**\nText", "More"],
    ),
    ("::: code-group\nText\n:::", ["Text"]),
    ("::: my.module", ["::: my.module"]),
    ("::: module", ["::: module"]),
    (
        '!!! note\n    A\n\n    === "B"\n\n        C\n\n            code',
        ["**Note**\nA", "**B**", "C", "    code"],
    ),
    ("Term\n:   Text\n\n    More", ["Term\n:   Text", "More"]),
    ("> ```\n> a\n> ```\n\n%%\nb\n%%\n\nc", ["> ```\n> a\n> ```", "c"]),
])  # fmt: skip
def test_text_in_boxes_is_text_and_what_is_commented_out_is_not(source, shown):
    blocks = [block.text.strip("\n") for section in parse(source) for block in section.blocks]
    assert [block.strip() for block in blocks] == [text.strip() for text in shown]
    assert {section.heading for section in parse(source)} == {""}


def test_in_what_was_made_of_another_format_the_marks_are_words():
    text = "a %%b%% c, (d:: e), rel: f [g](h), `i`{.j} <i class='icon'></i>k\n\n::: l\n\n:::"
    sections, _ = read(text, slugs=None)
    assert sections[0].blocks[0].text == ("a %%b%% c, (d:: e), rel: f [g](h), `i`{.j} k")
