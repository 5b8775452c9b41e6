"""Install packages into this Python's environment, with progress.

Usage: PYTHON scripts/install.py ARGUMENT …, with the arguments of `pip install`. uv installs them
in seconds, from one cache for all environments; pip does where there is no uv. A terminal shows one
line, which changes with each package; elsewhere each step is a line. What an installer says is
shown if it fails.

Modules are not compiled: Python compiles those that are used, which are a third of all.
"""

import os
import re
import shutil
import subprocess
import sys
import time

_WIDTH = 78
_FETCHED = r"(?:Collecting |Processing \S*/)([A-Za-z][\w.]*(?:-[A-Za-z][\w.]*)*)"
_PIP = [sys.executable, "-m", "pip", "install", "--no-compile", "--progress-bar=off"]


def main(arguments: list[str]) -> int:
    """Install the packages; return the exit status."""
    began = time.monotonic()
    show("finding and fetching packages", is_step=True)
    uv = shutil.which("uv", path=f"{os.path.dirname(sys.executable)}:{os.environ.get('PATH', '')}")
    status, said = 1, ""
    if uv:
        status, said = run([uv, "pip", "install", "--python", sys.executable, *arguments])
    if status:
        # pip alone knows the settings of pip, such as a mirror of the index.
        status, said = run([*_PIP, *arguments])
    show(
        f"installed in {time.monotonic() - began:.0f} s" if status == 0 else "failed", is_step=True
    )
    if status:
        sys.stderr.write(said)
    elif sys.stderr.isatty():
        print(file=sys.stderr)
    return status


def run(command: list[str]) -> tuple[int, str]:
    """Run an installer and show its progress; return its exit status and what it said."""
    variables = {
        **os.environ,
        # pip would compile itself, for one or two uses.
        "PYTHONDONTWRITEBYTECODE": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        # uv has the same setting under a name of its own.
        "UV_FIND_LINKS": os.environ.get("PIP_FIND_LINKS", ""),
    }
    said: list[str] = []
    packages: set[str] = set()
    with subprocess.Popen(
        command,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as installer:
        for line in installer.stdout or ():
            said.append(line)
            if fetched := re.match(_FETCHED, line):
                packages.add(fetched[1])
                show(f"fetching {fetched[1]}, package {len(packages)}")
            elif step := re.match(r"(?:Resolved|Prepared) \d+ packages", line):
                show(step[0].lower(), is_step=True)
            elif named := re.match(r"Installing collected packages: (.*)", line):
                show(f"unpacking {len(named[1].split(', '))} packages", is_step=True)
    return installer.returncode, "".join(said)


def show(text: str, *, is_step: bool = False) -> None:
    """Overwrite the last text on a terminal; elsewhere write steps alone."""
    if sys.stderr.isatty():
        print(f"\r  {text:<{_WIDTH}.{_WIDTH - 2}}", end="", file=sys.stderr, flush=True)
    elif is_step:
        print(f"  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
