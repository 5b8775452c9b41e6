"""Repositories at an address: fetched by ref and tag, from a server on this machine."""

import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import ip_address

import pytest
from git_server import commit, run_git, serving
from trees import write

from pgrag.ground.errors import ForbiddenAddress, SourceError
from pgrag.ground.outgoing import AllowList
from pgrag.ingest.source import repository as repository_module
from pgrag.ingest.source.repository import Network, repository_at
from pgrag.ingest.source.selection import Selection
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.source.sources import discover, discover_tags, label_of

LOOPBACK = AllowList(["127.0.0.0/8"])


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Folder with `site.git`: three tags, of which the first has another page than the last."""
    root = tmp_path_factory.mktemp("served")
    checkout = root / "checkout"
    for number, tag in enumerate(["v1.9.0", "v1.10.0", "v2.0.0"]):
        write(checkout, {"docs/a.md": f"# A {number}\n", "docs/same.md": "# Same\n"})
        commit(checkout)
        run_git(checkout, "tag", *(["-a", "-m", "told"] if number else []), tag)
    run_git(root, "clone", "-q", "--bare", "checkout", "site.git")
    run_git(root, "init", "-q", "--bare", "empty.git")
    return root


@pytest.fixture
def server(root):
    with serving(root) as server:
        yield server


@pytest.fixture
def network(tmp_path):
    return Network(tmp_path / "cache", LOOPBACK)


def contents(source, network, **options):
    with discover(source, network=network, **options) as opened:  # type: ignore[arg-type]
        return {file.key: file.read().decode() for file in opened.files()}


def test_the_default_branch_is_read_and_fetched_once(server, network):
    url = f"{server.url}/site.git"
    with discover(url, network=network) as source:
        assert {file.key for file in source.files()} == {"docs/a.md", "docs/same.md"}
        assert all(file.digest == digest_of(file.read()) for file in source.files())
        assert source.location == f"{url} at {str(source.revision)[:12]}"
        assert source.arguments is not None
        again = source.arguments
    assert (again["source"], again["ref"]) == (url, source.revision)
    asked = len(server.requests)
    assert contents(url, network, subfolder="docs")["a.md"] == "# A 2\n"
    assert server.requests[asked:] == ["/site.git/info/refs", "/site.git/git-upload-pack"]
    again.pop("source")
    assert contents(url, network, **again)["docs/a.md"] == "# A 2\n"


@pytest.mark.parametrize(("ref", "text"), [("v1.9.0", "# A 0\n"), ("main", "# A 2\n")])
def test_a_branch_tag_or_commit_is_read(server, network, root, ref, text):
    assert contents(f"{server.url}/site.git", network, ref=ref)["docs/a.md"] == text
    commit = run_git(root / "site.git", "rev-parse", f"{ref}^{{commit}}")
    elsewhere = Network(network.cache / "other", LOOPBACK)
    assert contents(f"{server.url}/site.git", elsewhere, ref=commit)["docs/a.md"] == text
    # Any address is that of a repository if a ref is asked for.
    (root / "plain").exists() or (root / "plain").symlink_to("site.git")
    assert contents(f"{server.url}/plain", network, ref=ref)["docs/a.md"] == text


def test_every_tag_becomes_a_version_in_the_order_of_their_numbers(server, network, root):
    for source in (f"{server.url}/site.git", str(root / "checkout"), str(root / "site.git")):
        asked = len(server.requests)
        versions = discover_tags(source, "v*", Selection(subfolder="docs"), network)
        assert [label for label, _ in versions] == ["1.9.0", "1.10.0", "2.0.0"]
        for number, (_, opened) in enumerate(versions):
            with opened() as pages:
                assert [file.key for file in pages.files()] == ["a.md", "same.md"]
                assert next(pages.files()).read() == f"# A {number}\n".encode()
        assert len(server.requests) - asked < 8  # one fetch for all
    with pytest.raises(SourceError, match=r"no tag matches 'x\*'") as caught:
        discover_tags(f"{server.url}/site.git", "x*", Selection(), network)
    assert caught.value.hint == "Its last tags: v1.9.0, v1.10.0, v2.0.0."


@pytest.mark.parametrize(("tag", "label"), [
    ("v1.2.3", "1.2.3"), ("1.2", "1.2"), ("release-1.2", "1.2"), ("jest@29.7.0", "29.7.0"),
    ("package/v1.2-rc.1", "1.2-rc.1"), ("@scope/name@3.0", "3.0"), ("go1.22", "1.22"),
    ("stable", "stable"), ("release/stable", "release/stable"),
])  # fmt: skip
def test_the_label_of_a_tag_begins_with_its_number(tag, label):
    assert label_of(tag) == label


def test_what_is_missing_is_named_with_what_is_there(server, network):
    with pytest.raises(SourceError, match=r"empty\.git: has no commits yet"):
        discover(f"{server.url}/empty.git", network=network)
    with pytest.raises(SourceError, match=r"has no branch, tag or commit 'v1\.9'") as caught:
        discover(f"{server.url}/site.git", ref="v1.9", network=network)
    assert "v1.9.0" in str(caught.value.hint)
    with pytest.raises(SourceError, match=r"missing\.git: there is no repository"):
        discover(f"{server.url}/missing.git", network=network)
    with pytest.raises(SourceError, match="cannot be fetched"):
        discover(f"{server.url}/site.git", ref="0" * 40, network=network)
    with pytest.raises(SourceError, match="no documentation in it"):
        discover(f"{server.url}/site.git", subfolder="nowhere", network=network)


def test_a_login_is_shown_nowhere(server, network, capfd, tmp_path, monkeypatch):
    server.login = "ada:s3cr3t"
    url = f"{server.url}/site.git"
    with pytest.raises(SourceError, match="needs a login") as caught:
        discover(url, network=network)
    assert "TOKEN" in str(caught.value.hint)
    wrong = url.replace("//", "//ada:wr0ng@")
    with pytest.raises(SourceError, match="needs a login") as caught:
        discover(wrong, network=network)
    assert "wr0ng" not in f"{caught.value}{caught.value.hint}"
    with discover(url.replace("//", "//ada:s3cr3t@"), network=network) as source:
        assert len(source) == 2
        assert "s3cr3t" not in f"{source.location}{source.arguments}"
    assert "s3cr3t" not in capfd.readouterr().err
    written = [path for path in network.cache.rglob("*") if path.is_file()]
    assert not any(b"s3cr3t" in path.read_bytes() for path in written)
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login ada password s3cr3t\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "docs/a.md" in contents(url, network)
    with pytest.raises(SourceError, match="needs a login"):
        discover(url, network=Network(network.cache, LOOPBACK, uses_credentials=False))


def test_neither_other_addresses_nor_redirects_are_followed(server, network, tmp_path, root):
    public = Network(tmp_path / "cache", AllowList(["public"]))
    for url in (server.url, server.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(ForbiddenAddress):
            discover(f"{url}/site.git", network=public)
    with pytest.raises(ForbiddenAddress):
        discover("git@localhost:owner/name.git", network=public)
    assert server.requests == []
    with serving(root) as other:
        server.moved_to = other.url
        with pytest.raises(SourceError, match="has moved"):
            discover(f"{server.url}/site.git", network=network)
        assert other.requests == []


def test_a_name_is_pinned_to_the_address_that_was_checked(server, network, monkeypatch):
    """The name exists only here: git does not resolve it once more."""
    real = repository_module.reachable_addresses
    pinned = lambda allowed, _, port: real(allowed, "127.0.0.1", port)  # noqa: E731
    monkeypatch.setattr(repository_module, "reachable_addresses", pinned)
    url = server.url.replace("127.0.0.1", "docs.kestrel.invalid")
    assert "docs/a.md" in contents(f"{url}/site.git", network)


def test_neither_configuration_nor_hooks_of_others_take_part(server, network, root, tmp_path):
    checkout = root / "checkout"
    made = tmp_path / "made"
    (checkout / ".gitattributes").write_text("*.md filter=evil diff=evil\n")
    run_git(checkout, "config", "uploadpack.packObjectsHook", f"touch {made}; exec git")
    with serving(root):
        assert "docs/a.md" in contents(f"{server.url}/checkout/.git", network, ref="main")
    assert not made.exists()
    [folder] = [path for path in network.cache.iterdir() if path.is_dir()]
    assert not (folder / "hooks").exists()
    assert "url" not in (folder / "config").read_text()


@pytest.mark.parametrize(("source", "url"), [
    ("https://github.com/owner/name", "https://github.com/owner/name.git"),
    ("https://github.com/owner/name.git", "https://github.com/owner/name.git"),
    ("https://u:p@git.example.org/x.git/", "https://git.example.org/x.git"),
    ("git+https://git.example.org/x", "https://git.example.org/x"),
    ("git@github.com:owner/name.git", "ssh://git@github.com/owner/name.git"),
    ("ssh://git@host.example:2222/x", "ssh://git@host.example:2222/x"),
    ("https://[2001:db8::1]:8443/x.git", "https://[2001:db8::1]:8443/x.git"),
    ("https://ｇithub。com/owner/name", "https://github.com/owner/name.git"),
    ("https://github.com./owner/name", "https://github.com/owner/name.git"),
    ("https://faß.example/x.git", "https://xn--fa-hia.example/x.git"),
    ("https://Bücher.example:8443/x.git", "https://xn--bcher-kva.example:8443/x.git"),
    ("git@bücher.example:owner/name.git", "ssh://git@xn--bcher-kva.example/owner/name.git"),
    ("https://１２７.1/x.git", "https://127.0.0.1/x.git"),
    ("https://0x7f000001/x.git", "https://127.0.0.1/x.git"),
    ("https://github.com/owner/name/wiki", None),
    ("https://docs.example.org/guide/", None),
    ("docs", None),
    ("C:\\docs", None),
    ("file:///srv/docs", None),
])  # fmt: skip
def test_an_address_says_whether_it_is_a_repository(source, url):
    address = repository_at(source)
    assert (address and address.url) == url
    if address:  # what is checked and pinned is what git is told
        assert f"{address.host}" in address.url
        assert address.url.isascii()


@pytest.mark.parametrize("source", [
    "git://example.org/x.git", "ext::sh -c id.git", "git+ftp://example.org/x",
    "ssh://-oProxyCommand=id/x", "https://a b/x.git", "https://host:99999/x.git",
    "git+file://x/y", "https://host:0/x.git", "https://ex%61mple.org/x.git",
    "https://evil.example\\@good.example/x.git", "https://a@b@good.example/x.git",
    "https://a\u200db.example/x.git", "https://℀.example/x.git", "https://-a.example/x.git",
    "https://good.example\u2215@evil.example/x.git", "https://256.1.1.1/x.git",
    "https://good.example/x\\..\\y.git",
])  # fmt: skip
def test_other_protocols_and_odd_hosts_are_refused(source, network):
    with pytest.raises(SourceError):
        discover(source, network=network)


def test_git_is_told_the_host_that_was_checked(network, monkeypatch):
    """IDNA of 2003 and 2008 make two hosts of faß.example; the resolver must not choose."""
    asked, told = [], []

    def check(_, host, port):
        asked.append(host)
        return [ip_address("127.0.0.1")]

    def run(_, *arguments, network):
        told.extend(arguments)
        return ""

    monkeypatch.setattr(repository_module, "reachable_addresses", check)
    monkeypatch.setattr(repository_module, "run_git", run)
    with pytest.raises(SourceError, match="no commits"):
        discover("https://faß.example/x.git", network=network)
    assert asked == ["xn--fa-hia.example"]
    assert "http.curloptResolve=xn--fa-hia.example:443:127.0.0.1" in told
    assert all(each.isascii() for each in told)


def test_fetches_come_one_after_the_other_and_clear_what_a_killed_git_left(server, network):
    url = f"{server.url}/site.git"
    contents(url, network, ref="v1.9.0")
    [folder] = [path for path in network.cache.iterdir() if path.is_dir()]
    left = [folder / "shallow.lock", folder / "objects" / "pack" / "tmp_pack_x1"]
    for path in left:
        path.touch()
    assert contents(url, network, ref="v2.0.0")["docs/a.md"] == "# A 2\n"
    assert not any(path.exists() for path in left)
    with ThreadPoolExecutor(max_workers=3) as pool:
        refs = ["v1.9.0", "v1.10.0", "v2.0.0"]
        read = list(pool.map(lambda ref: contents(url, network, ref=ref)["docs/a.md"], refs))
    assert read == ["# A 0\n", "# A 1\n", "# A 2\n"]


def test_a_file_address_is_a_path_and_submodules_are_told(root, network, tmp_path):
    url = f"file://{root}/checkout"
    assert "docs/a.md" in contents(url, network)
    assert contents(url, network, ref="v1.9.0")["docs/a.md"] == "# A 0\n"
    with pytest.raises(SourceError, match="a service reads no such address"):
        discover(url, network=Network(network.cache, LOOPBACK, uses_credentials=False))
    run_git(tmp_path, "clone", "-q", str(root / "checkout"), "outer")
    run_git(tmp_path / "outer", "submodule", "--quiet", "add", str(root / "checkout"), "vendored")
    run_git(tmp_path / "outer", "commit", "-q", "-m", "submodule")
    with discover(str(tmp_path / "outer"), ref="HEAD") as source:
        [skipped] = source.skipped
        assert (skipped.reason, skipped.examples) == ("submodules", ("vendored",))


def test_a_fetch_that_is_interrupted_leaves_no_process(server, network, monkeypatch):
    started = []
    real = subprocess.Popen

    def start(*arguments, **options):
        process = real(*arguments, **options)  # type: ignore[call-overload]
        # The server of the test starts git, too.
        if "ls-remote" in arguments[0]:  # type: ignore[operator]
            started.append(process)
        return process  # type: ignore[no-any-return]

    class Interrupting(int):
        def __add__(self, _):
            raise KeyboardInterrupt

    monkeypatch.setattr("pgrag.ingest.source.git.subprocess.Popen", start)
    monkeypatch.setattr("pgrag.ingest.source.git.LONGEST_LISTING", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        discover(f"{server.url}/site.git", network=network)
    assert [process.poll() is not None for process in started] == [True]


def test_repositories_that_were_fetched_long_ago_make_room(server, network, root, monkeypatch):
    names = [f"copy{number}" for number in range(3)]
    for name in names:
        (root / f"{name}.git").symlink_to("site.git")
    urls = [f"{server.url}/{name}.git" for name in names]
    others = replace(network, uses_credentials=False)

    def kept():
        return len(list(network.cache.glob("*/HEAD")))

    for url in urls[:2]:
        contents(url, network)
    size = sum(path.stat().st_size for path in network.cache.rglob("*"))
    monkeypatch.setattr(repository_module, "MOST_BYTES", size * 3 // 4)
    with pytest.raises(SourceError, match="no room for another repository"):
        contents(urls[2], others)
    assert kept() == 3, "a run may be reading them"
    assert contents(urls[2], network)["docs/a.md"] == "# A 2\n"
    monkeypatch.setattr(repository_module, "IN_USE_SECONDS", 0)
    contents(f"{server.url}/site.git", network)
    assert kept() < 3
    assert contents(urls[0], others, ref="v1.9.0")["docs/a.md"] == "# A 0\n"
