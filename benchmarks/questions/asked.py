"""Questions about versions, made from the differences of neighbouring releases.

What changed decides what is asked and what is right; a seed chooses the wordings
and the way to name the version.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import Any

from benchmarks.questions.releases import Change, Release, changes

#: The number of questions of each kind, 200 together.
KINDS = {
    "a default that changed": 44,
    "an option that is there": 36,
    "an option before it came": 30,
    "an option after it went": 30,
    "since when": 14,
    "what is new": 8,
    "no such version": 14,
    "argument against words": 8,
    "two versions named": 6,
    "a number that is no version": 10,
}
_DEFAULTS = (
    "What is the default of {name} in {library} {version}?",
    "default value of `{name}`, version {version}",
    "{library} {version}: what does {name} default to?",
    "Which value does {name} have in v{version} unless I set it?",
    "Wie ist {name} in Version {version} voreingestellt?",
    "Какое значение {name} по умолчанию в версии {version}?",
)
_PRESENCE = (
    "Is {name} in {library} {version}?",
    "Was the option {name} there in v{version}?",
    "Does {library} {version} have {name}",
    "how do I use {name} with version {version}",
    "Is {name} still in {version}?",
    "Gibt es {name} in {library} {version}?",
    "{name} {library} {version}",
)
_UNVERSIONED = ("What is the default of {name}?", "what does {name} do", "Is there {name}?")
_SINCE = (
    "Since which version does {library} have {name}?",
    "when was {name} introduced",
    "Seit welcher Version gibt es {name}?",
)
_TWO = (
    "Differences of {name} between {library} {old} and {library} {version}",
    "How does {name} change from {library} {old} to {version}?",
    "{name}: {library} {old} vs {library} {version}",
)
_NUMBERS = (
    "Why does {name} end in HTTP 404?",
    "{name} and port 8080",
    "Does {name} need Node {version}?",
    "{name} with {version} workers",
    "Set {name} to {version}",
    "retry {name} after {version} seconds",
    "{name} and the protocol TLS v{version}",
    "{name} in {version} steps",
    "{name} on Ubuntu 24.04",
    "{name} since {library} {version}",
)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question and what is right: every hit and every source is of `version`.

    `default`: a source about the option states it. `refused_for`: the version lacks the option, and
    the answer must say so and name these versions, or quote that the option was removed. `since`:
    the first hit about the option must have come with this version. `unknown`: no such version
    exists, which must be said together with `existing`.
    """

    kind: str
    library: str
    text: str
    version: str
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    default: str | None = None
    refused_for: tuple[str, ...] = ()
    since: str | None = None
    unknown: str | None = None
    existing: tuple[str, ...] = ()


def questions(
    libraries: dict[str, Sequence[Release]], counts: dict[str, int] = KINDS, seed: int = 1
) -> list[Asked]:
    """The questions about libraries whose releases are given oldest first.

    Of each kind the libraries contribute in turn. A release without a number is never the newest.
    """
    chance = random.Random(seed)
    made = {
        library: list(_Maker(library, releases, chance).all())
        for library, releases in libraries.items()
    }
    chosen = []
    for kind, count in counts.items():
        of_kind = [[each for each in rows if each.kind == kind] for rows in made.values()]
        for rows in of_kind:
            chance.shuffle(rows)
        in_turn = [each for each in chain(*zip_longest(*of_kind)) if each is not None]
        if len(in_turn) < count:
            raise ValueError(f"The releases give {len(in_turn)} questions of {count}: {kind}.")
        chosen += in_turn[:count]
    return chosen


