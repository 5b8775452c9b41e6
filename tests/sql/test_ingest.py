"""Pages in and out: what changed is written, what did not keeps its rows, ids and vectors."""

import pytest
from consistency import assert_consistent
from library import contents, document, ingest, keys, page, refused, run, search, value


def rows(connection, columns: str = "document_id, content") -> list[tuple]:
    found = connection.execute(
        f"select {columns} from pgrag.documents order by page_id, sort_order"
    ).fetchall()
    return [tuple(row.values()) for row in found]


def vectors(connection) -> dict[int, tuple]:
    """Where each document's vector stands on disk: equal places mean that it was not written."""
    found = connection.execute(
        "select document_id, ctid::text, xmin::text, embedding::text from pgrag.embeddings"
    ).fetchall()
    return {row.pop("document_id"): tuple(row.values()) for row in found}


class TestUnchanged:
    def test_page_with_the_same_hash_is_not_touched(self, connection):
        pages = [page("a.md", "Drain the node."), page("b.md", "Fill it.")]
        [first, second] = ingest(connection, "tool", pages)
        assert (first["status"], first["documents"]) == ("written", 1)
        stored = connection.execute("select ctid, * from pgrag.pages order by key").fetchall()
        again = ingest(connection, "tool", pages)
        assert [row["status"] for row in again] == ["unchanged", "unchanged"]
        assert [row["page_id"] for row in again] == [first["page_id"], second["page_id"]]
        assert (
            connection.execute("select ctid, * from pgrag.pages order by key").fetchall() == stored
        )

    def test_documents_with_the_same_text_keep_id_and_vector_wherever_they_move(self, connection):
        ingest(connection, "tool", [page("a.md", "One here.", "Two here.", "Three here.")])
        before, vectors_before = dict(rows(connection)), vectors(connection)
        ingest(connection, "tool", [page("a.md", "New first.", "Three here.", "One here.")])
        after = {content: identity for identity, content in rows(connection)}
        kept = {content: identity for identity, content in before.items()}
        assert list(after) == ["New first.", "Three here.", "One here."]
        assert after["One here."] == kept["One here."]
        assert after["Three here."] == kept["Three here."]
        assert after["New first."] == kept["Two here."], "ids are taken over in order"
        unchanged = {after["One here."], after["Three here."]}
        assert {i: v for i, v in vectors(connection).items() if i in unchanged} == {
            i: v for i, v in vectors_before.items() if i in unchanged
        }
        assert_consistent(connection)

    def test_equal_texts_on_a_page_are_told_apart_by_their_order(self, connection):
        ingest(connection, "tool", [page("a.md", "Note.", "Note.", "End.")])
        first, second, end = (identity for identity, _ in rows(connection))
        ingest(connection, "tool", [page("a.md", "Note.", "Middle.", "Note.", "End.")])
        stored = [identity for identity, _ in rows(connection)]
        assert (stored[0], stored[2], stored[3]) == (first, second, end)

    def test_new_title_is_a_new_text(self, connection):
        ingest(connection, "tool", [page("a.md", "Drain the node.", title="Old")])
        [(before, _)] = rows(connection)
        vectors_before = vectors(connection)
        ingest(connection, "tool", [page("a.md", "Drain the node.", title="New")])
        [(after, _)] = rows(connection)
        assert after == before
        assert vectors(connection)[after][2] != vectors_before[before][2]
        assert keys(run(connection, "keyword_search", query="new", library="tool")) == ["a.md"]
        assert run(connection, "keyword_search", query="old", library="tool") == []


