"""Raised and lowered text as characters."""

import pytest

from pgrag.ingest.text.raised import lowered, raised


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("31", "³¹"),
        ("-3", "⁻³"),
        ("n", "ⁿ"),
        ("k", "^k"),
        ("x/2", "^(x/2)"),
        ("th", "th"),
        (" ", " "),
    ],
)
def test_a_superscript_keeps_its_position(text: str, shown: str) -> None:
    assert raised(text) == shown


@pytest.mark.parametrize(("text", "shown"), [("2", "₂"), ("k", "_k"), ("max", "_(max)"), ("", "")])
def test_a_subscript_keeps_its_position(text: str, shown: str) -> None:
    assert lowered(text) == shown
