"""Secrets reach the servers that they are for, and nothing that people or agents read.

Each secret is a canary: a word that occurs nowhere else. Every output is searched for it.
"""

import base64
import json
import signal
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote

import psycopg
import pytest
from command_line import SECONDS
from git_server import commit, run_git
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from service import served

BIRD = "kanarienvogel"
PASSWORD = f"{BIRD}-of/the+database"
GIT = f"https://reader:{BIRD}-of-git@git.example/docs.git"
KEYS = {
    "PGRAG_EMBEDDING_API_KEY": f"{BIRD}-embedding-key",
    "PGRAG_RERANKER_API_KEY": f"{BIRD}-reranker-key",
    "PGRAG_LLM_API_KEY": f'{BIRD}-"llm"-key',
}


class Echo(ThreadingHTTPServer):
    """A server that refuses everything and repeats what it was sent, headers and all."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _EchoHandler)
        self.seen = []


class _EchoHandler(BaseHTTPRequestHandler):
    server: Echo

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append(f"{self.path} {self.headers}")
        told = {"path": self.path, **self.headers}
        scheme, _, credentials = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            told["decoded"] = base64.b64decode(credentials).decode()
        body = json.dumps({"error": {"message": told}}).encode()
        self.send_response(401 if "answer" not in self.path else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Echo", self.headers.get("Authorization", ""))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST

    def log_message(self, *_):
        pass


@pytest.fixture
def echo():
    with Echo() as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.05])
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def assert_secret(what, text):
    """No canary in any of its clothes: as it is, in a URL, in JSON, in a header."""
    for form in (text, unquote(text), text.replace("\\", "")):
        assert BIRD not in form, f"{what}: {form[max(0, form.index(BIRD) - 300) :][:600]}"
    for user in ("reader", "ranker"):
        for word in ("of-git", "of-reranker"):
            assert base64.b64encode(f"{user}:{BIRD}-{word}".encode()).decode() not in text, what


def run(pgrag, *arguments):
    """Run a command and search its output; its log at level debug may have tracebacks."""
    ended = pgrag.attempt(*arguments)
    assert_secret(" ".join(map(str, arguments)), ended.out + ended.err)
    return ended


@pytest.fixture
def url(database_url, admin):
    """The database, to a role whose password is a canary."""
    role = f"reader_{conninfo_to_dict(database_url)['dbname']}"
    admin.execute(
        sql.SQL("create role {} superuser login password {}").format(
            sql.Identifier(role), sql.Literal(PASSWORD)
        )
    )
    yield make_conninfo(database_url, user=role, password=PASSWORD)
    admin.execute(sql.SQL("drop role {}").format(sql.Identifier(role)))


@pytest.fixture
def caged(pgrag, echo, kestrel, url):
    """`pgrag` with a secret in each setting that may have one, and a library."""
    pgrag.run("index", "kestrel", kestrel / "2.0")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pgrag.register_model('elsewhere', 8)")
        connection.execute("select pgrag.use_model('kestrel', 'elsewhere')")
    there = f"127.0.0.1:{echo.server_port}"
    return pgrag.with_variables(
        **KEYS,
        PGRAG_DATABASE_URL=url,
        PGRAG_EMBEDDING_URL=f"http://{there}/v1?token={BIRD}-query",
        PGRAG_EMBEDDING_MODEL="elsewhere", PGRAG_EMBEDDING_RETRIES="0",
        PGRAG_RERANKER_URL=f"http://ranker:{BIRD}-of-reranker@{there}",
        PGRAG_RERANKER_MODEL="ranks", PGRAG_RERANKER_RETRIES="0",
        PGRAG_LLM_URL=f"http://{there}/v1", PGRAG_LLM_MODEL="writes", PGRAG_LLM_RETRIES="0",
        PGRAG_LOG_LEVEL="debug", PGRAG_MCP_WRITES="1", PGRAG_MCP_ROOTS="/",
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path):
    """A repository whose remote has credentials, and that lacks an object."""
    root = tmp_path / "repository"
    root.mkdir()
    (root / "page.md").write_text("# Page\n")
    git = partial(run_git, root)
    commit(root)
    git("config", "remote.origin.url", GIT)
    git("config", "remote.origin.promisor", "true")
    git("config", "core.repositoryformatversion", "1")
    git("config", "extensions.partialClone", "origin")
    blob = git("rev-parse", "main:page.md").strip()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return root


def test_no_command_says_a_secret(caged, echo, repository):
    commands = [
        ("search", "configuration", "--library", "kestrel"),
        ("search", "configuration", "--library", "kestrel", "--mode", "semantic"),
        ("search", "configuration", "--library", "kestrel", "--rerank"),
        ("answer", "how is the configuration read?", "--library", "kestrel"),
        ("enrich", "kestrel", "context"), ("embed", "kestrel"), ("index", "other", repository),
        ("index", "git", GIT), ("index", "git", GIT, "--ref", "main"),
        ("index", "git", GIT.replace("//", "/")),
        ("index", "git", GIT.replace("https", "git+ssh")),
        ("index", "git", repository, "--ref", "main"),
        ("index", "git", repository, "--ref", "nothing"), ("doctor",), ("doctor", "--json"),
        ("doctor", "--settings"), ("doctor", "--settings", "--json"), ("doctor", "kestrel"),
        ("db", "status"), ("db", "status", "--json"), ("db", "upgrade"), ("db", "dump"),
        ("config", "show"), ("searches",),
    ]  # fmt: skip
    ended = [run(caged, *command) for command in commands]
    dump = next(one.out for command, one in zip(commands, ended, strict=True) if "dump" in command)
    assert "kestrel" in dump
    assert "********" in ended[commands.index(("doctor", "--settings"))].out
    # The secrets were in use, or the test would show nothing.
    seen = "".join(echo.seen)
    assert base64.b64encode(f"ranker:{BIRD}-of-reranker".encode()).decode() in seen
    assert [name for name, key in KEYS.items() if key not in seen] == ["PGRAG_RERANKER_API_KEY"]


def test_no_answer_of_a_service_says_a_secret(caged, echo):
    texts = []
    calls = [
        ("GET", "/v1/search?q=configuration&library=kestrel&rerank=true", None),
        ("GET", "/v1/search?q=configuration&library=kestrel&mode=semantic", None),
        ("POST", "/v1/answer", {"question": "how is configuration read?", "library": "kestrel"}),
        ("POST", "/v1/search", {"query": "configuration", "vector": "x"}),
        ("GET", "/v1/libraries/kestrel/versions", None),
        ("GET", "/v1/searches", None),
        ("GET", "/readyz", None),
        ("GET", "/openapi.json", None),
        ("GET", f"/{quote('nothing')}", None),
    ]
    tools = [
        ("index_docs", {"library": "git", "source": GIT}),
        ("index_docs", {"library": "git", "source": GIT, "ref": "main"}),
        ("search_docs", {"library": "kestrel", "query": "configuration"}),
        ("search_docs", {"library": "kestrel", "query": "configuration", "mode": "semantic"}),
        ("find_library", {}),
        ("find_library", {"library": "kestrel"}),
    ]
    with served(caged) as (client, process):
        for method, address, body in calls:
            answer = client.request(method, address, json=body)
            texts.append((address, f"{answer.headers} {answer.text}"))
        for name, arguments in tools:
            call = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
            answer = client.post(
                "/mcp",
                json={"jsonrpc": "2.0", "id": 1, **call},
                headers={"Accept": "application/json, text/event-stream"},
            )
            texts.append((name, f"{answer.headers} {answer.text}"))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=SECONDS)
    for what, text in texts:
        assert_secret(what, text)
    assert "401" in err, "the log says what went wrong"
    assert_secret("the log", out + err)
    assert KEYS["PGRAG_LLM_API_KEY"] in "".join(echo.seen)


def test_no_error_of_a_database_url_says_its_password(pgrag):
    for url in (
        # Nothing listens there.
        f"postgresql://reader:{BIRD}@127.0.0.1:9/docs",
        f"postgresql://reader:{BIRD}@127.0.0.1:9/docs?sslpassword={BIRD}",
        f"host=127.0.0.1 port=9 user=reader password='{BIRD} it''s'",
        f"host=127.0.0.1 port=9 user=reader PASSWORD = {BIRD}",
        # Characters that must be encoded, and what a hand may mistype.
        f"postgresql://reader:a/{BIRD}@127.0.0.1:9/docs",
        f"postgresql://reader:a@{BIRD}@127.0.0.1:9/docs",
        f"postgresql://reader:a#{BIRD}@127.0.0.1:9/docs",
        f"postgresql://reader:a?{BIRD}@127.0.0.1:9/docs",
        f"postgresql://reader:[{BIRD}@127.0.0.1:9/docs",
        f"postgresql://reader:a%zz{BIRD}@127.0.0.1:9/docs",
        f"postgresql//reader:{BIRD}@127.0.0.1:9/docs",
        f"postgresql:/reader:{BIRD}@127.0.0.1:9/docs",
        f"postgres:reader:{BIRD}@127.0.0.1:9/docs",
        f"mysql://reader:{BIRD}@127.0.0.1:9/docs",
        f"reader:{BIRD}@127.0.0.1:9/docs",
        f"host=127.0.0.1 port=9 password=two {BIRD}",
        f"host=127.0.0.1 port=9 password='two {BIRD}",
        f"host=127.0.0.1 port=9 password:{BIRD}",
        f"host=127.0.0.1 port=9 pasword={BIRD}",
    ):
        wrong = pgrag.with_variables(PGRAG_DATABASE_URL=url, PGRAG_LOG_LEVEL="debug")
        for command in (("libraries",), ("doctor", "--settings")):
            ended = run(wrong, *command)
            assert ended.code == (0 if "--settings" in command and not ended.err else 1)
    url = make_conninfo(pgrag.variables["PGRAG_DATABASE_URL"], password=f"{BIRD}-wrong")
    wrong = pgrag.with_variables(PGRAG_DATABASE_URL=url, PGRAG_LOG_LEVEL="debug")
    for command in (("libraries",), ("doctor", "--json"), ("db", "status"), ("db", "dump")):
        assert run(wrong, *command).code != 0


def test_no_error_of_another_setting_says_a_secret(pgrag):
    services = ("EMBEDDING", "RERANKER", "LLM")
    models = {f"PGRAG_{name}_MODEL": "m" for name in services}
    commands = [("doctor", "--settings"), ("search", "configuration", "--rerank")]

    def attempt(**variables):
        wrong = pgrag.with_variables(**models, **variables, PGRAG_LOG_LEVEL="debug")
        for command in commands:
            run(wrong, *command)

    for url in (
        f"htps://reader:{BIRD}@127.0.0.1/v1",
        f"https:/reader:{BIRD}@127.0.0.1/v1",
        f"reader:{BIRD}@127.0.0.1/v1",
        f"https://reader:{BIRD}/x@127.0.0.1/v1",
        f"https://reader:[{BIRD}]@127.0.0.1/v1",
        f"https://127.0.0.1:port/v1?api_key={BIRD}",
        f"127.0.0.1/v1?token={BIRD}",
    ):
        attempt(**{f"PGRAG_{name}_URL": url for name in services})
    key = f"{BIRD}-\u00e9\u200b"
    urls = {f"PGRAG_{name}_URL": "http://127.0.0.1:9/v1" for name in services}
    attempt(**urls, **{f"PGRAG_{name}_API_KEY": key for name in services})
