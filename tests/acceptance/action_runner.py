"""Runs the steps of a composite action as GitHub's runner does, with its API on loopback.

Only what action.yml uses: inputs with defaults, outputs of steps, the files that variables name.
Anything else in it is an error here, so that no step passes without having been run as written.
"""

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


@dataclass
class GitHub:
    """The comments of a pull request; `status` is what every request gets, if it is not 200."""

    url: str = ""
    comments: list[dict] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    status: int = 200


@dataclass
class Job:
    """What a job has left: whether it succeeded, its log, its summary and the outputs."""

    succeeded: bool = True
    log: str = ""
    summary: str = ""
    outputs: dict[str, str] = field(default_factory=dict)


def run_action(
    folder: Path,
    inputs: Mapping[str, str],
    *,
    workspace: Path,
    event: Mapping[str, object],
    github: GitHub,
    token: str = "token",
) -> Job:
    """Run action.yml in a checkout, for an event; `folder` is for the runner's own files."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    unknown = inputs.keys() - action["inputs"].keys()
    assert not unknown, unknown
    values = {"github.token": token}
    for name, stated in action["inputs"].items():
        assert name in inputs or not stated.get("required"), name
        default = str(stated.get("default", ""))
        values[f"inputs.{name}"] = inputs.get(name, _filled(default, values))
    job = Job()
    files = {name: folder / name.lower() for name in ("GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
    (folder / "event.json").write_text(json.dumps(event), encoding="utf-8")
    for number, step in enumerate(action["runs"]["steps"]):
        assert step.keys() <= {"name", "id", "shell", "env", "run"}, step
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "a text of others would become a part of the script"
        output = folder / f"output-{number}"
        for file in (output, *files.values()):
            file.touch()
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=workspace, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={
                "PATH": f"{_programs(folder)}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(folder), "PGRAG_HOME": str(folder / "pgrag"), "LC_ALL": "C.UTF-8",
                "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_REPOSITORY": "harbour/docs",
                "GITHUB_API_URL": github.url, "GITHUB_EVENT_PATH": str(folder / "event.json"),
                "GITHUB_SHA": _head(workspace), "GITHUB_OUTPUT": str(output),
                "RUNNER_TEMP": str(folder), **{name: str(file) for name, file in files.items()},
                **{name: _filled(value, values) for name, value in step.get("env", {}).items()},
            },
        )  # fmt: skip
        job.log += done.stdout
        for line in output.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            values[f"steps.{step['id']}.outputs.{name}"] = value
        if done.returncode != 0:
            job.succeeded = False
            break
    job.summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    files["GITHUB_STEP_SUMMARY"].unlink()
    job.outputs = {name: _filled(o["value"], values) for name, o in action["outputs"].items()}
    return job


def _filled(text: str, values: Mapping[str, str]) -> str:
    # As GitHub does, what is not there is empty; a context of another kind is a mistake.
    def value(found: re.Match[str]) -> str:
        assert found[1].startswith(("inputs.", "steps.", "github.token")), found[1]
        return values.get(found[1], "")

    return _EXPRESSION.sub(value, text)


def _head(workspace: Path) -> str:
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.check_output(command, cwd=workspace, text=True).strip()


def _programs(folder: Path) -> Path:
    """A folder with `pgrag`, which the job has installed before."""
    program = folder / "bin" / "pgrag"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pgrag "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return program.parent


@contextmanager
def github_api() -> Iterator[GitHub]:
    """Serve the comments of the pull requests of harbour/docs."""
    github = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "{}")
            path, _, query = self.path.partition("?")
            github.requests.append(f"{self.command} {path}")
            assert self.headers["Authorization"] == "Bearer token"
            result: object = {}
            if github.status == 200 and self.command == "GET":
                result = github.comments if "page=1" in query.split("&") else []
            elif github.status == 200 and self.command == "POST":
                result = {"id": len(github.comments) + 1, **body}
                github.comments.append(result)
            elif github.status == 200:
                github.comments[int(path.rpartition("/")[2]) - 1].update(body)
            self.send_response(github.status)
            self.end_headers()
            self.wfile.write(json.dumps(result).encode())

        do_GET = do_POST = do_PATCH = answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    github.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
