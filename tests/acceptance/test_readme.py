"""The examples of the README, in their order, on the repository's own fixtures."""

import re
import shlex
from pathlib import Path

import psycopg

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
#: They do not end, or need a language model.
LEFT_OUT = {"serve", "answer"}


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def test_every_command_and_statement_shows_something(pgrag):
    commands = [
        shlex.split(line.replace("tests/fixtures", str(ROOT / "tests/fixtures")), comments=True)
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("pgrag ")
    ]
    pgrag.run("index", "pgrag", ROOT / "docs")
    silent = [
        command
        for command in commands
        if command[1] not in LEFT_OUT and not pgrag.run(*command[1:]).out.strip()
    ]
    assert len(commands) > 15
    assert silent == []

    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as connection:
        statements = [each for block in blocks("sql") for each in block.split(";") if each.strip()]
        assert len(statements) == 4
        for statement in statements:
            assert connection.execute(statement.encode()).fetchall(), statement
