"""The units for systemd name commands, options and settings that exist."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.main import get_command

from pgrag.cli.program import program
from pgrag.cli.serve import GRACE_SECONDS
from pgrag.ground.settings import Settings

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "deploy").glob("*.service"))


def values(unit, name):
    return re.findall(rf"^{name}=(.*)$", unit.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_starts_what_there_is(unit):
    [line] = values(unit, "ExecStart")
    path, name, *options = shlex.split(line)
    assert Path(path).name == "pgrag"
    commands = get_command(program())
    command = commands.commands[name]
    with command.make_context(name, options):
        pass
    fields = {f"PGRAG_{field.upper()}" for field in Settings.model_fields}
    assert {each.partition("=")[0] for each in values(unit, "Environment")} <= fields
    assert values(unit, "Type") == ["exec"], "pgrag tells systemd nothing"
    [stop] = values(unit, "TimeoutStopSec")
    assert int(stop) > GRACE_SECONDS


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_a_unit(unit, tmp_path):
    [line] = values(unit, "ExecStart")
    copy = tmp_path / unit.name
    text = unit.read_text("utf-8").replace(line.split()[0], shutil.which("true"))
    copy.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(copy)], capture_output=True, encoding="utf-8", check=False
    )
    ours = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, ours) == (0, [])


def test_there_are_both():
    assert [unit.name for unit in UNITS] == ["pgrag-worker.service", "pgrag.service"]
