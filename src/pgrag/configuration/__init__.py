"""The configuration of all libraries as YAML: intents, page types and the rest.

The database decides what is right (`pgrag.apply_configuration`); here YAML becomes the document
that it takes, and its complaints get the line that they are about.
"""

from pgrag.configuration.documents import (
    Configuration,
    read_configuration,
    read_file,
    to_yaml,
)
from pgrag.configuration.shipped import install, shipped

__all__ = ["Configuration", "install", "read_configuration", "read_file", "shipped", "to_yaml"]
