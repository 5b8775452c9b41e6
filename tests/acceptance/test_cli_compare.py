"""`pgrag compare`, and searches of what changed."""


def test_a_person_sees_pages_sections_a_diff_and_since_when(indexed):
    shown = indexed.run("compare", "kestrel", "1", "2.0")
    assert shown.out.splitlines()[:2] == [
        "~ changed guide/install.md",
        "    + added   From a package",
    ]
    assert "    - removed From the archive" in shown.out.splitlines()
    assert "kestrel 1.4: the newest version in the range 1" in shown.err
    assert "4 pages: 2 added, 2 changed." in shown.err
    assert "Nothing changed." in indexed.run("compare", "kestrel", "2.0", "2.0").err
    for asked in (("7", "8"), ("2.0", "7"), ("7",)):
        failed = indexed.run("compare", "kestrel", *asked, code=1)
        assert "7 is not indexed" in failed.err
    shown = indexed.run("compare", "kestrel", "1.4", "2.0", "--page", "guide/install.md", "--diff")
    lines = shown.out.splitlines()
    assert lines[lines.index("--- guide/install.md@1.4") + 1] == "+++ guide/install.md@2.0"
    assert "-tags: [setup]" in lines
    assert "+## From source" in lines
    [added] = indexed.json("compare", "kestrel", "1.4", "--page", "guide/restore.md", "--diff")
    assert added["diff"].splitlines()[0] == "--- /dev/null"
    asked = ("search", "build a program from source", "-l", "kestrel@2.0", "-n", "3")
    shown = indexed.run(*asked, "--changed-since", "1.4", "--history")
    assert "since 2.0" in shown.out
    [hit, *_] = indexed.json(*asked, "--history")["hits"]
    assert (hit["since"], hit["changed_in"]) == ("2.0", None)
    assert indexed.json(*asked, "--changed-since", "2.0")["hits"] == []


def test_moves_are_named_with_their_origin(pgrag, tmp_path):
    text = "# Sails\n\nTake them in early.\n\n## Storm jib\n\nHoist it before the gale comes.\n"
    for version, files in {
        "1": {"sails.md": text, "log.md": "# Log\n\n## Gale\n\nForce nine at the cape.\n"},
        "2": {"rig/sails.md": text, "log.md": "# Log\n\n## Storm\n\nForce nine at the cape.\n"},
    }.items():
        for key, content in files.items():
            file = tmp_path / version / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, "utf-8")
        pgrag.run("index", f"boat@{version}", tmp_path / version)
    assert pgrag.run("compare", "boat", "1", "2").out.splitlines() == [
        "~ changed log.md",
        "    > moved   Storm (from Gale)",
        "> moved   rig/sails.md (from sails.md)",
    ]
