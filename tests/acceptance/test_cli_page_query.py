"""`pgrag query` and `pgrag properties`: tables over properties, for people and programs."""

import pytest

NOTES = {
    "projects/roof.md": "---\nstatus: open\npriority: 3\ndue: 2024-06-01\nowner: '[[ada]]'\n"
    "tags: [project]\nurgent: false\n---\n\n# Roof\n\n"
    "- [ ] Buy slates\n- [x] Measure\n\n```\n- [ ] code\n```\n",
    "projects/garden.md": "---\nstatus: done\npriority: high\ndue: 2024-05-01\n---\n# Garden\n\n"
    "A place for beans. #project\n",
    "people/ada.md": "---\nborn: 1815-12-10\n---\n\n# Ada\n\nShe owns [[roof]].\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    source = tmp_path_factory.mktemp("notes")
    for key, text in NOTES.items():
        (source / key).parent.mkdir(exist_ok=True)
        (source / key).write_text(text)
    return source


def test_a_vault_is_asked_for_its_properties(pgrag, folder):
    pgrag.run("index", "notes", folder)
    table, tasks, csv, linked, unknown, listed, data, one = pgrag.run_all(
        ("query", "notes", "TABLE status, due AS Due, urgent FROM #project SORT due DESC"),
        ("query", "notes", "TASK"),
        ("query", "notes", "TABLE WITHOUT ID owner, priority, status = \"open\" AS o WHERE status",
         "--csv"),
        ("query", "notes", "LIST FROM [[roof]]", "--json"),
        ("query", "notes@", "LIST WHERE statsu"),
        ("properties", "notes"),
        ("properties", "notes", "--json"),
        ("properties", "notes", "--page", "people/ada", "--json"),
    )  # fmt: skip
    assert [line.split() for line in table.out.splitlines() if "─" not in line] == [
        ["File", "status", "Due", "urgent"],
        ["projects/roof", "open", "2024-06-01", "false"],
        ["projects/garden", "done", "2024-05-01"],
    ]
    assert "2 rows." in table.err
    assert [line.split("  ")[0] for line in tasks.out.splitlines()[2:]] == ["projects/roof.md:12"]
    assert "Buy slates" in tasks.out
    assert csv.out == "owner,priority,o\n,high,false\nada,3,true\n"
    assert [row["key"] for row in linked.json] == ["people/ada.md"]
    assert unknown.out == ""
    assert "No page has a property 'statsu'." in unknown.err
    assert "No page or task matches." in unknown.err
    assert [" ".join(line.split()) for line in listed.out.splitlines()[2:5]] == [
        "due date 2 67% 2 2024-05-01; 2024-06-01",
        "priority mixed: number 1, text 1 2 67% 2 high; 3",
        "status text 2 67% 2 done; open",
    ]
    assert "urgent boolean 1 33% 1 false" in " ".join(listed.out.split())
    assert "1 property has values of different types" in listed.err
    assert {row["name"]: row["types"] for row in data.json}["owner"] == ["link"]

    assert one.json == [{"name": "born", "type": "date", "value": "1815-12-10"}]

    mistake = pgrag.run("query", "notes", "TABLE a FROM guide", code=1)
    assert "Column 14 of the query: expected #tag, " in mistake.err
    assert 'FROM "guide"' in mistake.err

    endless = "LIST x" + " FLATTEN list(1, 2, 3, 4, 5, 6, 7, 8, 9) AS x" * 9
    assert "cancelled" in pgrag.run("query", "notes", endless, "--timeout", "0.05", code=1).err
