"""What `make release` refuses, and what the release workflow runs."""

import importlib.util
import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder, *arguments):
    who = ("-c", "user.name=x", "-c", "user.email=x@localhost")
    subprocess.run(["git", "-C", folder, *who, *arguments], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path):
    """A small checkout that can be released."""
    manifest = {"plugins": [{"version": "1.2.0", "schema": {"version": "1.2.0"}}]}
    files = {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "CHANGELOG.md": "# Changelog\n\n## 1.2.0 (2027-01-31)\n\n## 1.1.0 (2026-12-24)\n",
        "plugin/marketplace.json": json.dumps(manifest),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "first")
    return tmp_path


def test_a_clean_commit_whose_versions_agree_is_released(release, checkout):
    assert [*release.faults_of(checkout)] == []


def test_what_is_released_can_be_built_again(release, checkout):
    git(checkout, "tag", "v1.2.0")
    assert [*release.faults_of(checkout)] == []


def tag_and_go_on(folder):
    git(folder, "tag", "v1.2.0")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "more")


def replaced(name, old, new):
    def change(folder):
        file = folder / name
        file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
        git(folder, "commit", "--quiet", "--all", "--message", "change")

    return change


@pytest.mark.parametrize(("change", "words"), [
    (lambda folder: (folder / "note").write_text("x"), "Files differ from the commit: note."),
    (tag_and_go_on, "The tag v1.2.0 is another commit."),
    (replaced("CHANGELOG.md", " (2027-01-31)", " (unreleased)"), "calls 1.2.0 unreleased"),
    (replaced("CHANGELOG.md", "1.2.0", "1.3.0"), "has no section 1.2.0, only 1.3.0, 1.1.0"),
    (replaced("plugin/marketplace.json", "1.2.0", "1.1.0"), "says 1.1.0, pyproject.toml 1.2.0"),
])  # fmt: skip
def test_what_is_not_the_commit_or_contradicts_itself_is_refused(release, checkout, change, words):
    change(checkout)
    [fault] = release.faults_of(checkout)
    assert words in fault


def test_this_checkout_lacks_nothing_but_the_day_of_its_release(release):
    faults = [each for each in release.faults_of(ROOT) if "Files differ" not in each]
    assert len(faults) <= 1
    assert all("unreleased" in fault for fault in faults)


def test_the_workflow_pins_its_actions_and_may_write_only_where_it_must():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    workflow = yaml.safe_load(text)
    used = re.findall(r"uses: (\S+)", text)
    assert len(used) > 5
    assert [
        each for each in used if not re.fullmatch(r"[\w-]+/[\w-]+(?:/[\w-]+)?@[0-9a-f]{40}", each)
    ] == []
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"]
    pythons = jobs["install"]["strategy"]["matrix"]["python"]
    assert pythons == ["3.11", "3.12", "3.13", "3.14"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert set(jobs["publish"]["needs"]) >= {"build", "install"}
