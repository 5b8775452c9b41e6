"""Run configurations from YAML: a mapping of names to the arguments of `pgrag.run_evaluation`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgrag.configuration import read_file
from pgrag.db import Database
from pgrag.errors import InvalidInput

_WANTED = "must map names to configurations."
_HINT = "For example: half: {function: search, arguments: {alpha: 0.5}}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A named way to search; its fields are described at `pgrag.run_evaluation`."""

    name: str
    document: dict[str, Any]


def read_configurations(path: Path, database: Database) -> list[Configuration]:
    """Read the configurations of a file, each checked by the database.

    Raises SourceError or InvalidInput, naming file and line.
    """
    read = read_file(path, wanted=_WANTED, hint=_HINT)
    if not read.value:
        raise InvalidInput(f"{path}:1: {_WANTED}", hint=_HINT)
    for name, document in read.value.items():
        for fault in database.query(
            "select c.place, c.complaint, c.hint from pgrag.evaluation_complaints(%s::jsonb) as c",
            [json.dumps(document)],
        ):
            line = read.line(name, *fault["place"])
            raise InvalidInput(f"{path}:{line}: {name}: {fault['complaint']}", hint=fault["hint"])
    return [Configuration(name, document) for name, document in read.value.items()]
