"""Up, down and sideways: within a page by its headings, between pages by path and folder."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library import Row, document, ingest, page, refused, run, value


def whole(key: str, title: str, path: list[str], *sections: tuple[str, list[str]]) -> Row:
    """A page as the pipeline cuts it: its summary, its sections, their paragraphs."""
    rows = [document(f"Summary of {title}.", level=0, covers=1, path=path, is_summary=True)]
    for place, (heading, paragraphs) in enumerate(sections):
        position = (
            "intro" if place == 0 else "middle" if place < len(sections) - 1 else "conclusion"
        )
        own = {
            "path": [*path, heading], "heading": heading, "heading_level": 2, "depth": 1,
            "root_section": heading, "anchor": heading.lower(), "position": position,
        }  # fmt: skip
        section = len(rows)
        rows.append(
            document(f"Summary of {heading}.", level=1, covers=2, parent=0, is_summary=True, **own)
        )
        rows += [document(text, parent=section, **own) for text in paragraphs]
    return page(key, *rows, title=title, path=path, url=f"https://example.org/{key}")


PAGES = [
    whole("guide/index.md", "Guide", ["Guide"],
          ("Why", ["W1.", "W2.", "W3."]), ("How", ["H1."]), ("End", [])),
    whole("guide/install.md", "Install", ["Guide", "Install"], ("Linux", ["L1."])),
    whole("guide/install/extra.md", "Extra", ["Guide", "Install", "Extra"]),
    whole("guide/upgrade.md", "Upgrade", ["Upgrade"]),
    whole("guide/deep/index.md", "Deep", ["Deep"]),
    whole("guide/deep/most.md", "Most", ["Most"]),
    whole("other.md", "Other", ["Other"]),
    page("bare.md", "No path at all."),
]  # fmt: skip


@pytest.fixture(scope="module")
def tool(module_connection) -> dict[str, int]:
    """The document ids by content."""
    ingest(module_connection, "tool", PAGES, "1.0", embed=False)
    ingest(
        module_connection, "tool", [whole("guide/index.md", "Old", ["Guide"])], "0.9", embed=False
    )
    rows = module_connection.execute(
        "select d.content, d.document_id from pgrag.documents as d"
        " join pgrag.versions as v using (version_id) where v.label = '1.0'"
    ).fetchall()
    return {row["content"]: row["document_id"] for row in rows}


def walk(connection, function: str, ids: dict[str, int], content: str, **arguments) -> list[str]:
    rows = run(connection, function, document_id=ids[content], **arguments)
    return [row["content"] for row in rows]


class TestParent:
    @pytest.mark.parametrize(("content", "above"), [
        ("W2.", "Summary of Why."),
        ("Summary of Why.", "Summary of Guide."),
        ("Summary of Install.", "Summary of Guide."),
        ("Summary of Extra.", "Summary of Install."),
        ("Summary of Upgrade.", "Summary of Guide."),
        ("Summary of Deep.", "Summary of Guide."),
        ("Summary of Most.", "Summary of Deep."),
        ("Summary of Guide.", None),
        ("Summary of Other.", None),
        ("No path at all.", None),
    ])  # fmt: skip
    def test_one_step_up(self, connection, tool, content, above):
        assert walk(connection, "parent", tool, content) == ([above] if above else [])

    def test_all_steps_up(self, connection, tool):
        rows = run(connection, "ancestors", document_id=tool["L1."])
        assert [(row["content"], row["relation"], row["distance"]) for row in rows] == [
            ("Summary of Linux.", "ancestor", 1), ("Summary of Install.", "ancestor", 2),
            ("Summary of Guide.", "ancestor", 3),
        ]  # fmt: skip

    def test_pages_above_each_other_are_no_endless_way(self, connection):
        ingest(
            connection, "ring",
            [page("a/index.md", "A.", path=["B", "A"]), page("a/b.md", "B.", path=["B"])],
            embed=False,
        )  # fmt: skip
        document_id = "select document_id from pgrag.documents where content = 'A.'"
        rows = run(connection, "ancestors", document_id=value(connection, document_id))
        assert [row["content"] for row in rows] == ["B."]


class TestChildren:
    @pytest.mark.parametrize(("content", "below"), [
        ("Summary of Why.", ["W1.", "W2.", "W3."]),
        ("Summary of End.", []),
        ("W1.", []),
        ("Summary of Install.", ["Summary of Linux.", "Summary of Extra."]),
        ("Summary of Deep.", ["Summary of Most."]),
        ("Summary of Other.", []),
        ("No path at all.", []),
    ])  # fmt: skip
    def test_one_step_down(self, connection, tool, content, below):
        assert walk(connection, "children", tool, content) == below

    def test_sections_come_before_pages(self, connection, tool):
        below = walk(connection, "children", tool, "Summary of Guide.")
        assert below[:3] == ["Summary of Why.", "Summary of How.", "Summary of End."]
        assert set(below[3:]) == {"Summary of Install.", "Summary of Upgrade.", "Summary of Deep."}


class TestSiblings:
    def test_neighbours_in_reading_order_and_under_the_page_above(self, connection, tool):
        rows = run(connection, "siblings", document_id=tool["W2."])
        assert [(row["content"], row["relation"], row["distance"]) for row in rows] == [
            ("W1.", "before", -1), ("W3.", "after", 1), ("H1.", "after", 2),
        ]  # fmt: skip
        found = walk(connection, "siblings", tool, "Summary of Install.")
        assert set(found) == {"Summary of Upgrade.", "Summary of Deep."}

    @pytest.mark.parametrize(("content", "before", "after", "expected"), [
        ("W1.", 5, 1, ["W2."]),
        ("W1.", 5, 2, ["W2.", "W3."]),
        ("W3.", 1, 0, ["W2."]),
        ("W2.", 0, 0, []),
        ("H1.", 2, 9, ["W2.", "W3."]),
        ("Summary of How.", 1, 1, ["Summary of Why.", "Summary of End."]),
        ("Summary of Other.", 1, 1, []),
    ])  # fmt: skip
    def test_so_many_before_and_after(self, connection, tool, content, before, after, expected):
        assert walk(connection, "siblings", tool, content, before=before, after=after) == expected

    @pytest.mark.parametrize("arguments", [{"before": -1}, {"after": -1}, {"before": None}])
    def test_numbers_that_make_no_sense(self, connection, tool, arguments):
        with refused(connection, "PGR01"):
            run(connection, "siblings", document_id=tool["W2."], **arguments)


class TestOutline:
    def test_headings_with_their_place(self, connection, tool):
        [row] = run(connection, "document", document_id=tool["W1."])
        rows = run(connection, "outline", page_id=row["page_id"])
        columns = ("heading", "heading_level", "depth", "position", "paragraphs")
        assert [tuple(row[name] for name in columns) for row in rows] == [
            ("Guide", 0, 0, "middle", 0), ("Why", 2, 1, "intro", 3), ("How", 2, 1, "middle", 1),
            ("End", 2, 1, "conclusion", 0),
        ]  # fmt: skip
        assert [row["parent_id"] for row in rows] == [None, *[rows[0]["document_id"]] * 3]
        assert (rows[1]["path"], rows[1]["anchor"]) == (["Guide", "Why"], "why")


class TestFindPage:
    @pytest.mark.parametrize(
        "wish",
        [
            "guide/install.md", "guide/install", "https://example.org/guide/install.md",
            "https://example.org/guide/install.md/", "https://example.org/guide/install.md#linux",
            " guide/install.md ",
        ],
    )  # fmt: skip
    def test_by_key_url_or_anchor(self, connection, tool, wish):
        [row] = run(connection, "find_page", library="tool", page=wish)
        assert row["key"] == "guide/install.md"
        [by_id] = run(connection, "find_page", library="tool", page=str(row["page_id"]))
        assert by_id == row

    @pytest.mark.parametrize(("uuid", "wish"), [
        ("N-17a", "n-17A"),
        ("6f96cfdf-0000-4000-8000-00000000000a", "{6F96CFDF-0000-4000-8000-00000000000A}"),
    ])  # fmt: skip
    def test_by_uuid_in_any_case_and_in_braces(self, connection, uuid, wish):
        ingest(connection, "vault", [page("a.md", "One.", uuid=uuid), page("b.md", "Two.")])
        for name in (uuid, wish):
            [row] = run(connection, "find_page", library="vault", page=name)
            assert row["key"] == "a.md"

    @pytest.mark.parametrize(("wish", "hint"), [
        ("instal", "Did you mean guide/install.md?"),
        ("guide/install/extras.md", "Did you mean guide/install/extra.md?"),
        ("Backup", "Name its key"),
        ("", "Name its key"),
        ("%", "Name its key"),
        ("_\\", "Name its key"),
        ("'; drop table x", "Name its key"),
    ])  # fmt: skip
    def test_unknown_one_names_its_like(self, connection, tool, wish, hint):
        with refused(connection, "PGR04", "Library 'tool' has no page", hint):
            run(connection, "find_page", library="tool", page=wish)


@pytest.fixture(scope="module")
def hub(module_connection) -> None:
    ingest(
        module_connection,
        "hub",
        [
            page("plugins/dataview.md", "Queries.", title="Dataview plugin", aliases=["DV"]),
            page("Themes/Über uns.md", "We.", title="Who we are"),
            page("a/README.md", "About A.", title="The A team"),
            page("a/restore.md", "Here.", title="Restore a file"),
            page("b/restore.md", "There.", title="Restore a folder"),
            page("c/other.md", "That.", title="Dataview", aliases=["Restore", "the / slash"]),
            page("d/2024.md", "A year.", title="C#", front_matter={"slug": "see-sharp"}),
        ],
        embed=False,
    )


class TestFindPageByName:
    """As a wikilink does: path, title, alias, slug."""

    @pytest.mark.parametrize(("wish", "key"), [
        ("Dataview", "plugins/dataview.md"),
        ("dataview.md", "plugins/dataview.md"),
        ("DATAVIEW  plugin", "plugins/dataview.md"),
        ("dv", "plugins/dataview.md"),
        ("über uns", "Themes/Über uns.md"),
        ("%C3%9Cber%20uns", "Themes/Über uns.md"),
        ("who we are", "Themes/Über uns.md"),
        ("A", "a/README.md"),
        ("B/Restore", "b/restore.md"),
        ("The / Slash", "c/other.md"),
        ("C#", "d/2024.md"),
        ("see-sharp", "d/2024.md"),
        ("2024", "d/2024.md"),
    ])  # fmt: skip
    def test_by_name_title_alias_or_slug(self, connection, hub, wish, key):
        [row] = run(connection, "find_page", library="hub", page=wish)
        assert row["key"] == key

    def test_ambiguous_name_lists_the_keys(self, connection, hub):
        assert run(connection, "links", library="hub", page="Dataview") == []
        with refused(
            connection, "PGR01", "Library 'hub' has 2 pages named 'Restore'",
            "Name one by its key: a/restore.md, b/restore.md.",
        ):  # fmt: skip
            run(connection, "find_page", library="hub", page="Restore")


class TestUnknown:
    @pytest.mark.parametrize(
        "function", ["document", "parent", "ancestors", "children", "siblings"]
    )
    @pytest.mark.parametrize("document_id", [0, -1, 9_999_999, None])
    def test_document(self, connection, tool, function, document_id):
        with refused(connection, "PGR05", "There is no passage"):
            run(connection, function, document_id=document_id)

    @pytest.mark.parametrize("function", ["page", "outline"])
    @pytest.mark.parametrize("page_id", [0, 9_999_999, None])
    def test_page(self, connection, tool, function, page_id):
        with refused(connection, "PGR04", "There is no page"):
            run(connection, function, page_id=page_id)


paths = st.lists(st.sampled_from(["A", "B"]), min_size=1, max_size=3)
keys = st.tuples(
    st.sampled_from(["", "a/", "a/b/", "c/"]),
    st.sampled_from(["index", "_index", "README", "a", "b", "c"]),
    st.sampled_from([".md", ".mdx"]),
).map("".join)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=st.dictionaries(keys, paths, min_size=1, max_size=8))
def test_whose_parent_it_is_has_it_as_a_child(connection, tree):
    """Where two pages have one path, both have the pages below; their parent is the first."""
    with connection.transaction(force_rollback=True):
        written = [page(key, f"{key}.", path=path) for key, path in tree.items()]
        ingest(connection, "tree", written, embed=False)
        rows = connection.execute(
            "select p.key, d.document_id from pgrag.documents as d"
            " join pgrag.pages as p using (page_id) join pgrag.libraries as l"
            " on l.library_id = p.library_id where l.name = 'tree'"
        ).fetchall()
        ids = {row["key"]: row["document_id"] for row in rows}
        up = {
            (key, above["key"])
            for key, document_id in ids.items()
            for above in run(connection, "parent", document_id=document_id)
        }
        down = {
            (below["key"], key)
            for key, document_id in ids.items()
            for below in run(connection, "children", document_id=document_id)
        }
        assert up <= down


def test_pages_by_a_part_of_their_name_and_what_reading_lost(connection):
    tides = page("guide/tides.md", "Tides.", title="100% of Tides", warnings=["cut", "odd byte"])
    sound = page("odd_name.md", "Whole.") | {"words_shown": 9, "words_kept": 9}
    lossy = tides | {"words_shown": 100, "words_kept": 40}
    ingest(connection, "harbour", [page("a.md", "Old.")], "1.0")
    ingest(connection, "harbour", [lossy, sound], "2.0")

    def named(**arguments):
        rows = run(connection, "pages", library="harbour", **arguments)
        return [row["key"] for row in rows]

    assert named(name="TIDES") == named(name="0% of") == named(warned=True) == ["guide/tides.md"]
    assert named(name="%") == ["guide/tides.md"]
    assert named(name="_") == ["odd_name.md"]
    assert named(name="none") == named(version="1.0", warned=True) == []
    assert named(after="guide/tides.md", name="md") == ["odd_name.md"]

    state = run(connection, "reading_state", library="harbour")
    assert [row["version"] for row in state] == ["2.0", "1.0"]
    expected = {
        "version": "2.0", "pages": 2, "warned_pages": 1, "warnings": 2, "words_shown": 109,
        "words_kept": 49, "broken_links": 0,
    }  # fmt: skip
    assert state[0] == expected
    assert run(connection, "reading_state", library="harbour", wanted="^2") == [expected]
