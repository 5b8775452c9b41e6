"""Page types from a file: refused with its line, or applied; what they change is read again."""

from command_line import CommandLine, rows
from git_server import commit

STORY = "\n\n".join(f"In the year {year} the harbour was dredged again. " * 9 for year in range(9))
PAGES = {
    "notes/dredging.md": f"---\nstatus: open\n---\n# Dredging\n\n{STORY}",
    "notes/cranes.md": "---\nstatus: closed\n---\n# Cranes\n\nThe cranes are green.",
    "guide/mooring.md": f"---\ntype: guide\nstatus: open\n---\n# Mooring\n\n{STORY}",
    "index.md": f"# Harbour\n\n{STORY}",
}
FILE = """
page_types:
  note:
    description: What somebody has seen.
    folders: [notes]
    chunk_profile: {profile}
    inject: [status]
    retriever_weight: {weight}
edge_kinds:
  part_of: {{weight: 1.5}}
"""
STATE = """
select p.key, p.type, p.indexed_at, p.document_count as documents,
    (select min(d.context) from pgrag.documents as d where d.page_id = p.page_id) as context
from pgrag.pages as p
join pgrag.libraries as l on l.library_id = p.library_id
where l.name = %(library)s
order by p.key
"""


def write(folder, pages):
    for key, text in pages.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_text(text, encoding="utf-8")


def test_page_types_change_what_is_indexed_when_it_is_read_again(pgrag):
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    file = pgrag.folder / "types.yaml"
    write(pgrag.folder / "docs" / "en", PAGES)
    write(pgrag.folder / "gone", {"notes/a.md": "A page that will not stay."})
    write(pgrag.folder / "fixed", {"notes/a.md": "As it was committed.", "draft.md": "Draft."})
    commit(pgrag.folder / "fixed")
    pgrag.run(
        "index", "harbour@1", "docs", "--subfolder", "en", "--exclude", "draft*",
        "--base-url", "https://harbour.example", "--language", "de",
    )  # fmt: skip
    pgrag.run_all(
        ("index", "gone", "gone"),
        ("index", "fixed", "fixed", "--ref", "HEAD", "--include", "notes/**", "--profile", "long"),
    )

    # What is wrong is said with its line, and nothing is written.
    file.write_text(FILE.format(profile="tiny", weight=1), encoding="utf-8")
    refused = pgrag.run("config", "apply", file, code=1)
    assert "types.yaml:6: page_types/note/chunk_profile: must be by_heading, by" in refused.err
    file.write_text(FILE.format(profile="short", weight=11), encoding="utf-8")
    refused = pgrag.run("config", "apply", file, code=1)
    assert "types.yaml:8: page_types/note/retriever_weight: must be 0 to 10" in refused.err
    assert "harbour 1" not in refused.err
    assert "with the current page types" in pgrag.run("index", "--changed-config").out

    # Applied, it says what must be read again; so far nothing is another than before.
    before = rows(url, STATE, "harbour")
    file.write_text(FILE.format(profile="short", weight=2), encoding="utf-8")
    applied = pgrag.run("config", "apply", file)
    assert "    weight: 1 → 1.5\n~ page_types/note\n" in applied.out
    assert "harbour 1: 2 of 4 pages must be read again." in applied.err
    assert "fixed: 1 of 1 page must be read again." in applied.err
    assert "pgrag index --changed-config" in applied.err
    assert rows(url, STATE, "harbour") == before

    # From another folder, of sources that have changed or gone since.
    (pgrag.folder / "gone").rename(pgrag.folder / "moved")
    write(pgrag.folder / "fixed", {"notes/a.md": "Not committed.", "notes/b.md": "Neither."})
    write(pgrag.folder / "docs" / "en", {"draft-1.md": "Not to be read."})
    (pgrag.folder / "elsewhere").mkdir()
    elsewhere = CommandLine(pgrag.folder / "elsewhere", pgrag.variables)
    dry = elsewhere.json("index", "--changed-config", "harbour", "--dry-run")
    assert [sorted(row["report"]["planned"]) for row in dry] == [
        ["notes/cranes.md", "notes/dredging.md"]
    ]
    ended = elsewhere.run("index", "--changed-config", "--json", code=1)
    found = {row["library"]: row for row in ended.json}
    assert "gone: " in ended.err
    assert "no such file or folder" in found["gone"]["error"]
    assert found["harbour"]["report"]["written"] == 2
    assert (found["harbour"]["report"]["unchanged"], found["fixed"]["report"]["pages"]) == (2, 1)

    after = rows(url, STATE, "harbour")
    changed = [now["key"] for was, now in zip(before, after, strict=True) if was != now]
    assert changed == ["notes/cranes.md", "notes/dredging.md"]
    by_key = {row["key"]: row for row in after}
    assert by_key["notes/dredging.md"]["documents"] > by_key["index.md"]["documents"]
    assert by_key["notes/dredging.md"]["context"] == "status: open"
    assert (by_key["notes/cranes.md"]["type"], by_key["index.md"]["type"]) == ("note", None)
    assert by_key["guide/mooring.md"]["context"] == ""
    [page] = rows(url, STATE.replace("p.key, ", "p.key, p.body, p.url, "), "fixed")
    assert (page["type"], page["body"]) == ("note", "As it was committed.")
    assert pgrag.hits("search", "open", "-l", "harbour")[0]["title"] == "Dredging"

    # A weight is asked for by searches, so nothing is read again for it.
    file.write_text(FILE.format(profile="short", weight=3), encoding="utf-8")
    assert "harbour" not in pgrag.run("config", "apply", file).err
    assert "with the current page types" in pgrag.run("index", "--changed-config", "harbour@1").out


def test_errors_and_usage_errors(pgrag):
    assert "needs a library and one source" in pgrag.run("index", code=2).err
    assert "needs a library and one" in pgrag.run("index", "harbour", "a", "b", code=2).err
    other = pgrag.run("index", "--changed-config", "--profile", "long", code=2)
    assert "takes no other options" in other.err
    assert "no library 'x'" in pgrag.run("index", "--changed-config", "x", code=1).err
