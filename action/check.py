"""Index a folder, check its links and its search, and write what moved as Markdown.

A step of action.yml, which gives its inputs as variables. Needs Python alone, and `pgrag` in PATH.
"""

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from pull_request import annotation, report

INPUTS = ("LIBRARY", "SOURCE", "VERSION", "OPTIONS", "LINKS", "EVALUATION", "BASELINE", "TOLERANCE")
CHANGE, BASE = "change", "base"


@dataclass
class Measured:
    """What is known of the pages in one state of the repository.

    `scores` are the rows of `pgrag eval gate`, `new` the broken links that another state lacks.
    """

    pages: int
    failed: dict[str, str]
    broken: list[dict[str, Any]]
    scores: list[dict[str, Any]] = field(default_factory=list)
    new: list[dict[str, Any]] | None = None


def main() -> None:
    """Measure the change, and its base where there is one; write outputs and the report."""
    chosen = {name: os.environ.get(name, "").strip() for name in INPUTS}
    source, links = chosen["SOURCE"], chosen["LINKS"]
    if links not in {"all", "new", "none"}:
        stop(f"links is {links!r}; it is all, new or none.")
    if not Path(source).exists():
        stop(f"source is {source!r}, which is not in {Path.cwd()}; does a checkout come before?")
    database = os.environ.get("DATABASE_URL", "")
    if database:
        print(f"::add-mask::{database}")
        os.environ["PGRAG_DATABASE_URL"] = database
        pgrag("db", "upgrade", reads=False)
        before, now, moved = None, measured(chosen, Path(), chosen["VERSION"]), {}
    else:
        # The job's own database, whatever the environment says.
        os.environ.pop("PGRAG_DATABASE_URL", None)
        before, now, moved = compared(chosen)
    if before is not None:
        now.new = news(before, now)
    new = now.new
    if links == "new" and new is None:
        print("::notice::No base to compare with, so all broken links count.")
    failing = {"all": now.broken, "new": now.broken if new is None else new, "none": []}[links]
    fallen = [row["config"] for row in now.scores if not row["passed"]]
    faults = [f"{len(failing)} links broken"] if failing else []
    faults += [f"nDCG@10 fell: {', '.join(fallen)}"] if fallen else []
    faults += [f"{len(now.failed)} pages cannot be read"] if now.failed else []
    for row in failing:
        print(annotation(source, row))
    for page, reason in now.failed.items():
        print(annotation(source, {"source_page": page, "line": 1, "fault": reason}))
    path = Path(os.environ["RUNNER_TEMP"]) / "pgrag-report.md"
    text = report(chosen["LIBRARY"], source, before, now, moved)
    path.write_text(text, encoding="utf-8")
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as summary:
        summary.write(text)
    outputs = {
        "pages": now.pages, "broken-links": len(now.broken),
        "new-broken-links": "" if new is None else len(new),
        "gate": "" if not now.scores else "failed" if fallen else "passed",
        "report": path, "faults": "; ".join(faults),
    }  # fmt: skip
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        file.writelines(f"{name}={value}\n" for name, value in outputs.items())


def compared(chosen: dict[str, str]) -> tuple[Measured | None, Measured, dict[str, Any]]:
    """Measure the base, if the checkout has it, and the change; and what moved between them."""
    base = base_of_pull_request()
    folder = Path(os.environ["RUNNER_TEMP"]) / "pgrag-base"
    before = None
    if base is not None:
        git("worktree", "add", "--force", "--detach", str(folder), base)
        try:
            if (folder / chosen["SOURCE"]).exists():
                before = measured(chosen, folder, BASE)
        finally:
            git("worktree", "remove", "--force", str(folder))
    now = measured(chosen, Path(), CHANGE)
    if before is None:
        return None, now, {}
    moved: dict[str, Any] = {"pages": pgrag("compare", chosen["LIBRARY"], BASE, CHANGE)}
    runs = {row["config"]: row["run"] for row in before.scores}
    moved["queries"] = {
        row["config"]: pgrag("eval", "compare", str(runs[row["config"]]), str(row["run"]))
        for row in now.scores
        if row["config"] in runs
    }
    return before, now, moved


