"""`pgrag search`, `pages`, `facets` and `context` for people and for machines."""

import re
import shlex

import psycopg

from pgrag.search.result import NO_MATCH

QUERY = "restore a folder of yesterday"


def test_hits_are_json_for_machines_and_entries_for_people(indexed):
    with psycopg.connect(indexed.variables["PGRAG_DATABASE_URL"]) as connection:
        cursor = connection.execute("select * from pgrag.search('folder', top_k => 1)")
        assert cursor.description is not None
        columns = [column.name for column in cursor.description]
    found = indexed.run("search", QUERY, "-l", "kestrel", "-n", "3", "--json")
    assert list(found.json) == [
        "hits", "pages", "search_id", "next", "no_good_match", "notices", "resolved",
    ]  # fmt: skip
    assert found.json["resolved"][0]["reason"] == "the newest release"
    hits = found.json["hits"]
    assert [list(hit) for hit in hits] == [columns] * 3
    assert (hits[0]["key"], hits[0]["version"]) == ("guide/restore.md", "2.0")
    assert hits[0]["url"] == "https://kestrel.example/2.0/guide/restore"
    assert hits[0]["snippet"] is None
    assert hits == sorted(hits, key=lambda hit: -hit["score"])
    assert found.err == ""
    found = indexed.run("search", QUERY, "-l", "kestrel@2.0", "-n", "1")
    lines = found.out.splitlines()
    assert lines[0].split()[0] == "1"
    assert 0 < float(lines[0].split()[1]) <= 1
    assert lines[0].endswith("Restore a folder")
    assert lines[1].strip() == "kestrel 2.0 › Restore a folder"
    assert lines[2].strip() == "https://kestrel.example/2.0/guide/restore#restore-a-folder"
    assert "restore a folder, name the day" in found.out
    assert "\x1b" not in found.out
    assert "newest" not in found.err, "the version was named"


def test_the_next_hits_follow_the_cursor(indexed):
    both = indexed.hits("search", "kestrel copy", "-n", "4", "-l", "kestrel@2")
    [first, second] = both[:2], both[2:]
    ungrouped = ("--group", "none")
    shown = indexed.run("search", "kestrel copy", "-n", "2", "-l", "kestrel@2", *ungrouped)
    [more] = [line for line in shown.err.splitlines() if line.startswith("More: ")]
    command = shlex.split(more.removeprefix("More: "))
    assert command == [
        "pgrag", "search", f"--after={first[-1]['cursor']}", "kestrel copy", "-n", "2", "-l",
        "kestrel@2", *ungrouped,
    ]  # fmt: skip
    after = indexed.hits(*command[1:])
    assert [hit["document_id"] for hit in after] == [hit["document_id"] for hit in second]
    [again] = [line for line in indexed.run(*command[1:]).err.splitlines() if "More" in line]
    assert again.count("--after=") == 1
    assert f"--after={second[-1]['cursor']}" in again


def test_for_people_a_page_is_an_entry(indexed):
    arguments = ("search", "kestrel copy", "-n", "2", "-l", "kestrel@2")
    shown = indexed.run(*arguments)
    titles = [line.split(maxsplit=2)[2] for line in shown.out.splitlines() if line[:5].strip()]
    assert len(titles) == 2
    assert "        also: " in shown.out
    [more] = [line for line in shown.err.splitlines() if line.startswith("More: ")]
    following = shlex.split(more.removeprefix("More: "))[1:]
    assert "--group=page" in following
    listed = indexed.run(*following, "--json").json
    assert listed["hits"] == []
    assert {page["title"] for page in listed["pages"]}.isdisjoint(titles)
    assert all(1 <= len(page["hits"]) <= 3 for page in listed["pages"])
    assert indexed.run(*arguments, "--json").json["hits"]


