"""What lock files and manifests pin, in the forms that their tools write."""

import json
import os

import pytest

from pgrag import project
from pgrag.ground.errors import InvalidInput

NPM_1 = {"lockfileVersion": 1, "dependencies": {"jest": {"version": "26.0.1", "dependencies": {
    "chalk": {"version": "4.0.0"}}}, "chalk": {"version": "3.0.0"}}}  # fmt: skip
NPM_3 = {"lockfileVersion": 3, "packages": {
    "": {"name": "own", "version": "9.9.9"},
    "node_modules/jest": {"version": "26.0.1"},
    "node_modules/jest/node_modules/chalk": {"version": "4.0.0"},
    "node_modules/chalk": {"version": "3.0.0"},
    "node_modules/other": {"name": "aliased", "version": "1.0.0"},
    "packages/a": {"version": "8.0.0"}, "packages/a/node_modules/chalk": {"version": "2.0.0"},
    "packages/a/node_modules/@scope/deep": {"version": "1.2.3"},
    "node_modules/linked": {"link": True},
}}  # fmt: skip
PNPM_5 = """\
lockfileVersion: 5.4
specifiers:
  react: ^18.0.0
dependencies:
  '@babel/core': 7.20.1_supports-color@5.5.0
  react: 18.2.0
packages:
  /react/17.0.0:
    resolution: {integrity: sha512-a}
    dependencies:
      loose-envify: 1.4.0
"""
PNPM_9 = """\
---
lockfileVersion: '9.0'
importers:
  packages/web:
    dependencies:
      vue:
        specifier: ^3.4.0
        version: 3.4.21(typescript@5.4.2)
      react:
        specifier: ^17
        version: 17.0.2
  .:
    devDependencies:
      react:
        specifier: ^18.0.0
        version: 18.2.0
      local:
        specifier: workspace:*
        version: link:../local
packages:
  react@18.2.0:
    resolution: {integrity: sha512-a}
"""
YARN_1 = """\
# yarn lockfile v1

"@babel/core@^7.1.0", "@babel/core@^7.7.5":
  version "7.20.1"
  resolved "https://host.example/core.tgz#1"
  dependencies:
    version "1.0.0"

jest@^26.0.0:
  version "26.6.3"

jest@^25.0.0:
  version "25.5.4"
"""
YARN_4 = """\
__metadata:
  version: 8

"jest@npm:^26.0.0, jest@npm:^26.1.0":
  version: 26.6.3
  resolution: "jest@npm:26.6.3"

"own@workspace:.":
  version: 0.0.0-use.local
"""
UV = """\
version = 1
[[package]]
name = "own"
version = "0.1.0"
source = { virtual = "." }
dependencies = [{ name = "numpy", version = "1.26.4" }, { name = "fastapi" }]
[[package]]
name = "numpy"
version = "1.26.4"
source = { registry = "https://host.example/simple" }
[[package]]
name = "numpy"
version = "2.1.0"
source = { registry = "https://host.example/simple" }
[[package]]
name = "fastapi"
version = "0.115.0"
source = { registry = "https://host.example/simple" }
"""
CARGO_LOCK = """\
version = 3
[[package]]
name = "own"
version = "0.1.0"
dependencies = ["rand 0.7.3", "serde"]
[[package]]
name = "rand"
version = "0.8.5"
source = "registry+https://host.example/index"
[[package]]
name = "rand"
version = "0.7.3"
source = "registry+https://host.example/index"
[[package]]
name = "serde"
version = "1.0.9"
source = "registry+https://host.example/index"
[[package]]
name = "twice"
version = "1.10.0"
source = "registry+https://host.example/index"
[[package]]
name = "twice"
version = "1.9.0"
source = "registry+https://host.example/index"
"""
GO = """\
module example.com/own
go 1.22
require github.com/gin-gonic/gin v1.10.0 // a remark v9.9.9
require (
    gopkg.in/yaml.v3 v3.0.1
    k8s.io/client-go v0.29.0 // indirect
)
replace k8s.io/client-go => k8s.io/client-go v0.28.4
replace github.com/none/none => ../none
"""
REQUIREMENTS = """\
-r other.txt
--index-url https://host.example/simple
fastapi[all]==0.115.0 ; python_version >= "3.9"  # web
numpy>=1.26,<3 \\
    --hash=sha256:aa
httpx ~= 0.27
local @ file:///tmp/local
unpinned
"""
PYPROJECT = """\
[project]
name = "own"
version = "0.1.0"
dependencies = ["fastapi (>=0.100)", "numpy", "Pydantic_Core==2.20.*"]
[project.optional-dependencies]
more = ["rich>=13"]
[dependency-groups]
dev = ["pytest>=8", {include-group = "more"}]
[tool.poetry.dependencies]
python = "^3.11"
django = "^4.2"
celery = { version = "5.3.1", extras = ["redis"] }
local = { path = "../local" }
[tool.poetry.group.dev.dependencies]
mypy = "*"
"""
CARGO = """\
[dependencies]
serde = "1.0"
tokio = { version = "1.35", features = ["full"] }
renamed = { package = "real", version = "=2.0.1" }
local = { path = "../local" }
[target.'cfg(unix)'.dependencies]
nix = "0.27"
[workspace.dependencies]
rand = "0.8"
"""
PACKAGE = {"name": "own", "version": "1.0.0", "dependencies": {
    "jest": "^25.0.0", "old-name": "npm:new-name@^2", "local": "file:../a", "any": "*",
}}  # fmt: skip
PIPFILE = {"default": {"django": {"version": "==4.2.1"}, "local": {"path": "."}},
           "develop": {"pytest": {"version": "==8.0.0"}}}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "found"), [
    ("package-lock.json", json.dumps(NPM_1), {"jest": "26.0.1", "chalk": "3.0.0"}),
    ("npm-shrinkwrap.json", json.dumps(NPM_3), {
        "jest": "26.0.1", "chalk": "3.0.0", "aliased": "1.0.0", "@scope/deep": "1.2.3"}),
    ("pnpm-lock.yaml", PNPM_5, {"@babel/core": "7.20.1", "react": "18.2.0"}),
    ("pnpm-lock.yaml", PNPM_9, {"vue": "3.4.21", "react": "18.2.0"}),
    ("yarn.lock", YARN_1, {"@babel/core": "7.20.1", "jest": "26.6.3"}),
    ("yarn.lock", YARN_4, {"jest": "26.6.3"}),
    ("uv.lock", UV, {"own": "0.1.0", "numpy": "1.26.4", "fastapi": "0.115.0"}),
    ("Cargo.lock", CARGO_LOCK, {
        "own": "0.1.0", "rand": "0.7.3", "serde": "1.0.9", "twice": "1.10.0"}),
    ("Pipfile.lock", json.dumps(PIPFILE), {"django": "==4.2.1", "pytest": "==8.0.0"}),
    ("go.mod", GO, {"github.com/gin-gonic/gin": "v1.10.0", "gopkg.in/yaml.v3": "v3.0.1",
                    "k8s.io/client-go": "v0.28.4"}),
    ("requirements-dev.txt", REQUIREMENTS, {
        "fastapi": "==0.115.0", "numpy": ">=1.26,<3", "httpx": "~= 0.27"}),
    ("pyproject.toml", PYPROJECT, {
        "django": "^4.2", "celery": "5.3.1", "fastapi": ">=0.100", "Pydantic_Core": "==2.20.*",
        "rich": ">=13", "pytest": ">=8"}),
    ("Cargo.toml", CARGO, {
        "serde": "^1.0", "tokio": "^1.35", "real": "=2.0.1", "nix": "^0.27", "rand": "^0.8"}),
    ("package.json", json.dumps(PACKAGE), {"jest": "^25.0.0", "new-name": "^2"}),
])  # fmt: skip
def test_each_form_of_each_file(name, text, found):
    pinned = project.parse({name: text})
    assert ({key: one["version"] for key, one in pinned.dependencies.items()}, pinned.notes) == (
        found, [],
    )  # fmt: skip
    assert {one["from"] for one in pinned.dependencies.values()} == {name}


