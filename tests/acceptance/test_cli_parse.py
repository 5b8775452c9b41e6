"""`pgrag parse` and `pgrag suggest`."""

from __future__ import annotations

from command_line import CommandLine


def test_what_a_query_holds(indexed: CommandLine) -> None:
    assert indexed.json("parse", "restore type:guide #recovery") == {
        "words": "restore",
        "filters": {"type": "guide", "tags": "recovery"},
    }
    shown = indexed.run("parse", "restore a backup").out.splitlines()
    assert shown == ["words    restore a backup", "filters  none"]


def test_a_wrong_filter_is_pointed_at(indexed: CommandLine) -> None:
    said = indexed.run("parse", "restore created:soon", code=1).err
    assert "Column 17 of the query" in said
    assert "2024-12-01" in said


def test_a_typo_is_mended(indexed: CommandLine) -> None:
    [first, *_] = indexed.json("suggest", "resotre a foldr", "-l", "kestrel")
    assert first["suggestion"] == "restore a folder"
    assert "restore a folder" in indexed.run("suggest", "resotre a folder", "-l", "kestrel").out
    found = indexed.run("suggest", "restore a folder", "-l", "kestrel")
    assert found.out == ""
    assert "Every word is known" in found.err
