#!/bin/sh
# Writes constraints.txt: the versions that pip resolves today for pgrag, its development tools
# and what it is measured against.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check '.[dev,rivals]'
{
    echo "# The versions that pgrag is tested with, for pip install --constraint. Made by: make constraints"
    "$folder/bin/pip" freeze --exclude pgrag-search
} >"$folder/constraints.txt"
mv "$folder/constraints.txt" constraints.txt