class TestChanged:
    def test_address_of_a_link_is_no_text_but_is_kept(self, connection):
        ingest(connection, "tool", [page("a.md", "See [the guide](old.md) first.")])
        before = vectors(connection)
        ingest(connection, "tool", [page("a.md", "See [the guide](new.md) first.")])
        assert rows(connection, "content") == [("See [the guide](new.md) first.",)]
        assert vectors(connection) == before

    def test_levels_that_a_document_stands_for_reach_its_vector(self, connection):
        """Alone in its section a paragraph stands for it; with a neighbour no more."""
        alone = [document("Drain the node.", covers=6)]
        ingest(connection, "tool", [page("a.md", *alone)])
        beside = [document("Drain the node.", covers=4), document("Then wait.", covers=4)]
        ingest(connection, "tool", [page("a.md", *beside)])
        assert_consistent(connection)
        assert run(connection, "semantic_search", query="drain", library="tool", levels=[1]) == []

    def test_position_lines_and_parent_follow_the_source(self, connection):
        section = document("Summary.", level=1, heading="Nodes", is_summary=True)
        ingest(
            connection, "tool",
            [page("a.md", section, document("Drain.", parent=0, line_start=3, line_end=4))],
        )  # fmt: skip
        expected = {
            "line_start": 9, "line_end": 9, "overlap": "Intro.", "position": "conclusion",
            "types": ["text", "code"], "anchor": "drain", "root_section": "Nodes",
            "heading": "Nodes", "heading_level": 2, "depth": 1,
        }  # fmt: skip
        drain = document("Drain.", parent=1, **expected)
        intro = document("Intro.", types=["text"])
        ingest(connection, "tool", [page("a.md", intro, section, drain)])
        [stored] = connection.execute(
            "select d.*, above.content as above from pgrag.documents as d join pgrag.documents as"
            " above on above.document_id = d.parent_id where d.content = 'Drain.'"
        ).fetchall()
        expected |= {"above": "Summary.", "sort_order": 2}
        assert {name: stored[name] for name in expected} == expected

    def test_all_fields_of_a_page_are_stored(self, connection):
        fields = {
            "url": "https://example.org/a", "title": "Nodes", "path": ["Guide", "Nodes"],
            "front_matter": {"audience": ["ops"], "depth": {"x": 1}}, "uuid": "u-1",
            "link": "https://wiki.example.org/1", "topic": "ops", "type": "guide",
            "tags": ["a", "b"], "language": "de", "created": "2024-02-29",
            "modified": "2024-03-01T10:00:00Z", "warnings": ["a.md: a tab"],
        }  # fmt: skip
        ingest(connection, "tool", [page("a.md", "Text.", title="Old")])
        ingest(connection, "tool", [page("a.md", "Text.", **fields)])
        [stored] = run(
            connection, "page", page_id=value(connection, "select page_id from pgrag.pages")
        )
        assert (stored["library"], stored["version"], stored["body"]) == ("tool", "", "Text.")
        assert stored["language"] == "de"
        assert stored["created"].isoformat().startswith("2024-02-29")
        same = set(fields) - {"language", "created", "modified"}
        assert {name: stored[name] for name in same} == {name: fields[name] for name in same}

    def test_page_needs_no_more_than_a_key(self, connection):
        run(
            connection, "ingest_page", library="notes", page={"key": "a/b.md", "body": "Some text."}
        )
        [hit] = search(connection, "text", library="notes")
        assert (hit["title"], hit["url"], hit["path"]) == ("a/b.md", "a/b.md", [])
        assert hit["content"] == "Some text."
        assert hit["semantic_score"] > 0