def test_a_lock_beats_a_manifest_which_chooses_among_its_versions():
    pinned = project.parse({"package.json": json.dumps(PACKAGE), "yarn.lock": YARN_1})
    assert pinned.dependencies["jest"] == {"version": "25.5.4", "from": "yarn.lock"}
    assert pinned.dependencies["new-name"] == {"version": "^2", "from": "package.json"}
    # One package in two spellings is one.
    lock = '[[package]]\nname = "pydantic-core"\nversion = "2.20.1"'
    pinned = project.parse({"pyproject.toml": PYPROJECT, "uv.lock": lock})
    assert "Pydantic_Core" not in pinned.dependencies
    assert pinned.dependencies["pydantic-core"]["version"] == "2.20.1"


def test_a_folder_is_read_within_its_bounds(tmp_path):
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps(NPM_1))
    root = tmp_path / "root"
    root.mkdir()
    (root / "package-lock.json").symlink_to(outside)
    (root / "kept").write_text(CARGO_LOCK)
    (root / "Cargo.lock").symlink_to("kept")
    (root / "yarn.lock").write_text("a" * (project.LARGEST + 1))
    (root / "uv.lock").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(root / "poetry.lock")
    (root / "go.mod").mkdir()
    (root / "package.json").write_text("<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n")
    pinned = project.read(root)
    assert pinned.dependencies["serde"] == {"version": "1.0.9", "from": "Cargo.lock"}
    assert sorted(pinned.notes) == [
        "go.mod is not read: it is no file.",
        "package-lock.json is not read: it is a link out of the folder.",
        "package.json is not read: it has the marks of a merge conflict.",
        "poetry.lock is not read: it is no file.",
        "uv.lock is not read: it is no UTF-8.",
        "yarn.lock is not read: it has more than 5,000,000 bytes.",
    ]
    (root / "Pipfile.lock").symlink_to(tmp_path / "nowhere")
    assert project.read_kept(root)["serde"]["version"] == "1.0.9"
    (root / "kept").write_text(CARGO_LOCK.replace("1.0.9", "1.0.10"))
    assert project.read_kept(root)["serde"]["version"] == "1.0.10"
    assert project.read_kept(tmp_path) == project.read_kept(tmp_path / "none") == {}
    for path, told in (
        (tmp_path / "none", "There is no folder or file"),
        (outside, "outside.json is no lock file that is read"),
        (tmp_path, "has no lock file or manifest"),
    ):
        with pytest.raises(InvalidInput, match=told):
            project.read(path)


