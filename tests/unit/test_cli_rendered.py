"""Markdown as a terminal shows it."""

import pytest
from rich.cells import cell_len

from pgrag.cli.rendered import excerpt, plain, rendered


def shown(markdown, width=72):
    return [line.plain for line in rendered(markdown, width)]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        (r"1\. Bring \(or send\) it\.  \[y\]", "1. Bring (or send) it. [y]"),
        (r"**bold**, *light*, __strong__, 2 ** 3, a_b_c", "bold, light, strong, 2 ** 3, a_b_c"),
        ('see [the **guide**](guide.md "A (guide)") and [one][two]', "see the guide and one"),
        ("[[Page|the page]], [[#Other]] and ![a dog](dog.png)", "the page, Other and a dog"),
        ("<https://a.example/b_c_d> or <me@a.example>", "https://a.example/b_c_d or me@a.example"),
        ("`f(**kwargs)` and ``a ` b`` and `1\\. x`", r"f(**kwargs) and a ` b and 1\. x"),
        ("one<br/>two <b>three</b> <!-- four -->&amp;&nbsp;five[^1]", "one two three & five"),
        ("~~old~~ ==new== &notanentity", "old new &notanentity"),
        ("a [ ] task, an array[0] and [required]", "a [ ] task, an array[0] and [required]"),
    ],
)  # fmt: skip
def test_inline_marks_are_not_shown_and_code_is_kept(markdown, expected):
    assert plain(markdown) == expected


def test_blocks_keep_their_form_without_their_marks():
    text = """# Title {#top}

First line
of a paragraph with a\\
break.

> [!note] Mind
> the gap ^block-1

> [!warning]
> of [[steps|the steps]] and [[stairs|those]]

- item
  1. inner
10) ten

---
[ref]: https://a.example
:::tip
Setext
======

```python
x = "# no **heading**"  # 1\\. stays
    | no | table |
```

    indented | code

数据库是
仓库。
"""
    assert shown(text) == [
        "Title", "", "First line of a paragraph with a break.", "", "Mind: the gap", "",
        "Warning: of the steps and those", "",
        "- item", "  1. inner", "10) ten", "", "Setext", "",
        '  x = "# no **heading**"  # 1\\. stays', "      | no | table |", "",
        "  indented | code", "", "数据库是仓库。", "",
    ]  # fmt: skip


def test_lines_are_broken_between_words_and_wide_signs_count_twice():
    text = "- " + "alpha-beta gamma `code words` " * 8 + "\n\n" + "数据库是仓库。" * 20
    lines = shown(text, 40)
    assert max(map(cell_len, lines)) <= 40
    assert all(line.startswith("  ") for line in lines[1 : lines.index("")])
    words = " ".join(lines[: lines.index("")]).split()
    assert set(words) == {"-", "alpha-beta", "gamma", "code", "words"}


TABLE = """| Option | Default | Meaning |
|---|---:|---|
| `zebra` | 1 | stripes \\| of an animal |
| `giraffe` | 22 | length of the neck |"""


def test_a_table_is_whole_or_left_out_but_for_the_rows_with_matches():
    assert shown(TABLE) == [
        "Option   Default  Meaning",
        "zebra    1        stripes | of an animal",
        "giraffe  22       length of the neck",
    ]
    assert shown(TABLE, 30) == ["[table]"]
    content = f"Before.\n\n{TABLE}\n\nAfter."
    cut = "Default | Meaning |\n|---|---:|---|\n| `**zebra**` | 1 | stripes \\| of"
    assert [line.plain for line in excerpt(cut, content, 72)] == shown(TABLE)
    assert [line.plain for line in excerpt(cut, content, 36)] == [
        "[table] zebra · 1 · stripes | of an",
        "        animal",
    ]


CODE = """Run this, with [the options](options.md#all):

```sh
kestrel copy --until-yesterday /home/me
kestrel prune_old_copies --keep 7
```

Then **read** on."""


def test_an_excerpt_completes_cut_words_and_knows_where_code_begins():
    cut = "me\nkestrel **prune**_old_**copies** … # later"
    lines = [line.plain for line in excerpt("… yesterday /home/" + cut, CODE, 72)]
    assert lines[:2] == ["  … --until-yesterday /home/me", "  kestrel prune_old_copies"]
    lines = excerpt("with [the **options**]:\n\n```sh\nkestrel **copy** --until", CODE, 72)
    assert lines[0].plain == "with the options:"
    assert lines[1].plain == "  kestrel copy --until-yesterday"
    spans = [(line.plain, span) for line in lines for span in line.spans]
    marked = [text[span.start : span.end] for text, span in spans if "bold" in span.style]
    assert marked == ["options", "copy"]


def test_an_excerpt_may_begin_and_end_in_code_within_a_line():
    content = "It accepts `text/html` or `Accept: application/xhtml+xml`; files still `404` here."
    cut = "xhtml+xml`; files **still** `**404**`"
    [line] = excerpt(cut, content, 72)
    assert line.plain == "application/xhtml+xml; files still 404"
    [line] = excerpt("It **accepts** `text/html` or `Accept: appl", content, 72)
    assert line.plain == "It accepts text/html or Accept: application/xhtml+xml;"


def test_an_excerpt_that_differs_from_its_source_is_shown_as_it_is():
    content = "A <abbr>CDN</abbr> serves files of others. But it is possible to <b>change</b> it."
    cut = "A  CDN  **serves** files of others. But it is possib"
    assert excerpt(cut, content, 72)[0].plain == "A CDN serves files of others. But it is possible"
    cut = "A  CDN  **serves** files of others. But it is possible to  chan"
    assert excerpt(cut, content, 72)[0].plain == f"{' '.join(cut.split()).replace('**', '')}"


def test_pieces_of_an_excerpt_are_never_glued_into_code():
    far = CODE.replace("Run this", f"Run this {'now and again ' * 9}")
    lines = [line.plain for line in excerpt("Run **this** … kestrel **prune**_old", far, 72)]
    assert lines == ["Run this", "…", "  kestrel prune_old_copies"]
    cut = "**Run** this now and again … Then **read** on."
    assert [line.plain for line in excerpt(cut, far, 72)] == [
        "Run this now and again … Then read on."
    ]


def test_pieces_that_a_few_characters_separate_are_one():
    lines = [line.plain for line in excerpt("```sh\nkestrel **copy** … /home/me", CODE, 72)]
    assert lines == ["  kestrel copy --until-yesterday /home/me"]


def test_control_characters_never_reach_the_terminal():
    assert plain("a") == "a"
    assert shown("a\x1b[2Jb") == [r"a\x1b[2Jb"]
    assert excerpt("a\x1b[2J**b**", "x", 72)[0].plain == r"a\x1b[2Jb"
    assert shown("a&#x202e;b &#8203;c &#x9b;d") == ["a\\u202eb \\u200bc ›d"]


@pytest.mark.parametrize(
    "piece",
    ["<!--", "**a", "`a ", "[a", "![a](", "__a ", "~~a", "<a ", "| - ", "- ", "*a _b ", "[["],
)
def test_what_is_never_closed_is_read_in_proportion_to_its_length(piece):
    rendered(piece * 20_000, 72)
    excerpt(piece * 100, piece * 1000, 72)
