#!/bin/sh
# Creates a virtual environment unless it exists. Usage: make_venv.sh FOLDER; PYTHON names the interpreter.
set -eu
venv=$1
python=${PYTHON:-python3}
[ ! -x "$venv/bin/pip" ] || exit 0
command -v "$python" >/dev/null || {
    echo "pgrag needs Python 3.11 or newer, and there is no $python. Install it, or name it: make PYTHON=python3.12 …" >&2
    exit 1
}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "pgrag needs Python 3.11 or newer; $python is $("$python" -V). Name another: make PYTHON=python3.12 …" >&2
    exit 1
}
echo "Making the virtual environment $venv …"
"$python" -m venv "$venv" || {
    rm -rf "$venv"
    echo "$python cannot make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv" >&2
    exit 1
}
# Before Python 3.12 it contains setuptools, which nothing here uses; pip is compiled, and is used once.
[ -z "$(find "$venv" -path '*/setuptools/__init__.py')" ] || "$venv/bin/pip" uninstall --quiet --yes setuptools
find "$venv" -name __pycache__ -type d -prune -exec rm -rf {} +
