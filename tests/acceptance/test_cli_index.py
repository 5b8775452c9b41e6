"""`pgrag index`: what it reports, what it leaves alone, and what it survives."""

import signal

from command_line import CommandLine, assert_complete, counted, kill, wait_for, write_pages

DOCUMENTS = "select count(*) from pgrag.documents"


def test_only_what_changed_is_written_again(pgrag, tmp_path):
    source = write_pages(tmp_path / "pumps", 6)
    planned = pgrag.run("index", "pumps@1.0", source, "--dry-run").out
    assert "write   part-0/pump-0.md (" in planned
    assert "pumps 1.0 would get 6 pages" in planned
    assert pgrag.json("libraries") == []

    first = pgrag.run("index", "pumps@1.0", source)
    assert "6 pages written, 0 unchanged, 0 removed" in first.out
    assert "passages/s" in first.out
    assert first.err.count("\n") == 1, "no progress bar where there is no terminal"
    assert "The files have the same time" in first.err

    assert "Nothing changed in pumps 1.0: 6 pages" in pgrag.run("index", "pumps@1.0", source).out

    (source / "part-0/pump-0.md").unlink()
    (source / "part-1/pump-1.md").write_text("# Pump 1\n\nThe first pump was sold in spring.\n")
    report = pgrag.json("index", "pumps@1.0", source)
    counts = {name: report[name] for name in ("written", "unchanged", "removed", "embedded")}
    assert counts == {"written": 1, "unchanged": 4, "removed": 1, "embedded": 1}
    assert_complete(pgrag.variables["PGRAG_DATABASE_URL"], library="pumps", pages=5)


def test_a_version_remembers_its_options_and_says_what_a_change_rewrites(pgrag, tmp_path):
    (tmp_path / "docs" / ".vitepress").mkdir(parents=True)
    page = "# Server\n\n## server.proxy\n\nIt passes requests on. See [there](#server-proxy).\n"
    (tmp_path / "docs" / "server.md").write_text(page)
    address = ("--base-url", "https://kettle.example")
    source = tmp_path / "docs"
    first = pgrag.run("index", "kettle", source, *address).out
    assert f"anchors as vitepress makes them: {tmp_path}/docs/.vitepress" in first
    assert pgrag.run("links", "kettle", "--check").err == "No link is broken.\n"

    assert "Nothing changed in kettle: 1 page" in pgrag.run("index", "kettle", source).out
    planned = pgrag.run("index", "kettle", source, "--base-url", "", "--dry-run").out
    change = "base URL: https://kettle.example → none; rewrites the URLs of 1 page"
    assert f"\n{change}\nNothing was written." in planned
    assert f"  {change}\n" in pgrag.run("index", "kettle", source, "--base-url", "").out

    styled = pgrag.json("index", "kettle", source, "--slugs", "mkdocs")
    assert (styled["slugs"], styled["slugs_from"]) == ("mkdocs", None)
    assert styled["changes"] == ["slug style: vitepress → mkdocs; rewrites the anchors of 1 page"]
    refused = pgrag.run("index", "kettle", source, "--slugs", "jekyll", code=2).err
    assert "Invalid value for '--slugs'" in refused
    source = write_pages(tmp_path / "pumps", 2)
    pgrag.run("index", "pumps", source, "--profile", "short")
    assert pgrag.json("index", "pumps", source)["unchanged"] == 2
    sizes = pgrag.json("index", "pumps", source, "--chunk-sizes", "1,300,400")
    assert sizes["changes"] == ["profile: short → custom; cuts 2 pages again"]
    bare = pgrag.json("index", "pumps", source, "--profile", "")
    assert bare["changes"] == ["profile: custom → none; cuts 2 pages again"]


def test_a_dry_run_shows_every_document_and_edge(pgrag, tmp_path):
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.md").write_text(
        "---\nup: '[[b]]'\n---\n\n# Valves\n\n"
        "A valve [[rel:needs b#Oil|oil]] near [a pump](p.md).\n"
    )
    (source / "b.md").write_text("# Oil\n\nOil is slippery. [[rel:needs]]\n")
    ended = pgrag.run("index", "notes", source, "--dry-run")
    assert "write   a.md (1 passage, 3 edges)\n" in ended.out
    assert "would get 2 pages with 2 passages and 3 edges; 0 unchanged" in ended.out
    assert "b.md: the relation [[rel:needs]] names no target in line 3" in ended.err
    told = pgrag.run("index", "notes", source, "--dry-run", "--verbose").out
    assert "line  2         up -> b  (front_matter:up, 1)" in told
    assert "line  7         needs -> b#Oil  (inline:rel, 0.95)" in told
    assert "lines 7-7       paragraph" in told
    assert told.count("(its text is in another)") == 4

    report = pgrag.json("index", "notes", source, "--dry-run")
    page = report["planned"]["a.md"]
    assert [(d["level"], d["path"], d["line_start"], d["line_end"]) for d in page["documents"]] == [
        (0, ["Valves"], 1, 7), (1, ["Valves"], 5, 7), (2, ["Valves"], 7, 7),
    ]  # fmt: skip
    assert page["documents"][2]["characters"] > 20
    assert page["edges"][2] == {
        "line": 7, "kind": "references", "rule": "explicit:link", "confidence": 1.0,
        "target": "p.md", "fragment": None,
    }  # fmt: skip
    assert pgrag.json("libraries") == []
    assert pgrag.json("index", "notes", source)["edges"] == report["edges"] == 3