class TestVectors:
    def test_pending_texts_come_once_and_are_gone_when_stored(self, connection):
        same = page("a.md", "Drain the node.", "Drain the node.", "Fill it.")
        ingest(connection, "tool", [same], "1.0", embed=False)
        ingest(connection, "tool", [same], "2.0", embed=False)
        pending = run(connection, "pending_embeddings", library="tool")
        assert len(pending) == 2
        assert pending[0]["text"] == "A\na.md\n\nDrain the node."
        assert value(connection, "select pgrag.embed_pending('tool')") == 6
        assert run(connection, "pending_embeddings", library="tool") == []
        assert value(connection, "select pgrag.embed_pending('tool')") == 0
        assert_consistent(connection)

    def test_new_version_takes_over_the_vectors_of_equal_texts(self, connection):
        ingest(connection, "tool", [page("a.md", "Same.", "Old.")], "1.0")
        ingest(connection, "tool", [page("a.md", "Same.", "New.")], "2.0", embed=False)
        pending = run(connection, "pending_embeddings", library="tool")
        assert [row["text"].splitlines()[-1] for row in pending] == ["New."]

    def test_base_address_is_no_part_of_the_text(self, connection):
        for version in ("1.0", "2.0"):
            base = f"https://example.org/{version}"
            run(
                connection, "open_version",
                library="tool", version=version, source={"base_url": base},
            )  # fmt: skip
            ingest(
                connection, "tool", [page("a.md", "Same.", url=f"{base}/a")], version, embed=False
            )
        assert len(run(connection, "pending_embeddings", library="tool")) == 1

    def test_pending_texts_of_some_pages_and_at_most_so_many(self, connection):
        stored = ingest(
            connection, "tool", [page("a.md", "One.", "Two."), page("b.md", "Three.")], embed=False
        )
        page_ids = [stored[1]["page_id"]]
        only = run(connection, "pending_embeddings", library="tool", page_ids=page_ids)
        assert [row["text"].splitlines()[-1] for row in only] == ["Three."]
        first = run(connection, "pending_embeddings", library="tool", top_k=2)
        assert [row["text"].splitlines()[-1] for row in first] == ["One.", "Two."]

    def test_text_without_a_known_word_stays_without_vector(self, connection):
        ingest(connection, "tool", [page("ᛞ.md", "ᛞᚨᚷ", title="ᛞ", url="ᛞ")])
        assert vectors(connection) == {}
        assert len(run(connection, "pending_embeddings", library="tool")) == 1

    def test_vectors_are_scaled_to_length_one_and_of_no_other_dimension(self, connection):
        ingest(connection, "tool", [page("a.md", "One.")], embed=False)
        [pending] = run(connection, "pending_embeddings", library="tool")
        with refused(connection, "PGR08", "has 256 dimensions, got a vector of 2"):
            connection.execute(
                "select pgrag.store_embeddings('tool', 'static-en-de-ru-256', %s, '{\"[1,2]\"}')",
                [[pending["text_hash"]]],
            )
        ingest(connection, "tool", [page("a.md", "One.")], embed=False)
        run(connection, "register_model", name="tiny", dimensions=2)
        [pending] = run(connection, "pending_embeddings", library="tool", model="tiny")
        connection.execute(
            "select pgrag.store_embeddings('tool', 'tiny', %s, '{\"[3,4]\"}')",
            [[pending["text_hash"]]],
        )
        stored = value(connection, "select embedding::real[] from pgrag.embeddings")
        assert stored == pytest.approx([0.6, 0.8], abs=1e-3)


class TestModels:
    def test_registering_again_changes_prefixes_but_never_the_dimension(self, connection):
        first = value(connection, "select pgrag.register_model('m', 3)")
        again = value(
            connection, "select pgrag.register_model('m', 3, query_prefix => 'q: ', alpha => 0.7)"
        )
        assert again == first
        [stored] = connection.execute(
            "select * from pgrag.embedding_models where name = 'm'"
        ).fetchall()
        assert (stored["query_prefix"], stored["alpha"]) == ("q: ", 0.7)
        value(connection, "select pgrag.register_model('m', 3, query_prefix => 'q: ')")
        assert value(connection, "select alpha from pgrag.embedding_models where name = 'm'") == 0.7
        with refused(connection, "PGR08", "Model 'm' has 3 dimensions here, not 4."):
            run(connection, "register_model", name="m", dimensions=4)

    def test_unknown_model(self, connection):
        ingest(connection, "tool", [page("a.md", "One.")])
        for function in ("use_model", "pending_embeddings"):
            with refused(connection, "PGR09", "no embedding model 'nope'", "static-en-de-ru-256"):
                run(connection, function, library="tool", model="nope")
        with refused(connection, "PGR09"):
            run(connection, "open_version", library="other", model="nope")
        assert value(connection, "select count(*) from pgrag.libraries") == 1

    def test_using_a_model_tells_how_many_texts_lack_its_vector(self, connection):
        ingest(connection, "tool", [page("a.md", "One.", "Two.", "Two.")])
        run(connection, "register_model", name="tiny", dimensions=2)
        assert value(connection, "select pgrag.use_model('tool', 'tiny')") == 2
        assert value(connection, "select pgrag.use_model('tool', 'static-en-de-ru-256')") == 0