class _Maker:
    """Makes every question that the releases of one library allow."""

    def __init__(self, library: str, releases: Sequence[Release], chance: random.Random) -> None:
        self._library = library
        self._releases = releases
        self._chance = chance
        self._numbered = [each for each in releases if each.label[-1:] in "0123456789x"]
        self._newest = self._numbered[-1].label
        self._changes = list(changes(releases))

    def all(self) -> Iterator[Asked]:
        """Yield the questions, kind by kind."""
        for change in self._changes:
            old, new = change.old, change.new
            match change.kind:
                case "default":
                    for release in (old, new):
                        yield from self._stated("a default that changed", change, release, 5)
                    given = {"version": new.label, "changed_since": old.label}
                    default = new.options[change.name]
                    text = f"default of {change.name}"
                    yield self._ask("what is new", text, new.label, change, given, default=default)
                case "added":
                    yield from self._absent("an option before it came", change, old)
                    yield from self._stated("an option that is there", change, new, 2)
                    yield from self._since(change)
                case "removed":
                    yield from self._absent("an option after it went", change, new)
                    yield from self._stated("an option that is there", change, old, 2)
        yield from self._unknown()
        yield from self._contradictions()

    def _ask(
        self, kind: str, text: str, version: str, change: Change,
        arguments: dict[str, Any] | None = None, **right: Any,
    ) -> Asked:  # fmt: skip
        return Asked(kind, self._library, text, version, change.name, arguments or {}, **right)

    def _say(self, wording: str, change: Change, **versions: object) -> str:
        return wording.format(name=change.name, library=self._library, **versions)

    def _stated(self, kind: str, change: Change, release: Release, count: int) -> Iterator[Asked]:
        wordings = _DEFAULTS if "default" in kind else _PRESENCE
        default = release.options[change.name]
        for text, arguments in self._worded(wordings, change, release, count):
            yield self._ask(kind, text, release.label, change, arguments, default=default)

    def _absent(self, kind: str, change: Change, release: Release) -> Iterator[Asked]:
        is_word = change.name.isalpha() and change.name.islower()
        if release.mentions(change.name) and not release.tells_end_of(change.name) and not is_word:
            return  # The pages mention it, so the release cannot be said to lack it.
        having = tuple(each.label for each in self._releases if change.name in each.options)
        for text, arguments in self._worded(_PRESENCE, change, release, 4):
            yield self._ask(kind, text, release.label, change, arguments, refused_for=having)

    def _since(self, change: Change) -> Iterator[Asked]:
        # The history of a section goes on under its new heading.
        is_renamed = change.new.sections[change.name] in change.old.sections.values()
        is_there = change.name in self._numbered[-1].options
        if is_there and not change.old.mentions(change.name) and not is_renamed:
            text = self._say(self._chance.choice(_SINCE), change)
            given, since = {"history": True}, change.new.label
            yield self._ask("since when", text, self._newest, change, given, since=since)

    def _unknown(self) -> Iterator[Asked]:
        majors = [int(_number(each.label).partition(".")[0]) for each in self._numbered]
        existing = tuple(each.label for each in self._releases)
        before, after = str(min(majors) - 1), str(max(majors) + 2)
        for change in self._changes[:6]:
            for text, given, number in (
                *((self._say(self._chance.choice(_DEFAULTS[:5]), change, version=n), {}, n)
                  for n in (before, after)),
                (f"default of {change.name}", {"version": before}, before),
            ):  # fmt: skip
                yield self._ask("no such version", text, self._newest, change, given,
                                unknown=number, existing=existing)  # fmt: skip

    def _contradictions(self) -> Iterator[Asked]:
        first = self._numbered[0].label
        for number, change in enumerate(self._changes):
            old, new = self._spoken(self._numbered[0]), self._spoken(self._numbered[-1])
            text = self._say(_DEFAULTS[0], change, version=new)
            yield self._ask("argument against words", text, first, change, {"version": first})
            text = self._say(_TWO[number % len(_TWO)], change, old=old, version=new)
            yield self._ask("two versions named", text, self._newest, change)
            text = self._say(_NUMBERS[number % len(_NUMBERS)], change, version=_number(old))
            yield self._ask("a number that is no version", text, self._newest, change)

    def _worded(
        self, wordings: Sequence[str], change: Change, release: Release, count: int
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Some wordings that name the release, most in words, else by an argument or a filter."""
        if release in self._numbered:
            for wording in self._chance.sample(wordings, count - 1):
                # A sentence that gives the version its own "v" takes a bare number.
                spoken = self._spoken(release)
                spoken = _number(spoken) if "v{version}" in wording else spoken
                yield self._say(wording, change, version=spoken), {}
        text = self._say(self._chance.choice(_UNVERSIONED), change)
        label = {"version": release.label}
        forms = ((text, label), (text, {"filters": label}), (f"{text} version:{release.label}", {}))
        yield self._chance.choice(forms)

    def _spoken(self, release: Release) -> str:
        """The version as people write it: the label, without its v, or the first numbers of it."""
        number = _number(release.label)
        forms = [release.label, number]
        for short in (number.rpartition(".")[0], number.partition(".")[0]):
            within = [
                each for each in self._numbered if f"{_number(each.label)}.".startswith(f"{short}.")
            ]
            if short and within[-1] is release:
                forms.append(short)
        return self._chance.choice(forms)


def _number(label: str) -> str:
    return label.removeprefix("v").removesuffix(".x")