def test_ignored_files_stay_out_and_are_counted(pgrag, tmp_path):
    source = write_pages(tmp_path / "pumps", 2)
    (source / ".gitignore").write_text("venv/\n")
    (source / "venv").mkdir()
    (source / "venv" / "README.md").write_text("# A package\n\nNothing about pumps.\n")
    ended = pgrag.run("index", "pumps", source)
    assert "2 pages written" in ended.out
    assert "1 file left out by .gitignore or .ignore; --include-ignored reads" in ended.err
    report = pgrag.json("index", "pumps", source, "--include-ignored")
    assert (report["written"], report["ignored"]) == (1, 0)
    assert pgrag.json("index", "pumps", source)["removed"] == 1


def test_a_first_run_that_fails_leaves_no_library(pgrag, tmp_path):
    source = tmp_path / "images"
    source.mkdir()
    for name in ("a.md", "b.md"):
        (source / name).write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(300))
    ended = pgrag.run("index", "images@1.0", source, code=1)
    assert "a.md" in ended.err
    assert "images 1.0 was not created: it would be empty" in ended.out
    assert pgrag.json("libraries") == []
    # A version of a library that has others is left out alone.
    pgrag.run("index", "images@0.9", write_pages(tmp_path / "pumps", 1))
    pgrag.run("index", "images@1.0", source, code=1)
    assert [row["version"] for row in pgrag.json("versions", "images")] == ["0.9"]


def test_what_is_wrong_with_pages_is_said_and_the_rest_goes_on(pgrag, tmp_path):
    source = write_pages(tmp_path / "pumps", 2)
    (source / "image.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(300))
    for number in range(24):
        text = f"---\ntitle: [unclosed\n---\n\n# Valve {number}\n\nA valve opens.\n"
        (source / f"valve-{number}.md").write_text(text)
    ended = pgrag.run("index", "pumps", source, code=1)
    assert "1 failed" in ended.out
    assert "error: image.md: " in ended.err
    assert ended.err.count("warning: valve-") == 20
    assert "… and 4 more" in ended.err
    report = pgrag.run("index", "pumps", source, "--json", code=1).json
    assert (list(report["failed"]), report["unchanged"]) == (["image.md"], 26)


def test_options_choose_what_is_read_and_how(pgrag, kestrel):
    report = pgrag.json(
        *("index", "kestrel", kestrel, "--subfolder", "2.0", "--include", "guide/**"),
        *("--exclude", "**/restore.md", "--language", "de", "--base-url", "https://k.example/"),
        *("--chunk-sizes", "20,100,150"),
    )
    assert report["written"] == 1
    hits = pgrag.hits("search", "zlib compiler")
    assert {hit["url"] for hit in hits} == {"https://k.example/guide/install"}
    assert max(len(hit["content"]) for hit in hits) <= 150
    [library] = pgrag.json("libraries")
    assert library["language"] == "de"
    wrong = pgrag.run("index", "kestrel", kestrel, "--chunk-sizes", "5,4", code=1)
    assert "chunk_sizes must be a list of 3" in wrong.err


def test_a_run_that_is_interrupted_or_killed_is_completed_by_the_next(database_url, tmp_path):
    pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": database_url}, small_batches=True)
    source = write_pages(tmp_path / "pumps", 150)

    # An interrupt between opening a file and reading it leaves the closing to the interpreter.
    forgiving = pgrag.with_variables(PYTHONWARNINGS="error,ignore::ResourceWarning")
    interrupted = forgiving.start("index", "pumps", source)
    wait_for(database_url, DOCUMENTS, interrupted, least=1)
    interrupted.send_signal(signal.SIGINT)
    _, said = interrupted.communicate()
    assert (interrupted.returncode, "Traceback" in said) == (130, False), said
    assert "the next run continues from here" in said

    counts = counted(database_url, "pumps")
    assert 0 < counts["pages"] < 150
    killed = pgrag.start("index", "pumps", source)
    wait_for(database_url, DOCUMENTS, killed, least=counts["documents"] + 1)
    kill(killed)

    counts = counted(database_url, "pumps")
    assert counts["pages"] < 150
    assert counts["statuses"] == ["indexing"]
    report = pgrag.json("index", "pumps", source)
    assert report["unchanged"] == counts["pages"]
    assert report["written"] == 150 - counts["pages"]
    assert_complete(database_url, library="pumps", pages=150)


def test_two_runs_on_different_libraries_do_not_disturb_each_other(clone, tmp_path):
    with clone() as url:
        pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": url}, small_batches=True)
        runs = [
            pgrag.start("index", word, write_pages(tmp_path / word, 60, word=word))
            for word in ("pump", "valve")
        ]
        for run in runs:
            _, said = run.communicate()
            assert run.returncode == 0, said
        for word in ("pump", "valve"):
            assert_complete(url, library=word, pages=60)


def test_the_overlap_is_a_setting_that_the_next_run_reads(pgrag, tmp_path):
    text = "Fill the tank. " * 8
    (tmp_path / "pump.md").write_text(f"# A\n\n{text}\n\n# B\n\n{text}\n", "utf-8")
    statement = "select overlap from pgrag.documents where overlap <> ''"

    def overlap():
        pgrag.run("index", "pump", str(tmp_path))
        return str(pgrag.run("db", "psql", "--", "-Atc", statement).out).strip()

    assert overlap() == "tank. Fill the tank. Fill the tank. Fill the tank."
    pgrag.run("configure", "pump", "overlap_size=30", "overlap_strategy=sentences")
    assert overlap() == "Fill the tank. Fill the tank."
    pgrag.run("configure", "pump", "overlap_size=0")
    assert overlap() == ""
    assert "overlap_size must be" in pgrag.run("configure", "pump", "overlap_size=-1", code=1).err
