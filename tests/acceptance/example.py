"""Runs an example by the lines of its README, as somebody does who copies them."""

import os
import re
import shutil
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

from command_line import SECONDS
from rich.console import Console
from rich.text import Text
from service import free_port

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
#: With it, the pictures of the examples are made anew.
_DRAWS = "PGRAG_SCREENSHOTS" in os.environ
#: A window without fonts from elsewhere.
_WINDOW = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>examples/NAME</title>
<style>.{unique_id}-matrix{{font:20px monospace;font-variant-east-asian:full-width}}{styles}</style>
<rect width="{width}" height="{height}" rx="8" fill="#292929"/>
<g transform="translate(10,10)" clip-path="none"><g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def run_example(name, folder, url):
    """Run it on a copy of the examples and on this database; return what it prints."""
    copied = folder / "examples"
    shutil.copytree(EXAMPLES, copied)
    (folder / "tests").symlink_to(ROOT / "tests")
    programs = folder / "bin"
    programs.mkdir()
    for program, words in (("python", ""), ("pgrag", "-m pgrag")):
        (programs / program).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        (programs / program).chmod(0o755)
    readme = (copied / name / "README.md").read_text("utf-8")
    lines = "\n".join(re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S))
    environment = {
        **{key: os.environ[key] for key in ("HOME", "LANG") if key in os.environ},
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PGRAG_DATABASE_URL": url,
        "MODEL_PORT": str(free_port()),
        "PORT": str(free_port()),
    }
    process = subprocess.Popen(
        ["bash", "-eu", "-c", lines],
        cwd=copied / name,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=SECONDS)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, f"{out}\n{err}"
    if _DRAWS:
        made, kept = (each / name / "picture.svg" for each in (copied, EXAMPLES))
        is_plot = made.read_bytes() != kept.read_bytes()
        kept.write_text(made.read_text("utf-8") if is_plot else terminal(out, name), "utf-8")
    return out


def terminal(text, name):
    """A picture of a terminal with this text."""
    width = max(60, *(len(line) for line in text.splitlines()))
    console = Console(record=True, width=min(width, 110), file=StringIO(), force_terminal=True)
    console.print(Text(text.strip("\n")))
    return console.export_svg(code_format=_WINDOW.replace("NAME", name), unique_id=name)
