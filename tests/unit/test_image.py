"""The image, where it is built from a checkout and not from the wheels of the gate."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_build_has_all_that_the_wheel_is_made_of():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    sources = {
        "constraints.txt",
        "pyproject.toml",
        project["project"]["readme"],
        *project["project"]["license-files"],
        *(folder.split("/")[0] for folder in wheel["only-include"]),
    }
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert sources <= {line[1:] for line in lines if line.startswith("!")}
