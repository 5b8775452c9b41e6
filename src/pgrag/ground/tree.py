"""The SQL files that a package brings. Without pathlib and the driver, because each command reads
all of them: their digest tells whether the functions in the database are those of the package.
"""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pgrag.ground import errors


def resource(name: str) -> Path:
    """Return a folder of files: in the installed package, else in the checkout."""
    package = Path(__file__).parents[1]
    for folder in (package / name, package.parents[1] / name):
        if folder.is_dir():
            return folder
    raise errors.PgragError(f"The folder {name}/ is missing.", hint="Install pgrag again.")


def function_files(root: Path) -> list[Path]:
    """Return the files of a tree of functions in the order of `layers.txt`, then the grants. Raises
    `DatabaseError` for a folder that it does not list.
    """
    return [root / name for name in _file_names(root)]


def layer_names(root: Path) -> list[str]:
    """Return the folders of a tree of functions, lowest layer first."""
    lines = (root / "layers.txt").read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def digest(root: Path) -> str:
    """Return the SHA-256 of the names and contents of the files of a tree of functions."""
    total = hashlib.sha256()
    for name in _file_names(root):
        with open(f"{root}/{name}", "rb", buffering=0) as file:
            total.update(b"%s\0%s\0" % (name.encode(), file.read()))
    return total.hexdigest()


def _file_names(root: Path) -> list[str]:
    layers = layer_names(root)
    with os.scandir(root) as entries:
        folders = {entry.name for entry in entries if entry.is_dir()}
    files = {folder: [*_sql_files(f"{root}/{folder}")] for folder in folders}
    unlisted = {folder for folder, names in files.items() if names}.difference(layers)
    if unlisted:
        raise errors.DatabaseError(
            f"The folders {', '.join(sorted(unlisted))} of {root} have no line in layers.txt."
        )
    listed = [f"{layer}/{name}" for layer in layers for name in sorted(files.get(layer, ()))]
    return [*listed, *sorted(_sql_files(str(root)))]


def _sql_files(folder: str) -> Iterator[str]:
    return (name for name in os.listdir(folder) if name.endswith(".sql"))
