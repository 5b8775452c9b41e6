"""A git repository of the documentation of a tool that does not exist, with a tag per release.

Between releases options come, go, get other names and other defaults; which ones, a seed decides.
The same seed writes the same commits.
"""

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

LIBRARY = "tidemark"
TAGS = ("v1.0.0", "v1.4.0", "v2.0.0", "v2.3.1", "v3.0.0", "v3.1.0")

#: For each option: page, name, type, the defaults before and after a change, what it does.
OPTIONS = Path(__file__).with_suffix(".tsv")
_TITLES = {
    "storage": ("Storage", "how files become pieces and where these are kept"),
    "schedule": ("Schedule", "when snapshots are taken and what happens if one fails"),
    "retention": ("Retention", "which snapshots stay"),
    "network": ("Network", "how the storage is reached"),
    "logging": ("Logging", "what a run says about itself"),
}
_GUIDES = {
    "first-snapshot": (
        "A first snapshot",
        "Install the package, run `tidemark init` in an empty bucket and then `tidemark snapshot"
        " ~/Documents`. The first run reads every file; later ones read what changed.\n\n"
        "## Looking at it\n\n`tidemark list` prints the snapshots of this machine, newest first."
        " `tidemark mount /mnt` shows them as folders.",
    ),
    "restore": (
        "Restoring files",
        "`tidemark restore SNAPSHOT PATH` writes a folder back to where it was. With `--to` it goes"
        " elsewhere.\n\n## A whole machine\n\nBoot a rescue system, install the same release of"
        " tidemark, and restore `/` into the mounted disk.",
    ),
    "troubleshooting": (
        "Troubleshooting",
        "## The storage answers HTTP 404\n\nThe bucket has another name, or the key may not list"
        " it.\n\n## A run takes hours\n\nLook for one large file that changes all the time, such as"
        " the disk of a virtual machine, and exclude it. With 2 workers a disk of 1 TB takes about"
        " 3 hours.\n\n## The lock is held\n\nAnother machine is pruning. Wait, or run `tidemark"
        " unlock` if that machine is gone.",
    ),
}  # fmt: skip
_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Tidemark", "GIT_AUTHOR_EMAIL": "docs@tidemark.example",
    "GIT_COMMITTER_NAME": "Tidemark", "GIT_COMMITTER_EMAIL": "docs@tidemark.example",
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Option:
    page: str
    name: str
    type: str
    default: str
    later_default: str
    about: str
    is_deprecated: bool = False


def write_repository(folder: Path, seed: int = 1) -> Path:
    """Write the repository with its tags, and return its folder."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    for number, (tag, pages) in enumerate(zip(TAGS, releases(seed), strict=True)):
        for key, text in pages.items():
            path = folder / "docs" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        date = f"202{number}-03-01T12:00:00+00:00"
        _git(folder, "add", "--all", date=date)
        _git(folder, "commit", "--quiet", "--message", f"Release {tag}", date=date)
        _git(folder, "tag", tag, date=date)
    return folder


def releases(seed: int = 1) -> Iterator[dict[str, str]]:
    """The pages of each release, by key."""
    chance = random.Random(seed)
    options = [
        _Option(page, name, kind, *defaults.split(","), about)
        for page, name, kind, defaults, about in (
            line.split("\t") for line in OPTIONS.read_text("utf-8").splitlines()[1:]
        )
    ]
    chance.shuffle(options)
    # What happens to an option, and in which release: fates take turns.
    fates = {
        option.name: (("added", "changed", "removed", "renamed", "dropped", "same")[number % 6],
                      chance.randrange(1, len(TAGS)))
        for number, option in enumerate(options)
    }  # fmt: skip
    notes: dict[str, list[str]] = {}
    for number, tag in enumerate(TAGS):
        present = []
        for option in options:
            fate, when = fates[option.name]
            present += _in_release(option, fate, number - when)
            if number == when and (note := _note(option, fate)):
                notes.setdefault(tag, []).append(note)
        yield dict(_pages(tag, present, notes))


def _in_release(option: _Option, fate: str, age: int) -> list[_Option]:
    """The option in the release that is `age` releases after its change."""
    match fate:
        case "added" if age < 0:
            return []
        case "changed" if age >= 0:
            return [replace(option, default=option.later_default)]
        case "removed" | "dropped" if age >= 0:
            return []
        case "removed" if age == -1:
            return [replace(option, is_deprecated=True)]
        case "renamed" if age >= 0:
            return [replace(option, name=_new_name(option.name))]
    return [option]


def _new_name(name: str) -> str:
    return f"snapshot{name[0].upper()}{name[1:]}".replace("_", "")


def _note(option: _Option, fate: str) -> str | None:
    """What the guide to upgrading says; some options are dropped without a word."""
    match fate:
        case "removed":
            return f"`{option.name}` was removed; delete it from your files."
        case "renamed":
            return f"`{option.name}` was renamed to `{_new_name(option.name)}`."
        case "changed":
            before, now = option.default, option.later_default
            return f"The default of `{option.name}` is now `{now}`; it was `{before}`."
    return None


def _pages(
    tag: str, options: list[_Option], notes: dict[str, list[str]]
) -> Iterator[tuple[str, str]]:
    subjects = ", ".join(f"[{title}](options/{page}.md)" for page, (title, _) in _TITLES.items())
    yield (
        "index.md",
        _page(
            "Tidemark",
            "Tidemark takes snapshots of folders and keeps them in a bucket. This documents"
            f" {tag}.\n\n## Where to begin\n\nRead [A first snapshot](guides/first-snapshot.md),"
            f" then the options by subject: {subjects}.",
        ),
    )
    for key, (title, text) in _GUIDES.items():
        yield f"guides/{key}.md", _page(title, text)
    for page, (title, subject) in _TITLES.items():
        of_page = sorted((o for o in options if o.page == page), key=lambda o: o.name.lower())
        text = "\n\n".join([f"These options decide {subject}.", *map(_section, of_page)])
        yield f"options/{page}.md", _page(f"{title} options", text)
    if notes:
        text = "\n\n".join(
            f"## To {release}\n\n" + "\n".join(f"- {line}" for line in lines)
            for release, lines in reversed(notes.items())
        )
        yield "upgrading.md", _page("Upgrading", f"Read every step on your way.\n\n{text}")


def _section(option: _Option) -> str:
    text = f"## `{option.name}` [{option.type}]\n\nDefault: `{option.default}`\n\n{option.about}"
    if option.is_deprecated:
        text += "\n\n**Deprecated:** the option will be removed by the next release."
    return text


def _page(title: str, text: str) -> str:
    return f"---\ntitle: {title}\n---\n\n{text}\n"


def _git(folder: Path, *arguments: str, date: str = "") -> None:
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
    subprocess.run(
        ("git", "-C", str(folder), *arguments),
        check=True,
        env={**os.environ, **_ENVIRONMENT, **dates},
    )
