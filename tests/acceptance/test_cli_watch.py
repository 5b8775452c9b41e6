"""`pgrag index --watch`: each change is searchable soon, whatever it is, until Ctrl+C."""

import signal
import time

import psycopg
from command_line import SECONDS, wait_for, write_pages


def wait_for_pages(url, keys, word=""):
    """Wait until exactly these pages are stored, and one of them is found by a word."""
    deadline = time.monotonic() + SECONDS
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < deadline:
            rows = connection.execute("select p.key from pgrag.pages as p").fetchall()
            found = (
                not word
                or connection.execute(
                    "select 1 from pgrag.keyword_search(query => %s, library => 'pumps')", [word]
                ).fetchone()
            )
            if {key for (key,) in rows} == keys and found:
                return
            time.sleep(0.02)
    raise AssertionError(f"{keys} expected, there are {rows}; {word!r} is found: {bool(found)}")


def test_changes_are_searchable_soon_until_it_ends(pgrag, tmp_path):
    source = write_pages(tmp_path / "pumps", 40)
    kept = {str(path.relative_to(source)) for path in source.rglob("*.md")}
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    forgiving = pgrag.with_variables(PYTHONWARNINGS="error,ignore::ResourceWarning")
    process = forgiving.start("index", "pumps", source, "--watch")
    wait_for(url, "select count(*) from pgrag.versions where status = 'ready'", process, least=1)

    (source / "new.md").write_text("# New\n\nThe flywheel is oiled.\n")
    wait_for_pages(url, kept | {"new.md"}, "flywheel")
    (source / "new.md").write_text("# New\n\nThe crankshaft is oiled.\n")
    wait_for_pages(url, kept | {"new.md"}, "crankshaft")
    (source / "new.md").rename(source / "part-0" / "moved.md")
    wait_for_pages(url, kept | {"part-0/moved.md"}, "crankshaft")
    (source / "part-0").rename(source / "part-x")
    renamed = {key.replace("part-0/", "part-x/") for key in kept | {"part-0/moved.md"}}
    wait_for_pages(url, renamed)
    (source / ".gitignore").write_text("part-x/\n")
    (source / "part-x" / "draft.md").write_text("# Draft\n")
    kept = {key for key in renamed if not key.startswith("part-x/")}
    wait_for_pages(url, kept)

    # A bad file is reported, and the watch goes on; a folder of pages comes at once.
    (source / "bad.md").write_bytes(bytes(range(1, 30)) * 50)
    for number in range(25):
        (source / f"burst-{number}.md").write_text(f"# Burst {number}\n\nThe gasket is tight.\n")
    wait_for_pages(url, kept | {f"burst-{number}.md" for number in range(25)}, "gasket")
    for number in range(25):
        (source / f"burst-{number}.md").unlink()
    wait_for_pages(url, kept)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (0, False), err
    assert "Watching has ended" in out
    assert err.count("bad.md: is binary") == 1
    assert out.count("pumps from ") < 12, "a burst is one run, or few"


def test_only_a_folder_is_watched(pgrag, tmp_path):
    source = write_pages(tmp_path / "pumps", 1)
    refused = pgrag.run("index", "pumps", source / "part-0" / "pump-0.md", "--watch", code=1).err
    assert "is not a folder, so it cannot be watched" in refused
    refused = pgrag.run(
        "index", "pumps", source, "--watch", "--max-pages", "3", "--allow-private", code=1
    ).err
    assert "allow_private, max_pages have no meaning for a folder that is watched" in refused
    refused = pgrag.run("index", "pumps", source, "--watch", "--ref", "main", code=2).err
    assert "Invalid value for --watch" in refused
