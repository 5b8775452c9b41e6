"""`pgrag libraries`, `versions`, `resolve`, `outline`, `configure`, `embed` and `remove`."""

import re

from command_line import CommandLine


def test_libraries_and_versions_are_listed_found_and_resolved(indexed):
    listed = indexed.json("libraries")
    assert [row["library"] for row in listed] == ["kestrel", "spravka", "wegweiser"]
    assert [row["language"] for row in listed] == ["en", "ru", "de"]
    table = indexed.run("libraries").out.splitlines()
    assert table[0].split() == [
        "library", "newest", "versions", "pages", "passages", "language", "model",
    ]  # fmt: skip
    assert table[2].split()[:4] == ["kestrel", "2.0", "2", "6"]

    assert [row["version"] for row in indexed.json("versions", "kestrel")] == ["2.0", "1.4"]
    assert "(unversioned)" in indexed.run("versions", "wegweiser").out
    shown, nothing = indexed.run_all(
        ("libraries", "kestrel", "--top-k", "1"), ("libraries", "xylophone")
    )
    head, _, row, *_ = shown.out.splitlines()
    assert head.split() == ["score", "library", "version", "title", "words"]
    assert row.split()[1:3] == ["kestrel", "2.0"]
    assert nothing.out == ""
    assert "No library has a word of the query." in nothing.err
    assert "--top-k" in indexed.run("libraries", "kestrel", "--top-k", "1001", code=1).err
    resolved = indexed.run_all(
        ("resolve", "kestrel", "1.4"), ("resolve", "kestrel", "^1.0"), ("resolve", "kestrel")
    )
    assert [ended.out for ended in resolved] == [
        "1.4\texact\n",
        "1.4\tthe newest version in the range ^1.0\n",
        "2.0\tthe newest release\n",
    ]


def test_the_outline_of_a_page_by_key_url_or_id(indexed):
    [hit, *_] = indexed.hits("search", "self-test", "-l", "kestrel@2.0", "--keyword")
    by_id, by_url, shown = indexed.run_all(
        ("outline", "kestrel@2.0", hit["page_id"], "--json"),
        ("outline", "kestrel", hit["url"], "--json"),
        ("outline", "kestrel@2", "guide/install.md"),
    )
    assert by_id.json == by_url.json
    assert "kestrel 2.0: the newest version in the range 2" in shown.err
    assert [re.sub(r"  (lines|#).*", "", line) for line in shown.out.splitlines()][:5] == [
        "Install Kestrel",
        "└── Install Kestrel",
        "    ├── From a package",
        "    └── From source",
        "        └── Checking the build",
    ]
    ended = indexed.run("outline", "kestrel", "instal", code=1)
    assert "has no page 'instal'" in ended.err
    assert "guide/install.md" in ended.err


def test_settings_of_a_library_are_changed_one_by_one(pgrag, fixtures_folder):
    pgrag.run("index", "wegweiser", fixtures_folder / "wegweiser")
    changed = pgrag.json("configure", "wegweiser", "alpha=0.5", "field_weights.title=7")
    assert (changed["alpha"], changed["field_weights"]["title"]) == (0.5, 7)
    shown = pgrag.run("configure", "wegweiser", "field_weights.url=2", "alpha=null").out
    rows = [line.split() for line in shown.splitlines()]
    for row in (["field_weights.title", "7"], ["anchor_texts", "false"], ["exact_limit", "20000"]):
        assert row in rows
    refused = pgrag.run("configure", "wegweiser", "alpha=much", code=1)
    assert 'alpha must be a number from 0 to 1, got "much"' in refused.err

    assert "0 texts of wegweiser" in pgrag.run("embed", "wegweiser", "--activate").out
    unknown = pgrag.run("embed", "wegweiser", "--model", "large-one", code=1)
    assert "'large-one' is not configured here" in unknown.err


def test_a_library_goes_only_when_somebody_has_said_so(pgrag, kestrel):
    for target in ("kestrel@1.4", "kestrel"):
        pgrag.run("index", target, kestrel / "1.4")
    assert "--yes" in pgrag.run("remove", "kestrel@1.4", code=2).err
    assert "1.4, (unversioned)" in pgrag.run("remove", "kestrel@3", "--yes", code=1).err

    assert pgrag.json("remove", "kestrel@", "--yes")["pages"] == 2
    removed = pgrag.run("remove", "kestrel", "--yes")
    assert "Removed kestrel with all its versions: 2 pages." in removed.out
    assert "No library is indexed yet" in pgrag.run("search", "copies").err


def test_a_shell_completes_the_names_of_libraries(indexed, tmp_path):
    def completed(pgrag, words):
        number = str(len(words.split()) - 1)
        asked = {"_PGRAG_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": number}
        return pgrag.with_variables(**asked).run().out.split()

    for words in ("pgrag search k", "pgrag search backup -l k", "pgrag outline k"):
        assert completed(indexed, words) == ["kestrel"]
    assert completed(indexed, "pgrag read kestrel@1") == ["kestrel@1.4"]
    assert completed(indexed, "pgrag libra") == ["libraries"]
    assert completed(CommandLine(tmp_path), "pgrag search k") == []
    assert not any(tmp_path.iterdir()), "no server is made to complete a word"
    nowhere = indexed.with_variables(PGRAG_DATABASE_URL="postgresql://127.0.0.1:1/none")
    assert completed(nowhere, "pgrag search k") == []
