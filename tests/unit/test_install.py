"""`scripts/install.py` tells which step it waits for, and what pip says only if it fails."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "install.py"


def test_an_install_tells_its_steps_and_what_pip_said_if_it_fails():
    command = [sys.executable, SCRIPT, "--no-index", "--find-links", "no-such", "no-such-package"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    steps, _, said = done.stderr.partition("  failed\n")
    assert steps == "  finding and fetching packages\n"
    assert "No matching distribution found for no-such-package" in said
    command = [sys.executable, SCRIPT, "--no-index", "pytest"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "  finding and fetching packages\n  installed in" in done.stderr
    assert "already satisfied" not in done.stderr
