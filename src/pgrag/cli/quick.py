"""A plain `pgrag search` without the imports of the full program, which take four fifths of it.

It knows few arguments and settings, and hands over whatever is unusual, errors included, before
anything is printed or recorded: the full program then does the same from the beginning. What is
searched for and what is printed are its functions.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pgrag.cli.texts import be_plain, is_styled
from pgrag.ground.plain_settings import address

if TYPE_CHECKING:
    from pgrag.ground.libpq import Session

_VALUES = {
    "-l": "library", "--library": "library", "-v": "version", "--version": "version",
    "-n": "top_k", "--top-k": "top_k", "--limit": "top_k",
}  # fmt: skip
_SWITCHES = {
    "--json": ("as_json", True), "--keyword": ("keyword", True), "--semantic": ("semantic", True),
    "--snippets": ("snippets", True), "--full": ("snippets", False),
}  # fmt: skip
_MOST = 100


class _App:
    """What `hits.found` uses of an application."""

    def __init__(self, database: Session) -> None:
        self.database = database

    def searching_as(self, client: str) -> Any:
        from pgrag.search.search import Search

        return Search(self.database, None, client=client)  # type: ignore[arg-type]


def ran(words: Sequence[str]) -> bool:
    """Run a command if it is a plain search; return whether it was."""
    given = _given(words)
    parameters = given and address()
    if not given or not parameters:
        return False
    from pgrag.ground.errors import PgragError
    from pgrag.ground.libpq import Session, Unusual

    if not is_styled(sys.stdout):
        be_plain()
    from pgrag.cli.hits import found

    switches = {name: given.pop(name) for name, _ in _SWITCHES.values() if name in given}
    try:
        with Session(parameters) as session:
            session.require_current()
            output = found(_App(session), given.pop("query"), given, **switches)  # type: ignore[arg-type]
    except (Unusual, PgragError, OSError, UnicodeError):
        return False
    output.print(as_json=switches.get("as_json", False))
    return True


def _given(words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of a plain search; None if there is anything else."""
    command, rest = words[:1], iter(words[1:])
    given: dict[str, Any] = {}
    named: list[str] = []
    for word in rest:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            named.append(word)
            continue
        name, meant = _SWITCHES.get(word, (_VALUES.get(option), None))
        if name is None or name in given or (equals and not option.startswith("--")):
            return None
        given[name] = (value if equals else next(rest, "")) if meant is None else meant
    if command != ["search"] or len(named) not in {1, 2}:
        return None
    *library, given["query"] = named
    if library:
        given = {"library": library[0], **given} if "library" not in given else {}
    is_plain = all(value and not str(value).startswith("-") for value in map(str, given.values()))
    if not given or not is_plain or {"keyword", "semantic"} <= given.keys():
        return None
    return _settled(given)


def _settled(given: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments with the types of a search."""
    number = given.get("top_k", "1")
    is_number = number.isascii() and number.isdecimal() and len(number) <= len(str(_MOST))
    if not is_number or not 1 <= int(number) <= _MOST:
        return None
    if "top_k" in given:
        given["top_k"] = int(number)
    if "library" in given:
        name, at, version = map(str.strip, given["library"].partition("@"))
        if not name or (at and (not version or "version" in given)):
            return None
        given |= {"library": name, **({"version": version} if at else {})}
    return given