class TestRemoval:
    def test_removed_pages_take_their_rows_with_them(self, connection):
        ingest(connection, "tool", [page("a.md", "One."), page("b.md", "Two.")], "1.0")
        assert value(connection, "select pgrag.remove_pages('tool', '{a.md, zzz.md}', '1.0')") == 1
        assert contents(search(connection, "one two", library="tool")) == ["Two."]
        assert_consistent(connection)

    def test_removed_version_leaves_the_others(self, connection):
        for version in ("1.0", "2.0"):
            ingest(connection, "tool", [page("a.md", f"Text of {version}.")], version)
        assert value(connection, "select pgrag.remove_version('Tool ', ' 2.0')") == 1
        assert contents(search(connection, "text", library="tool")) == ["Text of 1.0."]
        assert_consistent(connection)

    @pytest.mark.parametrize(("function", "arguments"), [
        ("remove_library", {}),
        ("remove_version", {}),
        ("remove_pages", {"keys": []}),
        ("finish_version", {}),
        ("refresh_statistics", {}),
        ("configure_library", {"settings": {}}),
        ("pending_embeddings", {}),
        ("embed_pending", {}),
        ("use_model", {"model": "static-en-de-ru-256"}),
        ("store_embeddings", {"model": "x", "text_hashes": [], "vectors": []}),
        ("pages", {}),
        ("library_versions", {}),
    ])  # fmt: skip
    def test_no_library_at_all(self, connection, function, arguments):
        with refused(connection, "PGR02", "There is no library 'none'.", "No library is indexed"):
            run(connection, function, library="none", **arguments)

    def test_what_does_not_exist(self, connection):
        ingest(connection, "tool", [page("a.md", "One.")], "1.0")
        with refused(connection, "PGR02", "no library 'tol'", "tool"):
            run(connection, "remove_version", library="tol")
        for function, more in (
            ("remove_version", {}), ("remove_pages", {"keys": ["a.md"]}), ("finish_version", {}),
        ):  # fmt: skip
            with refused(connection, "PGR03", "no version '2.0'", "It has: 1.0."):
                run(connection, function, library="tool", version="2.0", **more)


class TestRenaming:
    def test_pages_swap_and_change_their_keys(self, connection):
        ingest(connection, "tool", [page("a.md", "One."), page("b.md", "Two.")], "2.0")
        ingest(
            connection, "tool",
            [page(f"{name}.md", text) for name, text in zip("abc", ("One.", "Two.", "Three."),
                                                             strict=True)],
            "1.0",
        )  # fmt: skip
        keys = "select jsonb_object_agg(p.page_id, p.key) from pgrag.pages as p"
        before = value(connection, keys)
        names = {"a.md": "b.md", "b.md": "a.md", "c.md": "deep/c.md"}
        [row] = run(connection, "rename_pages", library="Tool", new_keys=names, version="1.0")
        assert row["rename_pages"] == 3
        after = value(connection, keys)
        assert set(after.values()) == {"a.md", "b.md", "deep/c.md"}
        first = min(int(page_id) for page_id in before) + 2
        assert {page_id: after[page_id] for page_id in before if int(page_id) >= first} == {
            page_id: names[key] for page_id, key in before.items() if int(page_id) >= first
        }
        ids = "select jsonb_object_agg(d.content, d.document_id) from pgrag.documents as d"
        stored = value(connection, ids)
        ingest(connection, "tool", [page("deep/c.md", "New.", "Three.", title="C")], "1.0")
        assert value(connection, ids)["Three."] == stored["Three."]
        assert set(value(connection, keys)) == set(before)
        assert_consistent(connection)

    def test_page_that_keeps_its_key_does_not_change(self, connection):
        ingest(connection, "tool", [page("a.md", "One."), page("b.md", "Two.")])
        hashes = "select jsonb_object_agg(p.key, p.source_hash) from pgrag.pages as p"
        before = value(connection, hashes)
        names = {"a.md": "a.md", "b.md": "c.md"}
        [row] = run(connection, "rename_pages", library="tool", new_keys=names)
        assert row["rename_pages"] == 1
        assert value(connection, hashes) == {"a.md": before["a.md"], "c.md": ""}
        assert before["a.md"]

    @pytest.mark.parametrize(("keys", "complaint"), [
        ({"a.md": "b.md"}, "There is a page 'b.md' already."),
        ({"a.md": "c.md", "b.md": "c.md"}, "Two pages would have the key 'c.md'."),
        ({"z.md": "c.md"}, "There is no page 'z.md'."),
        ({"a.md": " "}, "The new key of 'a.md' is empty."),
        ({"a.md": None}, "The new key of 'a.md' is empty."),
        ('["a.md"]', "new_keys must be an object"),
    ])  # fmt: skip
    def test_what_cannot_be_renamed(self, connection, keys, complaint):
        ingest(connection, "tool", [page("a.md", "One."), page("b.md", "Two.")])
        with refused(connection, "PGR01", complaint):
            run(connection, "rename_pages", library="tool", new_keys=keys)


