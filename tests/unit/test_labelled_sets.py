"""Labelled sets from files: what is read, and that faults are named with file and line."""

import pytest

from pgrag.evaluation.labelled import corpus_of, open_corpus, read_labelled_set
from pgrag.ground.errors import SourceError
from pgrag.ingest.page import PageOptions, read_page

QUERIES = '{"_id": "q1", "text": "drain a node"}\n\n{"_id": "q2", "text": "taints\u2028here"}\n'


def write(folder, **files):
    """A set with these files; names have an underscore for the dot."""
    given = {"queries_jsonl": QUERIES, "qrels_tsv": "query-id\tcorpus-id\tscore\nq1\ta.md\t2\n"}
    for name, text in (given | files).items():
        path = folder / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_queries_judgements_and_pages_that_do_not_count_are_read(tmp_path):
    write(
        tmp_path,
        qrels_tsv="q1\ta.md\t2\nq1\tb c.md\t0\r\nq2\tb c.md\t1\n",
        sources_tsv="query-id\tsource-page (quotes it)\nq1\td.md\nq1\te.md\n",
    )
    labelled = read_labelled_set(tmp_path)
    assert labelled.document() == [
        {
            "id": "q1", "text": "drain a node", "judgements": {"a.md": 2, "b c.md": 0},
            "excluded": ["d.md", "e.md"],
        },
        {"id": "q2", "text": "taints\u2028here", "judgements": {"b c.md": 1}, "excluded": []},
    ]  # fmt: skip
    labelled.require_pages({"a.md", "b c.md"})
    labelled = read_labelled_set(write(tmp_path, qrels_tsv="q1\ta.md\t1\nq1\tx.md\t1\nq2\ty\t0\n"))
    with pytest.raises(SourceError, match=r"qrels.tsv:2: the corpus has no page 'x.md', which"):
        labelled.require_pages(["a.md"])
    write(tmp_path)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels.tsv").rename(tmp_path / "qrels" / "test.tsv")
    assert len(read_labelled_set(tmp_path).queries) == 2


@pytest.mark.parametrize(("files", "message"), [
    ({"queries_jsonl": "{}\n"}, "queries.jsonl:1: the query has no _id"),
    ({"queries_jsonl": QUERIES + "{\n"}, "double quotes (column 2)."),
    ({"qrels_tsv": "q1\ta.md\t0\n"}, "qrels.tsv: no grade is above 0"),
    ({"queries_jsonl": "[" * 100_000 + "\n"}, "queries.jsonl:1: not JSON: It is nested"),
    ({"queries_jsonl": "[1]\n"}, "queries.jsonl:1: must be a JSON object"),
    ({"queries_jsonl": '{"_id": "q1", "text": " "}\n'}, "queries.jsonl:1: query 'q1' has no"),
    ({"queries_jsonl": QUERIES + QUERIES}, "queries.jsonl:4: query 'q1' occurs twice"),
    ({"queries_jsonl": "\n"}, "queries.jsonl: holds no query"),
    ({"qrels_tsv": "query-id\tcorpus-id\tscore\n"}, "qrels.tsv: holds no judgement"),
    ({"qrels_tsv": "q1\ta.md\t1\nq1 a.md 1\n"}, "qrels.tsv:2: must be 3 columns"),
    ({"qrels_tsv": "q1\ta.md\tgood\n"}, "qrels.tsv:1: the grade must be a whole number"),
    ({"qrels_tsv": "q1\ta.md\t-1\n"}, "qrels.tsv:1: the grade must be"),
    ({"qrels_tsv": "q1\ta.md\t0.5\n"}, "qrels.tsv:1: the grade must be"),
    ({"qrels_tsv": "q1\t\t1\n"}, "qrels.tsv:1: must be 3 columns"),
    ({"qrels_tsv": "q1\ta.md\t1\n\nq9\ta.md\t1\n"}, "qrels.tsv:3: there is no query 'q9'"),
    (
        {"qrels_tsv": "q1\ta.md\t1\nq1\ta.md\t2\n"},
        "qrels.tsv:2: query 'q1' and 'a.md' are judged twice",
    ),
    ({"sources_tsv": "q1\ta.md\tb.md\n"}, "sources.tsv:1: must be 2 columns"),
    ({"sources_tsv": "q7\ta.md\n"}, "sources.tsv:1: there is no query 'q7'"),
])  # fmt: skip
def test_faults_are_named_with_file_and_line(tmp_path, files, message):
    write(tmp_path, **files)
    with pytest.raises(SourceError) as caught:
        read_labelled_set(tmp_path)
    assert message in caught.value.message


def test_missing_files_and_faults_are_named_and_records_become_pages(tmp_path):
    with pytest.raises(SourceError, match="no such folder"):
        read_labelled_set(tmp_path / "nothing")
    with pytest.raises(SourceError, match=r"queries.jsonl: cannot be read"):
        read_labelled_set(tmp_path)
    (tmp_path / "queries.jsonl").write_text(QUERIES)
    with pytest.raises(SourceError, match=r"neither qrels.tsv nor"):
        read_labelled_set(tmp_path)
    with pytest.raises(SourceError, match=r"has no corpus.jsonl"):
        corpus_of(tmp_path)
    (tmp_path / "queries.jsonl").write_bytes(b'{"_id": "\xff"}')
    with pytest.raises(SourceError, match="is not UTF-8"):
        read_labelled_set(tmp_path)
    records = '{"_id": "7.1", "title": "Say \\"ärger\\": no", "text": "One.\\n\\nTwo."}\n'
    (tmp_path / "corpus.jsonl").write_text(records + '{"_id": "8", "text": "Alone."}\n', "utf-8")
    found = open_corpus(corpus_of(tmp_path))
    first, second = (read_page(f.key, f.read(), PageOptions()) for f in found.files())
    assert (first.key, first.title) == ("7.1", 'Say "ärger": no')
    assert first.body.split() == ["One.", "Two."]
    assert (second.key, second.body.strip()) == ("8", "Alone.")
    for text, message in [
        ('{"title": "a", "text": "b"}\n', "corpus.jsonl:1: the page has no _id"),
        ('{"_id": "1", "title": "a"}\n', "corpus.jsonl:1: title and text of '1'"),
        ('{"_id": "1", "text": "b"}\n' * 2, "corpus.jsonl:2: page '1' occurs twice"),
        ("\n", "corpus.jsonl: holds no page"),
    ]:
        (tmp_path / "corpus.jsonl").write_text(text)
        with pytest.raises(SourceError) as caught:
            open_corpus(tmp_path / "corpus.jsonl")
        assert message in caught.value.message
