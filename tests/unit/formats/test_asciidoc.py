"""AsciiDoc: blocks and inline marks, with the ids of AsciiDoctor."""

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import convert
from pgrag.ingest.page import PageOptions, read_page

GUIDE = """\
= Kiln Guide
Ann Potter <ann@clay.example>
:oven: Big Kiln
:idprefix:
:idseparator: -

The {oven} is *hot*, _really_, `x_y`: https://clay.example[the site], xref:glaze.adoc#blue[Blue],
<<burning>>, kbd:[Esc].

== How to burn

.Start it
[source,bash]
----
$ kiln *now* <1>
----
<1> At once.

WARNING: It is hot.

* clay
** red
+
from the river
* sand

Take these:

size:: How large.
[[opt-q]]--quiet::
  Says nothing.

[#burning]
=== Burning & cooling

[cols="1,1",options="header"]
|===
|Item |Degrees

|clay
|1,000

2+|all of it
|===

ifdef::backend-pdf[]
On paper.
endif::[]

// a comment
include::more.adoc[]
"""


def read(text):
    return read_page("guide.adoc", text.encode(), PageOptions())


def test_sections_have_the_ids_of_asciidoctor_and_blocks_their_form():
    page = read(GUIDE)
    found = [(c.heading, c.anchor) for c in page.chunks if c.level == 1]
    assert found[1:] == [
        ("How to burn", "how-to-burn"),
        ("size", ""),
        ("--quiet", "opt-q"),
        ("Burning & cooling", "burning"),
    ]
    assert page.title == "Kiln Guide"
    body = page.body
    assert "The Big Kiln is **hot**, *really*, `x_y`: [the site](https://clay.example)," in body
    assert "[Blue](glaze.adoc#blue)" in body
    assert "[Burning & cooling](#burning)" in body
    assert "**Start it**\n\n```bash\n$ kiln *now*\n```\n\n1. At once." in body
    assert "> [!warning]\n>\n> It is hot." in body
    assert "- clay\n  - red\n\n    from the river\n- sand" in body
    assert "--quiet" in body
    assert "| Item | Degrees |\n| --- | --- |\n| clay | 1,000 |\n| all of it |  |" in body
    for hidden in ("Ann Potter", "On paper", "a comment", "idprefix", "cols="):
        assert hidden not in body
    assert page.warnings[0].endswith("the files that it includes is not read: more.adoc")


def test_underlined_titles_are_sections_and_marks_within_words_stay():
    page = read(
        "Kiln\n====\n\nHeat\n----\n\nsnake_case_name and 2*3*4, a__b.\n\n'''\n\n----\nopen\n"
    )
    assert [c.heading for c in page.chunks if c.level == 1] == ["Kiln", "Heat"]
    assert r"snake_case_name and 2\*3\*4" in page.body
    assert page.body.endswith("```\nopen\n```\n")


def test_a_key_is_no_document_and_deep_nesting_ends():
    with pytest.raises(SourceError, match=r"^key\.asc: is a key or a signature of PGP"):
        convert("key.asc", b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n")
    nested = "\n".join(f"{'*' * (1 + n % 6)} x\n+\n====" for n in range(500))
    assert "x" in convert("deep.adoc", nested.encode()).markdown


def test_a_file_that_is_included_below_a_line_of_text_is_named():
    page = convert("a.adoc", b"= Kiln\n\nSee also\ninclude::more.adoc[]\nand ash.\n")
    assert page.markdown.endswith("See also\n\n[more.adoc](more.adoc)\n\nand ash.\n")
    assert page.warnings[0].endswith("the files that it includes is not read: more.adoc")
