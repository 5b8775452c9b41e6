"""Install packages into this Python's environment, and show what pip waits for.

Usage: PYTHON scripts/install.py ARGUMENT …, with the arguments of `pip install`. A terminal shows
one line, which changes with each package; elsewhere each step is a line. What pip says is shown if
it fails.

Modules are not compiled: Python compiles those that are used, which are a third of all.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

_WIDTH = 78
_FETCHED = r"(?:Collecting |Processing \S*/)([A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)"


def main(arguments: list[str]) -> int:
    """Run pip; return its exit status."""
    began = time.monotonic()
    command = [sys.executable, "-m", "pip", "install", "--no-compile", "--progress-bar=off"]
    said: list[str] = []
    packages: set[str] = set()
    # pip is used once or twice, and would compile itself.
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    show("finding and fetching packages", is_step=True)
    with subprocess.Popen(
        [*command, *arguments],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as pip:
        for line in pip.stdout or ():
            said.append(line)
            if fetched := re.match(_FETCHED, line):
                packages.add(fetched[1])
                show(f"fetching {fetched[1]}, package {len(packages)}")
            elif named := re.match(r"Installing collected packages: (.*)", line):
                count = len(named[1].split(", "))
                show(f"unpacking {count} packages, {seconds_since(began)}", is_step=True)
    if pip.returncode:
        show("failed", is_step=True)
        sys.stderr.writelines(said)
        return pip.returncode
    show(f"installed in {seconds_since(began)}", is_step=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return 0


def show(text: str, *, is_step: bool = False) -> None:
    """Write a text in place of the last one; where that cannot be, only steps are written."""
    if sys.stderr.isatty():
        print(f"\r  {text:<{_WIDTH}.{_WIDTH - 2}}", end="", file=sys.stderr, flush=True)
    elif is_step:
        print(f"  {text}", file=sys.stderr, flush=True)


def seconds_since(began: float) -> str:
    """Return how long it took."""
    return f"{time.monotonic() - began:.0f} s"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
