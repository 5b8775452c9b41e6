"""A server of git repositories on this machine: smart HTTP by `git http-backend`."""

import base64
import os
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class GitServer:
    """`url` is below which the repositories of a folder are; `requests` are paths asked for."""

    url: str = ""
    requests: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    login: str = ""
    moved_to: str = ""


def run_git(folder, *arguments, given=""):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, input=given.encode()
    )
    return done.stdout.decode().strip()


def commit(folder, *options):
    """Commit all files of a folder, which becomes a repository."""
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A", *options)
    run_git(folder, "commit", "-q", "-m", "all")


@contextmanager
def serving(root):
    state = GitServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, query = self.path.partition("?")
            state.requests.append(path)
            given = self.headers.get("Authorization", "")
            state.headers.append(given)
            if state.moved_to:
                self.send_response(301)
                self.send_header("Location", state.moved_to + self.path)
                self.end_headers()
                return
            wanted = f"Basic {base64.b64encode(state.login.encode()).decode()}"
            if state.login and given != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            done = subprocess.run(
                ["git", "http-backend"], input=body, capture_output=True, check=False,
                env=os.environ | {
                    "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                    "QUERY_STRING": query, "REQUEST_METHOD": self.command,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                    "REMOTE_ADDR": "127.0.0.1",
                },
            )  # fmt: skip
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            lines = dict(line.split(": ", 1) for line in head.decode().splitlines())
            self.send_response(int(lines.pop("Status", "200")[:3]))
            for name, value in lines.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
