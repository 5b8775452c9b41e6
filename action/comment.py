"""Write the report as a comment of the pull request; a later run rewrites it.

A step of action.yml. Requests from forks have a token that may not write: the job's summary has the
report all the same.
"""

import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: A comment of GitHub holds 65,536 characters.
_MOST = 60_000
_REFUSALS = frozenset({401, 403, 404})


def main() -> None:
    """Find the comment of an earlier run, and rewrite it, or make one."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    if os.environ.get("COMMENT") != "true" or "pull_request" not in event:
        return
    if not os.environ.get("TOKEN"):
        print("::notice::Without a token the report is in the summary only.")
        return
    text = Path(os.environ["REPORT"]).read_text(encoding="utf-8")
    # The first line names the library: another library of the repository has a comment of its own.
    body = f"<!-- pgrag -->\n{text[:_MOST]}"
    number = event["pull_request"]["number"]
    issues = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    try:
        for earlier in _earlier(f"{issues}/{number}/comments", body.partition("\n\n")[0]):
            if _is_rewritten(f"{issues}/comments/{earlier}", body):
                return
        _ask("POST", f"{issues}/{number}/comments", {"body": body})
    except urllib.error.HTTPError as error:
        if error.code not in _REFUSALS:
            raise
        print(
            f"::notice::GitHub refuses the comment ({error.code}), as for requests from forks; the"
            " summary has the report. Otherwise: permissions: {pull-requests: write}."
        )


def _earlier(comments: str, beginning: str) -> Iterator[int]:
    page = 1
    while found := _ask("GET", f"{comments}?per_page=100&page={page}"):
        for comment in found:
            # GitHub may store other ends of lines.
            if (comment["body"] or "").replace("\r\n", "\n").startswith(beginning):
                yield int(comment["id"])
        page += 1


def _is_rewritten(comment: str, body: str) -> bool:
    """Rewrite a comment; somebody else's, which begins in the same way, cannot be."""
    try:
        _ask("PATCH", comment, {"body": body})
    except urllib.error.HTTPError as error:
        if error.code not in _REFUSALS:
            raise
        return False
    return True


def _ask(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    request = urllib.request.Request(
        os.environ["GITHUB_API_URL"] + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {os.environ['TOKEN']}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
