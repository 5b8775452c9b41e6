"""A built site in a folder: its pages lead to each other, and a bad one costs nothing else."""

from pipeline_runs import Recorder, index, write

PAGE = "<!doctype html><html><body><nav>Menu</nav><main>{}</main></body></html>"
SITE = {
    "index.html": '<h1>Site</h1><p>See <a href="guide/">guide</a>.</p>',
    "guide/index.html": '<h1>Guide</h1><p>See <a href="api.html#os.join">join</a> and'
    ' <a href="../index.html">home</a>.</p>',
    "guide/api.html": '<h1>API</h1><dl><dt class="sig-object" id="os.join">join(a)</dt>'
    '<dd><p>Joins.</p></dd></dl><p>See <a href="index.html">guide</a>.</p>',
}


def test_links_between_files_of_html_resolve_to_pages_and_sections(database, tmp_path):
    write(tmp_path, {key: PAGE.format(body) for key, body in SITE.items()})
    write(tmp_path, {"bad.html": "<div>" * 10_000})
    report = index(database, Recorder(), tmp_path)
    assert (report.written, list(report.failed)) == (3, ["bad.html"])
    assert "nests more than 5,000 elements" in report.failed["bad.html"]
    assert {state: n for state, n in report.links.items() if n} == {"resolved": 4}
    with database.connection() as connection:
        rows = connection.execute(
            "select t.key, e.fragment, e.fragment_found, d.anchor from pgrag.edges as e"
            " join pgrag.pages as t on t.page_id = e.target_page_id"
            " left join pgrag.documents as d on d.document_id = e.target_document_id"
            " where e.fragment is not null"
        ).fetchall()
    assert [tuple(row.values()) for row in rows] == [("guide/api.html", "os.join", True, "os.join")]