def measured(chosen: dict[str, str], root: Path, version: str) -> Measured:
    """Index the folder below a root as a version, list its broken links, and ask the queries."""
    source = str(root / chosen["SOURCE"])
    target = f"{chosen['LIBRARY']}@{version}" if version else chosen["LIBRARY"]
    indexed = pgrag("index", target, source, *shlex.split(chosen["OPTIONS"]))
    broken = [row for row in pgrag("links", target, "--check") if not is_file(Path(source), row)]
    for row in broken:
        row["fault"] = fault(row)
    result = Measured(indexed["pages"], indexed["failed"], broken)
    if chosen["EVALUATION"]:
        # The queries of the change, also for its base.
        queries = chosen["EVALUATION"]
        baseline = chosen["BASELINE"] or str(Path(queries) / "baseline.json")
        name = set_of(baseline)
        pgrag("eval", "import", name, queries, "--corpus", source)
        result.scores = pgrag("eval", "gate", name, baseline, "--tolerance", chosen["TOLERANCE"])
    return result


def set_of(baseline: str) -> str:
    """The name of the set of a baseline."""
    try:
        return str(json.loads(Path(baseline).read_text(encoding="utf-8"))["set"])
    except (OSError, ValueError, KeyError, TypeError):
        stop(f"{baseline} is no baseline; write it with `pgrag eval gate SET {baseline} --update`.")


def is_file(source: Path, row: dict[str, Any]) -> bool:
    """Whether a link leads to a file that is no page, such as a licence or source code."""
    path = source / Path(row["source_page"]).parent / unquote(row["target"])
    # Unlike the method, the function says no to a name that no file can have.
    return row["state"] == "unresolved" and os.path.exists(path)


def fault(row: dict[str, Any]) -> str:
    """Why a link is broken, in the words of `pgrag links --check`."""
    written = f"{row['target']}#{row['fragment']}" if row["fragment"] else row["target"]
    if row["state"] == "unresolved":
        return f"{written} leads to no page"
    if row["state"] == "ambiguous":
        return f"{written} could be {' or '.join(row['candidates'][:4])}"
    return f"{row['target_page']} has no heading or block #{row['fragment']}"


def news(before: Measured, now: Measured) -> list[dict[str, Any]]:
    """The broken links that the base does not have; a line that only moved is no news."""
    known = [(row["source_page"], row["fault"]) for row in before.broken]
    found = []
    for row in now.broken:
        if (name := (row["source_page"], row["fault"])) in known:
            known.remove(name)
        else:
            found.append(row)
    return found


def base_of_pull_request() -> str | None:
    """The commit that a pull request would change, if it is one and the checkout has the commit."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    if "pull_request" not in event:
        return None
    # actions/checkout checks out the merge; its first parent is newer than the base of the event.
    merge = os.environ["GITHUB_SHA"]
    for commit in (f"{merge}^1", event["pull_request"]["base"]["sha"]):
        wanted = [f"{commit}^{{commit}}", f"{merge}^2"] if commit.startswith(merge) else [commit]
        if all(git("cat-file", "-e", each, must=False) for each in wanted):
            return str(commit)
    print("::notice::Check out with fetch-depth: 2 to see what the pull request moves.")
    return None


def git(*arguments: str, must: bool = True) -> bool:
    """Run git; return whether it succeeded."""
    return not subprocess.run(["git", *arguments], check=must, capture_output=True).returncode


def pgrag(*arguments: str, reads: bool = True) -> Any:
    """Run a command of pgrag; return what it prints as JSON. What it says goes to the log."""
    print("$", shlex.join(("pgrag", *arguments)), flush=True)
    done = subprocess.run(
        ["pgrag", *arguments, *(["--json"] if reads else [])],
        stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if not reads and done.returncode == 0:
        return None
    try:
        # With status 1 it has found something, and prints it.
        return json.loads(done.stdout)
    except ValueError:
        stop(f"{shlex.join(('pgrag', *arguments))} failed; the log says why.")


def stop(reason: str) -> NoReturn:
    """End the step."""
    print(f"::error::{reason}")
    sys.exit(1)


if __name__ == "__main__":
    main()
