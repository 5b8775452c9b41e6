"""The version that an agent's project pins, from the files in its folder or its roots."""

import json
from contextlib import contextmanager

import mcp_types as types
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client

from pgrag.ground.settings import Settings
from pgrag.mcp.server import create_server
from pgrag.mcp.workplace import Workplace
from pgrag.service.app import App


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "own"
    made.mkdir()
    return made


def pin(folder, version):
    (folder / "package.json").write_text(json.dumps({"dependencies": {"harbour": version}}))


@contextmanager
def agent(url, workplace, *roots, mode="legacy"):
    """Searches as an agent whose client has these roots; what it answers, as text."""

    async def list_roots(_):
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri()) for root in roots])

    with App(Settings(database_url=url, pool_size=2)) as app:
        server = create_server(app, workplace=workplace)
        client = Client(server, mode=mode, list_roots_callback=list_roots if roots else None)
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(client) as own:

            def ask(name="search_docs", **arguments):
                given = {"library": "harbour", **arguments}
                if name == "search_docs":
                    given.setdefault("query", "moorings and fees")
                reply = portal.call(own.call_tool, name, given)
                assert not reply.is_error, reply.content
                return reply.content[0].text

            ask.told = lambda: portal.call(
                own.session.send_notification, types.RootsListChangedNotification()
            )
            yield ask


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_folder_of_the_server_pins_the_version(harbour_url, folder, mode):
    with agent(harbour_url, Workplace(folder), mode=mode) as ask:
        assert "From: harbour 2.1 (the newest release)" in ask()
        pin(folder, "^1.0")
        pinned = "the newest version in the range ^1.0, pinned in package.json"
        assert f"From: harbour 1.0 ({pinned})" in ask()
        assert f"Why: {pinned}." in ask("find_library")
        everywhere = ask(library=None)
        assert (
            f"From: all libraries, the newest version of each; harbour 1.0 ({pinned})\n"
            in everywhere
        )
        assert f"No good match in harbour 1.0 ({pinned})." in ask(query="how deep is the sill")
        assert "From: harbour 2.1 (the version asked for)" in ask(version="2.1")
        # What an agent says of its project counts instead.
        assert "From: harbour 2.1 (pinned by the project)" in ask(dependencies={"Harbour": "2.1"})
        text = json.dumps({"dependencies": {"harbour": "2.0.9"}})
        told = ask(dependencies={"package.json": text})
        assert (
            "From: harbour 2.1 (2.0.9, pinned in package.json, is not indexed; the nearest" in told
        )
        pin(folder, "<<<<<<< HEAD")
        assert "From: harbour 2.1 (the newest release)" in ask()


def test_the_roots_of_the_client_count_instead(harbour_url, folder, tmp_path):
    (tmp_path / "a root").mkdir()
    pin(tmp_path / "a root", "^1.0")
    pin(folder, "2.1")
    with agent(harbour_url, Workplace(folder), tmp_path / "a root") as ask:
        assert "From: harbour 1.0" in ask()
        pin(tmp_path / "a root", ">=2")
        ask.told()
        assert "From: harbour 2.1 (the newest version in the range >=2, pinned" in ask()


def test_no_server_without_a_workplace_reads_the_folder(harbour_url, folder, monkeypatch):
    pin(folder, "^1.0")
    monkeypatch.chdir(folder)
    with agent(harbour_url, None, folder) as ask:
        assert "From: harbour 2.1 (the newest release)" in ask()
