"""reStructuredText: docutils' language, with Sphinx' roles and directives."""

from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.loss import Words
from pgrag.ingest.page import PageOptions, read_page

GUIDE = """\
Pumps
=====

.. _priming:

Priming
-------

See :doc:`tides`, :func:`os.path.join` and `the site <https://a.example/>`_.

.. note:: Prime it.

.. versionadded:: 3.2

.. code-block:: python
   :linenos:

   run()

.. toctree::

   other

===  ===
A    B
===  ===
1    2
===  ===
"""


def read(text):
    return read_page("guide.rst", text.encode(), PageOptions())


def test_headings_have_the_ids_of_sphinx_and_code_notes_tables_and_links_are_kept():
    page = read(GUIDE)
    found = [(c.heading_level, c.heading, c.anchor) for c in page.chunks if c.level == 1]
    assert found == [(1, "Pumps", "pumps"), (2, "Priming", "priming")]
    assert (page.title, page.url) == ("Pumps", "/guide")
    assert "```python\nrun()\n```" in page.body
    assert "> [!note]\n>\n> Prime it." in page.body
    assert "| A | B |\n| --- | --- |\n| 1 | 2 |" in page.body
    assert "`os.path.join()`" in page.body
    assert "*New in version 3.2.*" in page.body
    assert "- [other](other)" in page.body
    assert [edge.target for edge in page.edges] == ["tides", "https://a.example/", "other"]


def test_no_file_and_no_html_is_let_in(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words")
    page = read(
        f"Text.\n\n.. include:: {secret}\n\n.. literalinclude:: {secret}\n\n"
        f".. csv-table::\n   :file: {secret}\n\n.. raw:: html\n\n   <b>markup</b>\n\nEnd.\n"
    )
    assert "hidden" not in page.body
    assert "markup" not in page.body
    assert page.body.strip().startswith("Text.")
    assert page.body.strip().endswith("End.")


def test_faults_of_the_text_are_no_failure_and_what_they_hide_is_told():
    page = read("Title\n==\n\n*open `and :role:`x\n\n.. odd:: a\n   :b: c\n\n   Inside.\n")
    assert "Title" in page.body
    assert "Inside." in page.body
    table = ".. list-table::\n   :widths: x\n\n   * - Pump\n     - Valve\n\n"
    page = read("Title\n=====\n\n" + 7 * table + "End |odd| of `it`_.\n")
    assert len(page.warnings) == 6
    assert page.warnings[0].startswith('guide.rst: line 4 is left out: Error in "list-table"')
    assert page.warnings[-1] == "guide.rst: 2 more such errors"


API = """\
:orphan:

.. module:: kiln
   :synopsis: Burns.

.. class:: Oven(size, /)
   :final:

   .. method:: heat(degrees: int)
      :async:

      See :meth:`heat`, :ref:`cold`, :ref:`there <cold>` and :term:`glaze`.

      :param int degrees: how hot
      :raises ValueError: too hot

      .. versionchanged:: 2.1
         Takes *floats*.

      .. deprecated:: 3.0 Use a stove.

.. c:function:: int kiln_open(const char *path)

   Opens it.

.. program:: kiln

.. option:: -q, --quiet

   Says nothing.

.. _cold:

When it is cold
===============

.. glossary::

   glaze
      A coat of glass.

.. only:: latex and not html

   On paper.

.. only:: html or epub

   On a screen.

.. toctree::
   :hidden:

   unseen

Depth : int
    How deep [1]_.

.. [1] In metres.

.. math:: a^2
   :label: square
"""


def test_objects_are_sections_with_the_ids_of_sphinx_and_options_are_no_text():
    page = read(API)
    found = {c.anchor: c.heading for c in page.chunks if c.level == 1 and c.anchor}
    assert found["kiln.Oven"] == "class kiln.Oven(size, /)"
    assert found["kiln.Oven.heat"] == "async heat(degrees: int)"
    assert found["c.kiln_open"] == "int kiln_open(const char *path)"
    assert found["cmdoption-kiln-q"] == "-q, --quiet"
    assert found["term-glaze"] == "glaze"
    hidden = [":final:", ":synopsis:", "Burns", "orphan", "On paper", "unseen", "label"]
    assert not [words for words in hidden if words in page.body]


def test_versions_references_conditions_and_classifiers_read_as_sphinx_shows_them():
    body = read(API).body
    links = "See [`heat()`](#kiln.Oven.heat), [When it is cold](#cold), [there](#cold)"
    assert f"{links} and [glaze](#term-glaze)." in body
    assert "**Parameter degrees (int):**\nhow hot" in body
    assert "*Changed in version 2.1:* Takes *floats*." in body
    assert "*Deprecated since version 3.0:* Use a stove." in body
    assert "On a screen." in body
    assert "**Depth : int**\nHow deep [1]." in body
    assert "[1] In metres." in body
    assert "$$a^2$$" in body


def test_the_words_of_the_source_are_counted_and_included_files_named():
    text = "Kiln\n====\n\n.. comment\n\nHeat :kbd:`Esc`.\n\n.. include:: more.inc\n"
    converted = convert("guide.rst", text.encode())
    assert converted.words == Words(3, 3)
    said = "guide.rst: the text of the files that it includes is not read: more.inc"
    assert converted.warnings == (said,)
