"""The same sources rank the same: a library that grew and was changed equals a new one."""

import random

import pytest
from corpus import Author
from library import Row, ingest, run

VERSIONS = ("1.0", "2.0", "next")
KEYS = [f"{folder}{letter}.md" for folder in ("", "guide/") for letter in "abcdefg"]
SETTINGS: list[Row] = [
    {"field_weights": {"title": 2, "path": 0}},
    {"k1": 0.9, "b": 0.4},
    {"page_evidence": 0.3},
    {"anchor_texts": True},
    {"graph": {"total": 4, "fan_out": 2, "admitted": 2, "depth": 2, "seeds": 2}},
    {"field_weights": None, "k1": None, "b": None, "page_evidence": None, "anchor_texts": None},
]
#: The searches to compare, by function and arguments.
SEARCHES: list[tuple[str, Row]] = [
    ("keyword_search", {}),
    ("semantic_search", {}),
    ("search", {}),
    ("search", {"version": "*", "top_k": 30}),
    ("search", {"fusion": "rrf"}),
    ("search", {"graph": True, "top_k": 30}),
    ("search", {"hierarchy": "breadth"}),
    ("search", {"query_expansion": "feedback"}),
    ("search", {"candidate_count": 10, "levels": [0, 1, 2]}),
    ("search_pages", {}),
    ("search_pages", {"aggregate": "rrf"}),
]
QUERIES = ["server table", "rotate the secret of a cluster", "cache"]

#: What is written on a page: the seed and number of its parts, and the keys that it links to.
Text = tuple[int, int, tuple[str, ...]]


class Library:
    """A library, and the sources that it was told: by version and key, the text of a page."""

    def __init__(self, connection, name):
        self.connection = connection
        self.name = name
        self.sources = {version: {} for version in VERSIONS}
        self.settings = []

    def write(self, version, texts, *, ready=True):
        self.sources[version] |= texts
        pages = [_page(key, text) for key, text in texts.items()]
        ingest(self.connection, self.name, pages, version, ready=ready)

    def remove(self, version, keys):
        for key in keys:
            del self.sources[version][key]
        run(self.connection, "remove_pages", library=self.name, version=version, keys=keys)

    def move(self, version, key, other, *, renamed):
        text = self.sources[version][key]
        if renamed and other not in self.sources[version]:
            new_keys = {key: other}
            run(
                self.connection, "rename_pages",
                library=self.name, new_keys=new_keys, version=version,
            )  # fmt: skip
            del self.sources[version][key]
        else:
            self.remove(version, [key])
        self.write(version, {other: text})

    def configure(self, settings):
        self.settings.append(settings)
        run(self.connection, "configure_library", library=self.name, settings=settings)

    def finish(self):
        for version in VERSIONS:
            run(self.connection, "finish_version", library=self.name, version=version)

    def hits(self, function, query, arguments):
        rows = run(self.connection, function, query=query, library=self.name, **arguments)
        return [
            (row["version"], row["key"], row.get("sort_order"), row.get("heading"), row["score"])
            for row in rows
        ]


def _page(key, text):
    seed, parts, targets = text
    author = Author(random.Random(seed))
    page = author.page(key)
    # A long page repeats its last paragraph, so that its passages have equal scores.
    page["documents"] += [page["documents"][-1]] * (parts - 1)
    page["edges"] = [
        {"target": f"/{target}", "rule": "explicit:link", "line": line, "text": target[:-3]}
        for line, target in enumerate(targets)
    ]
    return page | {"source_hash": repr(text)}


def _text(dice):
    """Few seeds, so that pages are copies of others; few are long, so that the average moves."""
    targets = dice.sample(KEYS, dice.randint(0, 4))
    return dice.randrange(12), dice.choice([1, 1, 1, 2, 30]), tuple(targets)


def _grow(library, dice):
    """Add, change, change back, move and remove pages and versions; configure."""
    past = []
    for version in dice.sample(VERSIONS, len(VERSIONS)):
        library.write(version, {key: _text(dice) for key in dice.sample(KEYS, 8)})
    for _ in range(14):
        version = dice.choice(VERSIONS)
        sources = library.sources[version]
        step = dice.choice(["write", "write", "back", "move", "remove", "drop", "configure"])
        if step == "write":
            texts = {key: _text(dice) for key in dice.sample(KEYS, dice.randint(1, 4))}
            past += [(version, key, sources[key]) for key in texts if key in sources]
            library.write(version, texts, ready=dice.random() < 0.5)
        elif step == "back" and past:
            version, key, text = past.pop(dice.randrange(len(past)))
            library.write(version, {key: text})
        elif step == "move" and sources:
            key, other = dice.choice(sorted(sources)), dice.choice(KEYS)
            library.move(version, key, other, renamed=dice.random() < 0.5)
        elif step == "remove":
            library.remove(version, dice.sample(sorted(sources), len(sources) // 3))
        elif step == "drop":
            run(library.connection, "remove_version", library=library.name, version=version)
            library.sources[version] = {}
            library.write(version, {key: _text(dice) for key in dice.sample(KEYS, 5)})
        elif step == "configure":
            library.configure(dice.choice(SETTINGS))


@pytest.mark.parametrize("seed", range(6))
def test_library_that_grew_ranks_like_a_new_one(connection, seed):
    dice = random.Random(seed)
    grown, fresh = Library(connection, "grown"), Library(connection, "fresh")
    _grow(grown, dice)
    grown.finish()

    for version in VERSIONS:
        fresh.write(version, dict(sorted(grown.sources[version].items())), ready=False)
    for settings in grown.settings:
        fresh.configure(settings)
    fresh.finish()

    for function, arguments in SEARCHES:
        for query in QUERIES:
            expected = fresh.hits(function, query, arguments)
            hits = grown.hits(function, query, arguments)
            assert [hit[:-1] for hit in hits] == [hit[:-1] for hit in expected], (
                function, arguments, query,
            )  # fmt: skip
            assert [hit[-1] for hit in hits] == pytest.approx(
                # Page ranks begin with the last ones, and end within 1e-6 of what they approach.
                [hit[-1] for hit in expected],
                abs=2e-5 if arguments.get("graph") else 1e-6,
            ), (function, arguments, query)
