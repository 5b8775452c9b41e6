"""reStructuredText: docutils' language, with Sphinx' roles and directives as text."""

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
    assert "`os.path.join`" in page.body
    assert "3.2" in page.body
    assert "other" not in page.body
    assert [edge.target for edge in page.edges] == ["tides", "https://a.example/"]


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
