"""The configuration that ships with the package, and its way into a database."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from psycopg import Connection

from pgrag.configuration.documents import Configuration, read_configuration
from pgrag.db import call

_FILE = "defaults.yaml"


@cache
def shipped() -> Configuration:
    """Read the configuration that this release ships."""
    text = files("pgrag.configuration").joinpath(_FILE).read_text(encoding="utf-8")
    return read_configuration(text, _FILE)


def install(connection: Connection[Any]) -> None:
    """Bring a database to the configuration of this release.

    What somebody has changed or removed stays so; see `pgrag.install_configuration`. Needs the
    rights of the schema's owner.
    """
    configuration = shipped()
    with configuration.located_errors():
        call(connection, "install_configuration", entries=configuration.value)