class TestVersions:
    def test_language_of_the_library_can_change(self, connection):
        ingest(connection, "tool", [page("a.md", "Die Häuser.")], language="de")
        ingest(connection, "tool", [page("b.md", "The houses.")], language="en")
        assert value(connection, "select language from pgrag.libraries") == "english"
        languages = connection.execute("select language from pgrag.pages order by key").fetchall()
        assert [row["language"] for row in languages] == ["german", "english"]

    def test_stored_pages(self, connection):
        ingest(connection, "tool", [page("a.md", "One.", uuid="u", created="2024-01-01")], "1.0")
        [row] = run(connection, "_pgrag.stored_pages", library="tool", version="1.0")
        assert (row["key"], row["uuid"]) == ("a.md", "u")
        assert row["stated"].year == 2024
        ingest(connection, "tool", [page("b.md", "Two."), page("c.md", "Three.")], "1.0")
        found = run(connection, "_pgrag.stored_pages", library="tool", version="1.0", keys=["c.md"])
        # The page with a uuid may be meant by another key.
        assert {row["key"] for row in found} == {"a.md", "c.md"}
        assert run(connection, "_pgrag.stored_pages", library="tool", version="9") == []
        assert run(connection, "_pgrag.stored_pages", library="nothing") == []

    def test_version_source(self, connection):
        source = {"location": "/docs", "base_url": "https://tool.example", "slugs": "hugo"}
        run(connection, "open_version", library="tool", version="1.0", source=source)
        [row] = run(connection, "version_source", library=" Tool ", version="1.0")
        assert row["version_source"] == source
        for names in ({"library": "tool", "version": "9"}, {"library": "nothing"}):
            assert run(connection, "version_source", **names) == [{"version_source": None}]

    def test_finished_version_is_ready_and_its_index_merged(self, connection):
        ingest(connection, "tool", [page("a.md", "One.")], "1.0", ready=False)
        [row] = run(connection, "library_versions", library="tool")
        assert (row["status"], row["pages"], row["documents"]) == ("indexing", 1, 1)
        clean = "select gin_clean_pending_list('pgrag.documents_search')"
        with connection.transaction(force_rollback=True):
            assert value(connection, clean) > 0
        run(connection, "finish_version", library="tool", version="1.0")
        [row] = run(connection, "library_versions", library="tool")
        assert (row["status"], row["is_newest"]) == ("ready", True)
        assert value(connection, clean) == 0


