"""`pgrag demo`, and `pgrag serve --index`: from nothing to a search."""

import signal

from service import eventually, free_port, served


def test_the_demo_shows_its_commands_and_searches_pgrags_own_pages(pgrag):
    shown = pgrag.run("demo", "--no-serve")
    assert "$ pgrag index pgrag " in shown.err
    assert "Ranking" in shown.out
    assert "More: pgrag search --after=" in shown.err
    assert pgrag.json("libraries")[0]["library"] == "pgrag"


def test_the_demo_serves_a_source_of_the_user_and_names_one_that_is_none(pgrag, kestrel, tmp_path):
    process = pgrag.start(
        "demo", kestrel / "2.0", "--library", "kestrel@2.0", "--port", port := free_port(),
    )  # fmt: skip
    lines = []
    for line in iter(process.stderr.readline, ""):
        lines.append(line)
        if f"Serving on http://127.0.0.1:{port}" in line:
            break
    assert "Now: pgrag search --library kestrel@2.0 'words of yours'\n" in lines
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert "kestrel 2.0 from" in out
    missing = pgrag.run("demo", tmp_path / "nope", code=1)
    assert missing.err.count("error: ") == 1
    assert "nope: no such file or folder" in missing.err


def test_a_service_indexes_while_it_answers_and_says_how_that_ended(pgrag, kestrel, tmp_path):
    (tmp_path / "empty").mkdir()
    wanted = (f"kestrel@2.0={kestrel / '2.0'}", f"void={tmp_path / 'empty'}", "No Name=x")
    options = [word for each in wanted for word in ("--index", each)]
    with served(pgrag, *options) as (client, process):

        def titles():
            answer = client.get("/v1/search", params={"q": "restore", "library": "kestrel"})
            return [hit["title"] for hit in answer.json().get("hits", ())]

        eventually(lambda: "Restore a folder" in titles())
        eventually(lambda: pgrag.json("jobs", "list", "--state", "succeeded"))
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert "4 pages written, 0 unchanged" in err
    assert "No Name: " in err
    refused = pgrag.run("serve", "--index", "handbook", code=2)
    assert "LIBRARY[@VERSION]=SOURCE" in " ".join(refused.err.replace("│", " ").split())
