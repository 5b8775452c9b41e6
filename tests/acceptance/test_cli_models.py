"""Two embedding models side by side: one in the database, one behind an endpoint."""

import re
import shutil
import zlib

import psycopg
from scripted_server import serving

MODEL = "words-32"
BUILTIN = "static-en-de-ru-256"
EARLIER = "static-minilm-256"
#: Another built-in model, as an earlier version leaves it: its vectors are shorter and reversed.
EARLIER_MODEL = f"""
insert into pgrag.embedding_models (name, provider, dimensions, checksum, settings)
select '{EARLIER}', 'builtin', 100, 'earlier', m.settings
from pgrag.embedding_models as m
where m.name = '{BUILTIN}';
insert into pgrag.model_tokens (model_id, token, prefix_lengths, embedding)
select m.model_id, t.token, t.prefix_lengths, subvector(t.embedding, 101, 100)
from pgrag.model_tokens as t
cross join pgrag.embedding_models as m
where m.name = '{EARLIER}';
select pgrag.open_version('kestrel', '2.0', model => '{EARLIER}');
"""


def count_words(handler, payload):
    """Embed texts by counting their words in 32 buckets."""
    vectors = [[0.0] * 32 for _ in payload["input"]]
    for text, vector in zip(payload["input"], vectors, strict=True):
        for word in re.findall(r"\w+", text.lower()):
            vector[zlib.crc32(word.encode()) % 32] += 1.0
    data = [{"index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    handler.reply(200, {"data": data, "model": payload["model"]})


def test_a_second_model_is_brought_in_used_missed_and_left(pgrag, kestrel):
    pgrag.run("index", "kestrel", kestrel / "2.0")
    with serving(count_words) as server:
        configured = pgrag.with_variables(
            PGRAG_EMBEDDING_URL=server.url,
            PGRAG_EMBEDDING_MODEL=MODEL,
            PGRAG_EMBEDDING_QUERY_PREFIX="query: ",
            PGRAG_EMBEDDING_RETRIES="0",
        )
        # What a library has been indexed with stays in use until somebody says otherwise.
        assert configured.json("index", "kestrel", kestrel / "2.0")["embedded"] == 0
        brought = configured.run("embed", "kestrel", "--model", MODEL, "--activate")
        assert f"12 texts of kestrel embedded by {MODEL}." in brought.out
        assert sum(len(payload["input"]) for payload in server.payloads) >= 12

        [hit, *_] = configured.hits("search", "restore one folder", "--semantic")
        assert hit["key"] == "guide/restore.md"
        assert server.payloads[-1]["input"][-1].startswith("query: ")

    unreachable = configured.run("search", "prune old copies", "-n", "1")
    assert "kestrel prune" in unreachable.out
    assert MODEL in unreachable.err or "endpoint" in unreachable.err.lower()
    assert f"its model {MODEL} is not configured here" in pgrag.run("doctor", code=1).out

    assert f"0 texts of kestrel embedded by {BUILTIN}." in (
        pgrag.run("embed", "kestrel", "--model", BUILTIN, "--activate").out
    )
    [hit, *_] = pgrag.hits("search", "prune old copies", "--semantic")
    assert hit["heading"] == "kestrel prune"


def test_a_library_of_an_earlier_built_in_model_works_and_changes_without_a_gap(
    pgrag, kestrel, tmp_path
):
    def hits():
        found = pgrag.hits("search", "restore one folder", "-l", "kestrel", "--semantic")
        return [hit["url"] for hit in found]

    def model_of(library):
        [row] = [row for row in pgrag.json("libraries") if row["library"] == library]
        return row["model"]

    def finding(library):
        [row] = [row for row in pgrag.json("doctor") if row["name"] == f"library {library}"]
        return row

    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(EARLIER_MODEL)
        source = shutil.copytree(kestrel / "2.0", tmp_path / "pages")
        # The earlier model embeds new pages, in the process and in SQL, and the queries.
        assert pgrag.json("index", "kestrel@2.0", source)["embedded"] == 12
        (source / "more.md").write_text("# Moths\n\nMoths eat the wool of the jumper.\n")
        assert pgrag.json("index", "kestrel@2.0", source)["embedded"] == 1
        different = connection.execute(
            "select count(*) from pgrag.pending_embeddings('kestrel', %s)", [BUILTIN]
        ).fetchone()
        assert different == (13,)
        worst = connection.execute(
            "select max(e.embedding <=> pgrag.embed("
            "    _pgrag.embedding_text(p.title, p.url, d.path, d.content), %s))"
            " from pgrag.embeddings as e"
            " join pgrag.documents as d using (library_id, document_id)"
            " join pgrag.pages as p on p.page_id = d.page_id"
            " where d.covers > 0",
            [EARLIER],
        ).fetchone()
        assert worst[0] < 0.001
        before = hits()
        assert any("restore" in url for url in before)

        pgrag.run("index", "fresh", kestrel / "1.4")
        assert (model_of("fresh"), model_of("kestrel")) == (BUILTIN, EARLIER)
        assert finding("fresh")["level"] == "ok"
        told = finding("kestrel")
        assert told["level"] == "warning"
        assert f"by {EARLIER}, the built-in model of an earlier version" in told["message"]
        command = re.search(r"`pgrag (.*)`", told["remedy"])
        assert command[1] == f"embed kestrel --model {BUILTIN} --activate"

        # Until the new vectors are activated, searches use the earlier ones.
        pgrag.run("embed", "kestrel", "--model", BUILTIN)
        assert hits() == before
        pgrag.run(*command[1].split())
        assert finding("kestrel")["level"] == "ok"
        assert model_of("kestrel") == BUILTIN
        assert any("restore" in url for url in hits())

        # Back again: its vectors are still there.
        back = pgrag.run("embed", "kestrel", "--model", EARLIER, "--activate")
        assert f"0 texts of kestrel embedded by {EARLIER}." in back.out
        assert hits() == before
