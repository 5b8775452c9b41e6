"""Configurations of runs from YAML: a mapping of names to what `pgrag.run_evaluation` takes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgrag.db import Database
from pgrag.errors import SourceError
from pgrag.ingest.yaml_values import YamlError, key_lines, load_yaml


@dataclass(frozen=True, slots=True)
class Configuration:
    """A named way to search; see `pgrag.run_evaluation` for what it may say."""

    name: str
    document: dict[str, Any]


def read_configurations(path: Path, database: Database) -> list[Configuration]:
    """Read the configurations of a file, each checked by the database.

    Raises SourceError, naming file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: is not UTF-8 (byte {error.start}).") from None
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror}.") from None
    try:
        value, repeated = load_yaml(text)
        lines = key_lines(text)
    except YamlError as error:
        raise SourceError(f"{path}:{error.line + 1}: {error.message}.") from None
    if repeated:
        key, line = repeated[0]
        raise SourceError(f"{path}:{line + 1}: {key!r} is there twice.")
    if not isinstance(value, dict) or not value:
        raise SourceError(
            f"{path}:1: must map names to configurations.",
            hint="For example: half: {function: search, arguments: {alpha: 0.5}}",
        )
    for name, document in value.items():
        for fault in database.query(
            "select c.place, c.complaint, c.hint from pgrag.evaluation_complaints(%s::jsonb) as c",
            [json.dumps(document)],
        ):
            place = (name, *fault["place"])
            while place not in lines:
                place = place[:-1]
            raise SourceError(
                f"{path}:{lines[place] + 1}: {name}: {fault['complaint']}", hint=fault["hint"]
            )
    return [Configuration(name, document) for name, document in value.items()]