class TestOfALargeLibrary:
    def test_one_page_reads_no_more_than_of_a_small_one(self, connection):
        def pages(count: int) -> list[dict]:
            return [
                page(
                    f"p{n}.md",
                    *(f"Valve {n} of boiler {part} closes." for part in range(2)),
                    edges=[{"target": f"p{n + 1}.md", "line": 1}],
                )
                for n in range(count)
            ]

        def read() -> dict[str, int]:
            rows = connection.execute(
                "select relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as tuples"
                " from pg_stat_xact_user_tables where schemaname = 'pgrag'"
            ).fetchall()
            return {row["relname"]: row["tuples"] for row in rows}

        def of_an_upsert(library: str) -> dict[str, int]:
            before = read()
            [known] = run(connection, "_pgrag.stored_pages", library=library, keys=["p1.md"])
            new = page(
                "p1.md",
                "Another text of it.",
                document("Another text of it.", covers=0),
                edges=[{"target": "p2.md", "line": 1}],
            )
            ingest(connection, library, [new], embed=False, ready=False)
            run(connection, "pending_embeddings", library=library, page_ids=[known["page_id"]])
            return {name: tuples - before[name] for name, tuples in read().items()}

        ingest(connection, "small", pages(5))
        # Fewer would be scanned, by PostgreSQL 16 even twice as many.
        enough = 3000 if connection.info.server_version < 170000 else 1500
        ingest(connection, "large", pages(enough))
        connection.execute("analyze")
        small, large = of_an_upsert("small"), of_an_upsert("large")
        assert {
            name: (small[name], tuples)
            for name, tuples in large.items()
            if tuples > small[name] + 50
        } == {}


def test_a_row_of_a_young_library_reads_its_page_alone(connection):
    """While the planner knows few pages, any index of them looks good for a foreign key."""

    def pages(first: int, last: int) -> list[dict]:
        return [
            page(
                f"p{n}.md",
                *(f"Valve {n} of boiler {part} closes." for part in range(5)),
                edges=[{"target": f"p{other}.md", "line": 1} for other in range(5)],
            )
            for n in range(first, last)
        ]

    def fetched() -> int:
        row = connection.execute(
            "select idx_tup_fetch from pg_stat_xact_user_tables"
            " where schemaname = 'pgrag' and relname = 'pages'"
        ).fetchone()
        return row["idx_tup_fetch"]

    ingest(connection, "young", pages(0, 30), embed=False, ready=False)
    connection.execute("analyze pgrag.pages")
    before = fetched()
    ingest(connection, "young", pages(30, 100), embed=False, ready=False)
    # 11,090 for about 20 rows a page; 90,082 when each of them read the pages that were there.
    assert fetched() - before < 30_000


def test_only_the_texts_of_a_long_page_are_stored_outside_of_its_row(connection):
    # A search reads keys, titles and paths of many pages; each of them would be one more look-up.
    text = " ".join(f"valve{number}" for number in range(800))
    ingest(
        connection,
        "handbook",
        [
            page(
                "guides/maintenance/replace-the-inlet-valve.md",
                document(text, heading="Before you open the housing of the pump"),
                title="Replace the inlet valve of a pump",
                url="https://handbook.example/guides/replace-the-inlet-valve",
                path=["Guides", "Maintenance", "Replace the inlet valve"],
            )
        ],
    )
    if connection.info.server_version < 170000:
        pytest.skip("PostgreSQL 16 does not tell where a value is stored")
    outside = connection.execute(
        "select pg_column_toast_chunk_id(p.body) as body, pg_column_toast_chunk_id(p.key) as key,"
        " pg_column_toast_chunk_id(p.title) as title, pg_column_toast_chunk_id(p.url) as url,"
        " pg_column_toast_chunk_id(p.path) as path, pg_column_toast_chunk_id(d.heading) as heading,"
        " pg_column_toast_chunk_id(d.path) as passage_path"
        " from pgrag.pages as p join pgrag.documents as d using (library_id, page_id)"
    ).fetchall()
    assert {name for row in outside for name, chunk in row.items() if chunk} == {"body"}


def test_pending_lists_are_short(connection):
    """Their blocks stay in the index: lists of 32 MB were half of it for 100,000 passages."""
    lists = connection.execute(
        "select c.relname from pg_class as c join pg_am as a on a.oid = c.relam"
        " cross join unnest(c.reloptions) as o (option)"
        " where a.amname = 'gin' and c.relnamespace = 'pgrag'::regnamespace"
        " and split_part(o.option, 'gin_pending_list_limit=', 2) > ''"
        " group by c.relname"
        " having max(split_part(o.option, 'gin_pending_list_limit=', 2)::integer) <= 4096"
    ).fetchall()
    assert {row["relname"] for row in lists} == {
        "documents_search", "impacts_keys", "pages_front_matter", "pages_search", "pages_tags",
    }  # fmt: skip
