"""`pgrag enrich`, as a process of its own, with a language model on loopback."""

import signal

import pytest
from llm_server import MODEL, hang, says, serving, status

PAGE = """# The {name}

## Blade

The blade of a {name} is cleaned with a dry brush after each cut, and oiled once a week. What is
left of resin comes off with a drop of turpentine on a soft cloth, never with a knife.

## Handle

The handle of a {name} is made of beech. It wants linseed oil in spring and in autumn, and a dry
place all the year round. A handle that is loose is glued before it is used again.
"""


def written(folder):
    folder.mkdir()
    for name in ("saw", "plane"):
        (folder / f"{name}.md").write_text(PAGE.format(name=name), "utf-8")
    return folder


@pytest.fixture(scope="module")
def server():
    with serving(says("Ebony: on the care of tools.")) as server:
        yield server


@pytest.fixture
def asking(pgrag, server):
    return pgrag.with_variables(
        PGRAG_LLM_URL=server.url, PGRAG_LLM_MODEL=MODEL, PGRAG_LLM_RETRIES="0"
    )


def test_plan_run_state_and_removal(asking, server, tmp_path):
    asking.run("index", "shop@1.0", written(tmp_path / "docs"))

    told = asking.run("enrich", "shop", "--dry-run").out
    assert "context of shop: 4 calls, about" in told
    assert told.endswith("No model was called.\n")
    assert server.requests == []

    server.script = [*[says("Ebony: on the care of tools.")] * 3, status(503), says("Ebony.")]
    run = asking.run("enrich", "shop@1.0", "--what", "context", code=1)
    assert "context of shop@1.0: 3 passages changed (4 calls" in run.out
    assert "no context:" in run.err
    state = asking.run("enrich", "shop", "--state")
    assert "context: 3 of 4 passages by small-chat, 1 failed" in state.out
    assert "no context:" in state.out

    [context, summaries] = asking.run("enrich", "shop", "--json").json
    assert (context["calls"], context["documents"], summaries["documents"]) == (1, 1, 2)
    asked = len(server.requests)
    assert asking.run("enrich", "shop").out == (
        "Nothing to write: shop has its context.\nNothing to write: shop has its summaries.\n"
    )
    assert len(server.requests) == asked
    [hit] = asking.hits("search", "-l", "shop", "ebony tools", "-n", "1")
    assert hit["key"].endswith(".md")
    assert asking.run("doctor", "shop").code == 0

    removed = asking.run("enrich", "shop", "--remove", "--json").json
    assert (removed["context"], removed["summaries"]) == (4, 2)
    assert "context: 0 of 4" in asking.run("enrich", "shop", "--state").out


def test_an_interrupted_run_keeps_what_was_paid_for(asking, server, tmp_path):
    asking.run("index", "shop", written(tmp_path / "docs"))
    server.script = [says("Ebony."), hang]
    one_by_one = asking.with_variables(PGRAG_LLM_CONCURRENCY="1")
    process = one_by_one.start("enrich", "shop", "--what", "context")
    try:
        assert server.hanging.wait(60)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, said
    assert "the next run continues from here" in said
    assert server.left.wait(120)
    server.script = [says("Ebony.")]
    [report] = asking.json("enrich", "shop", "--what", "context")
    assert (report["calls"], report["failed"]) == (3, 0)


def test_what_cannot_be_done_is_said(pgrag, asking):
    without = pgrag.run("enrich", "shop", code=1)
    assert "No language model is configured." in without.err
    assert "PGRAG_LLM_URL" in without.err
    assert "no enrichment 'poems'" in asking.run("enrich", "x", "--what", "poems", code=1).err
    assert asking.run("enrich", "x", "--dry-run", "--state", code=2)
