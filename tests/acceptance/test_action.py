"""The GitHub Action: what a pull request is told, and what fails the job."""

import json
import subprocess

import psycopg
import pytest
from action_runner import github_api, run_action
from git_server import commit, run_git

from pgrag.ground.embedded import EmbeddedServer

TIDES = "# Tides\n\n## Depth over the sill\n\nThe predicted height minus 1.8 metres.\n"
MOORINGS = (
    "# Moorings\n\nVisitors moor on pontoon C. See [the tides](tides.md#depth-over-the-sill).\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of a runner, whose server goes afterwards."""
    folder = tmp_path_factory.mktemp("runner")
    yield folder
    EmbeddedServer(folder / "pgrag").remove()


@pytest.fixture
def github():
    with github_api() as github:
        yield github


@pytest.fixture
def checkout(tmp_path):
    """The merge of a pull request that renames a heading, breaks a link and adds a page."""
    checkout = tmp_path / "checkout"
    write(checkout, {
        "docs/tides.md": TIDES,
        "docs/moorings.md": f"{MOORINGS}\n[Gone](nowhere.md), [queries](../queries/qrels)\n",
        "queries/qrels": "",
        "queries/queries.jsonl": '{"_id": "q1", "text": "depth over the sill"}\n',
        "queries/qrels.tsv": "query-id\tcorpus-id\tscore\nq1\ttides.md\t1\n",
        "queries/baseline.json": json.dumps({
            "set": "harbour", "metric": "ndcg@10", "scores": {"keyword": 1.0},
        }),
    })  # fmt: skip
    commit(checkout)
    run_git(checkout, "checkout", "-q", "-b", "change")
    write(checkout, {
        "docs/tides.md": "# Tides\n\n## Water\n\nAsk the harbour master.\n",
        "docs/depth.md": "# Depth over the sill\n\nSee the [depth](nowhere`@x|<b>.md).\n",
    })  # fmt: skip
    commit(checkout)
    run_git(checkout, "checkout", "-q", "main")
    run_git(checkout, "merge", "-q", "--no-ff", "-m", "merge", "change")
    return checkout


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def pull_request(checkout):
    return {
        "pull_request": {"number": 7, "base": {"sha": run_git(checkout, "rev-parse", "HEAD^1")}}
    }


def test_a_pull_request_is_told_what_it_moves(folder, checkout, github):
    event = {"workspace": checkout, "event": pull_request(checkout), "github": github}
    inputs = {"library": "harbour", "links": "new", "evaluation": "queries"}
    job = run_action(folder, inputs, **event)
    assert not job.succeeded, job.log
    assert "::error::2 links broken; nDCG@10 fell: keyword" in job.log
    missing = "::error file=docs/moorings.md,line=3::tides.md has no heading or block"
    assert f"{missing} #depth-over-the-sill" in job.log
    assert "line=5" not in job.log, "broken before, too"
    found = {
        name: job.outputs[name] for name in ("pages", "broken-links", "new-broken-links", "gate")
    }
    assert found == {
        "pages": "3", "broken-links": "3", "new-broken-links": "2", "gate": "failed",
    }  # fmt: skip
    [comment] = github.comments
    assert comment["body"] == f"<!-- pgrag -->\n{job.summary}"
    for line in (
        "### Documentation: `harbour`", "| pages | 2 | 3 |", "| broken links | 1 | 3 |",
        "**2 links break**", "**2 pages changed**", "- added: `depth.md`",
        "- changed: `tides.md`, 2 sections", "| `depth over the sill` | 1.00 | 0.00 |",
    ):  # fmt: skip
        assert line in job.summary.splitlines()
    assert "| nDCG@10 keyword | 1.0000 | 0.0000, below 1.0000 |" in job.summary
    # Nothing that the change has written is markup, or calls somebody.
    assert "`nowhere'@x\\|<b>.md leads to no page`" in job.summary
    assert run_git(checkout, "worktree", "list").count("\n") == 0
    # The next push rewrites the comment.
    write(checkout, {"docs/tides.md": TIDES, "docs/depth.md": "# Depth\n\nText.\n"})
    run_git(checkout, "commit", "-q", "-a", "--amend", "-m", "merge")
    job = run_action(folder, {"library": "harbour", "links": "new"}, **event)
    assert job.succeeded, job.log
    [comment] = github.comments
    assert "| broken links | 1 | 1 |" in comment["body"]
    assert github.requests[-1] == "PATCH /repos/harbour/docs/issues/comments/1"


def test_a_request_from_a_fork_and_a_checkout_without_its_base(folder, checkout, github, tmp_path):
    shallow = tmp_path / "shallow"
    url = f"file://{checkout}"
    subprocess.run(["git", "clone", "-q", "--depth", "1", url, shallow], check=True)
    github.status = 403
    event = pull_request(checkout)
    job = run_action(folder, {"library": "fork"}, workspace=shallow, event=event, github=github)
    assert not job.succeeded
    assert "::error::3 links broken" in job.log
    assert "::notice::Check out with fetch-depth: 2" in job.log
    assert "::notice::GitHub refuses the comment (403), as for requests from forks" in job.log
    assert "| pages |  | 3 |" in job.summary
    assert job.outputs["new-broken-links"] == ""


def test_a_push_indexes_into_the_database(folder, checkout, github, database_url):
    inputs = {"library": "harbour", "version": "2.1", "links": "none", "database-url": database_url}
    inputs["options"] = "--base-url 'https://harbour.example/'"
    job = run_action(folder, inputs, workspace=checkout, event={}, github=github)
    assert job.succeeded, job.log
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("select url from pgrag.search('pontoon', 'harbour')").fetchall()
    assert rows[0] == ("https://harbour.example/moorings",)
    assert github.requests == []


@pytest.mark.parametrize(("inputs", "said"), [
    ({"links": "some"}, "links is 'some'; it is all, new or none."),
    ({"source": "nope"}, "source is 'nope', which is not in"),
    ({"evaluation": "docs"}, "write it with `pgrag eval gate SET docs/baseline.json --update`"),
    ({"options": "--nope"}, "pgrag index harbour@change docs --nope failed; the log says why."),
])  # fmt: skip
def test_wrong_inputs_are_named(folder, checkout, github, inputs, said):
    inputs = {"library": "harbour", **inputs}
    job = run_action(folder, inputs, workspace=checkout, event={}, github=github)
    assert not job.succeeded
    assert said in job.log