def test_passages_of_one_section_are_one_entry(pgrag, tmp_path):
    paragraph = "The heron waits in the reeds of the pond, {} days, and then it eats a fish. "
    body = "\n\n".join(paragraph.format(n) * 10 for n in range(4))
    (tmp_path / "birds").mkdir()
    (tmp_path / "birds" / "heron.md").write_text(f"# Heron\n\n## Pond\n\n{body}\n")
    pgrag.run("index", "birds", tmp_path / "birds")
    arguments = ("search", "heron in the reeds of the pond", "-l", "birds")
    hits = pgrag.hits(*arguments)
    assert len({(hit["page_id"], hit["anchor"]) for hit in hits}) < len(hits)
    shown = pgrag.run(*arguments).out
    assert shown.count("/heron#pond") == 1
    assert "more passages of this section" in shown
    assert pgrag.run(*arguments, "--full").out.count("/heron#pond") > 1


def test_weak_matches_are_set_apart(indexed):
    arguments = ("search", QUERY, "-n", "30")
    hits = indexed.hits(*arguments)
    weak = [hit for hit in hits if hit["confidence"] < NO_MATCH]
    assert 0 < len(weak) < len(hits)
    shown = indexed.run(*arguments, "--group", "none").out
    strong_part, weak_part = shown.split("\nweak matches")
    assert f"  {hits[0]['score']:.3f}  " in strong_part
    last = max(n for n, hit in enumerate(hits) if hit not in weak)
    for hit in hits[last + 1 :]:
        assert f"  {hit['score']:.3f}  " in weak_part


def test_where_nothing_answers_the_nearest_are_few(indexed):
    for query in ("zzzqqq xyzzyplugh", "reset a forgotten password of the mail account"):
        told = indexed.run("search", query, "-l", "kestrel")
        assert told.err.count("No good match; nearest: ") == 1
        assert 1 <= told.out.count("/guide/") + told.out.count("/reference/") <= 3
        assert "weak matches" not in told.out
        assert "More:" not in told.err
        told = indexed.run("search", query, "-l", "kestrel", "--min-confidence", "0.15")
        assert told.out == ""
        assert "No hit for" in told.err
    assert "No good match" not in indexed.run("search", "restore a backup", "-l", "kestrel").err


def test_versions_filters_limits_and_arms_reach_the_database(indexed):
    every = indexed.hits("search", "kestrel", "-l", "kestrel", "-v", "*", "-n", "50")
    assert {hit["version"] for hit in every} == {"1.4", "2.0"}
    hits = indexed.hits(
        *("search", "kestrel", "-l", "kestrel", "-n", "50", "--max-per-page", "1"),
        *("-f", "type=guide", "-f", "type=reference", "-f", "created>=2025-01-01"),
        *("-f", "front_matter.effort=20", "--filters", '{"tags": ["recovery"]}'),
    )
    assert [hit["key"] for hit in hits] == ["guide/restore.md"]
    excluded = f"{every[0]['document_id']},page:{every[1]['page_id']}"
    rest = indexed.hits("search", "kestrel", "-l", "kestrel", "-v", "*", "--exclude", excluded)
    assert every[0]["document_id"] not in {hit["document_id"] for hit in rest}
    assert every[1]["page_id"] not in {hit["page_id"] for hit in rest}
    told = indexed.run("search", "maxCopyAge", "-l", "kestrel", "--keyword", "--explain", "-n", "1")
    for word in ("maxcopyag: ", "semantic", "keyword retriever: "):
        assert word in told.out
    told = indexed.run("search", "restore a backup", "-l", "kestrel", "--explain", "-n", "1")
    assert "of the score; match 1, token weight 0.2; " in told.out
    [hit] = indexed.hits("search", "maxCopyAge", "--semantic", "--explain", "-n", "1")
    assert hit["score"] == hit["semantic_score"] == hit["explanation"]["semantic"]["score"]