LAUGHS = "\n".join(
    ["a: &a [x, x]"] + [f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}, *{chr(97 + n)}]"
                        for n in range(20)] + ["dependencies:", "  react: *u"]
)  # fmt: skip


@pytest.mark.parametrize("text", [
    "", "null", "[]", "{}", '{"packages": 3, "dependencies": [1]}', '{"dependencies": {"a": {}}}',
    '{"packages": {"node_modules/a": null}, "dependencies": {"a": 1, "b": {"version": []}}}',
    "[" * 100_000, '{"a":' * 100_000, "a = [" + "[" * 100_000, LAUGHS, "\x00\x00", "package = 1",
    '[[package]]\nname = 3', '[package]\nname = "a"', "dependencies = 3\nproject = 4",
    "[project]\ndependencies = 3\noptional-dependencies = [1]", "a: " * 100_000, "@", "@@@:\n  b c",
    "[dependencies]\na = [3, {}, {version = 1}]", "1" * 10_000, "- - - a: b\n  - c: d",
    "a." * 500_000, "﻿{}",
])  # fmt: skip
@pytest.mark.parametrize("name", [name.replace("*", "") for name in project.FILES])
def test_no_text_is_a_crash(name, text):
    pinned = project.parse({name: text})
    assert all(isinstance(one["version"], str) for one in pinned.dependencies.values())


def test_texts_of_files_among_given_dependencies_are_read():
    given = {"jest": "26.0.1", "package.json": json.dumps({"dependencies": {"vue": "^3"}})}
    assert project.settled(given).dependencies == {
        "vue": {"version": "^3", "from": "package.json"}, "jest": "26.0.1",
    }  # fmt: skip
    # A package may be called like a file.
    assert project.settled({"package.json": "2.0.1"}).dependencies == {"package.json": "2.0.1"}