def test_no_hit_is_no_failure_and_a_wrong_call_says_what_is_right(indexed):
    found = indexed.run("search", "xylophone", "--keyword", "-l", "kestrel@2.0")
    assert found.out == ""
    assert "No hit for 'xylophone'." in found.err
    assert "No hit" in indexed.run("pages", "restore", "--min-score", "1.5").err
    assert "No hit" in indexed.run("facets", "restore", "--min-score", "1.5").err
    said = indexed.run_all(
        ("search", "x", "--keyword", "--semantic"),
        ("search", "x", "--filter", "type"),
        ("search", "x", "--filters", "[1]"),
        ("search", "x", "-l", "kestrel@1", "-v", "2"),
        code=2,
    )
    words = ("--keyword", "FIELD=VALUE", "JSON object", "twice")
    assert [word for word, ended in zip(words, said, strict=True) if word not in ended.err] == []
    ended = indexed.run("search", "x", "--keyword", "--alpha", "0.5", code=1)
    assert "keyword_search has no argument alpha" in ended.err


def test_the_context_is_text_within_a_budget(indexed):
    arguments = ("context", "how do I install it", "-l", "kestrel@2.0", "--parents", "--overlap")
    grouped = indexed.run(*arguments).out
    assert "## Install Kestrel (https://kestrel.example/2.0/guide/install)" in grouped
    assert "### From source" in grouped
    asked = indexed.json(*arguments, "--format", "simple", "--tokens", "150", "--no-expand")
    rows = asked["blocks"]
    assert asked["text"].startswith(rows[0]["block"])
    assert rows[0]["block"].startswith("[1] Install Kestrel")
    assert {row["relation"] for row in rows} <= {"hit", "parent"}
    assert sum(row["tokens"] for row in rows) <= 200


def test_pages_come_with_their_best_passage_or_whole_and_facets_as_a_table(indexed):
    shown = indexed.run("pages", QUERY, "-l", "kestrel@2.0", "-n", "1")
    lines = shown.out.splitlines()
    assert lines[0].endswith("Restore a folder")
    assert lines[1].strip().startswith("kestrel 2.0 › guide/restore.md (")
    assert lines[2].strip().startswith("https://kestrel.example/2.0/guide/restore")
    assert "--after=p1:" in shown.err
    after = shown.err.split("--after=")[1].split()[0]
    again = indexed.json("pages", QUERY, "-l", "kestrel@2.0", "--after", after)
    assert "guide/restore.md" not in [row["key"] for row in again["pages"]]
    [row] = indexed.json("pages", QUERY, "-l", "kestrel@2.0", "-n", "1", "--whole")["pages"]
    shown = indexed.run("pages", QUERY, "-l", "kestrel@2.0", "-n", "1", "--whole")
    words = " ".join(shown.out.split())
    for line in row["content"].splitlines():
        assert re.sub(r"^#+ |`|\[|\]\([^)]*\)", "", line).strip() in words
    counts = indexed.json("facets", "-l", "kestrel@2.0")["facets"]
    [library] = counts["library"]
    assert (library["value"], library["page_count"]) == ("kestrel", 4)
    shown = indexed.run("facets", "-l", "kestrel@2.0").out
    for row in (row for values in counts.values() for row in values):
        assert row["value"] in shown
    assert shown.splitlines()[0].split() == ["facet", "value", "pages"]


def test_the_version_that_a_project_pins_is_searched(indexed, tmp_path):
    (tmp_path / "package.json").write_text('{"dependencies": {"kestrel": "^1.0"}}')
    pinned = "kestrel 1.4: the newest version in the range ^1.0, pinned in package.json"
    found = indexed.run("search", "install", "-l", "kestrel", "--project", tmp_path)
    assert pinned in found.err
    assert "kestrel 2.0" not in found.out
    [row] = indexed.run("pinned", tmp_path, "--json").json
    assert (row["library"], row["version"], row["wanted"]) == ("kestrel", "1.4", "^1.0")
    assert "2.0" in indexed.run("search", "install", "-l", "kestrel@2.0", "--project", tmp_path).out
    other = indexed.run("search", "Installation", "-l", "wegweiser", "--project", tmp_path)
    assert "The project pins no version of wegweiser." in other.err
    refused = indexed.run("search", "install", "--project", tmp_path / "none", code=1)
    assert "There is no folder or file" in refused.err
