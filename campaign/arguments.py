"""Arguments of functions by name and type: those that work, those that nearly do, and hostile ones.

Every value can be read as its type: what PostgreSQL refuses is no fault of a function.
"""

import copy
import uuid
from collections.abc import Callable, Iterable
from math import isfinite
from random import Random
from typing import Any

from psycopg.types.json import Jsonb

#: A vector of the built-in model's length.
LENGTH = 256
EVIL = [
    "'; drop table pgrag.pages cascade; --",
    "' or '1'='1",
    '"; drop schema pgrag cascade; --',
    "\\'; select pg_sleep(10); --",
    "$$; drop table pgrag.pages; $$",
    "%s %I %L %1$s {} :name ?",
    "{}')::text[]; drop table pgrag.pages; --",
    "ünïcödé 🚀 \u202e \x01 \x7f",
    "",
    " ",
    "x" * 5000,
]
TEXTS = [
    *EVIL,
    "-", "--", "\\", "\t\n", "\u00a0", "\ufeff", "\u2028", "e\u0301" * 20, "👩‍👩‍👧", "ẞßİıǅ",
    "\\x", "\\1", "[", "(", ")", "*", "?", "[[:alpha:]", "a{9999}", "(a+)+$", "(.*)\\1", "(?i)x",
    "^", "$", "a|b", "\\m\\M", "%", "_", "&", "!", "!!a & b", "a <-> b", "a:*", "'a':1A", '"', '"a',
    '""', "a -b", "-a", "+a", "a OR b", "type:guide", "type:", ":x", "tag:(a", "#tag", "[[valve]]",
    "[[", "../..", "/", "//", ".", "..", "a/../b", "http://", "https://x/%zz", "C:\\x", "~", "1.x",
    "v1", "1.0.0-rc.1+b", "999999999999999999999.1", "^1", ">=1 <2", "latest", "stable", "NULL",
    "null", "true", "0", "-1", "1e999", "NaN", "2026-02-30", "infinity", "0000-00-00", "{}", "[]",
    "{a,b}", "simple", "english", "german", "pg_catalog.english", "pg_catalog", "public.x", "a.b.c",
    "english; x", "16384", "0x1", "1", "on", "pgrag.search", "pg_sleep", "search", "now",
    "x" * 300, "ä" * 1001, "x" * 70_000, "word " * 2_000, "a\n" * 500, "'" * 50, "(" * 200,
    "{" * 99, "\U0010fffd",
    "LIST", "LIST FROM #pump WHERE rating > ", "TABLE file.name, rating FROM #pump SORT rating",
    "TASK WHERE !completed", "LIST FROM [[valve]] LIMIT 1e9",
    "TABLE regexreplace(title, \"(\", \"\")",
    "TABLE 1/0, date(\"x\"), dur(\"9999999999 years\"), number(\"1e999\"), 9e400 % 0",
]  # fmt: skip
SIGNS = "abé \\'\"()[]{}*+?.|&!<>:-#@~/%_^$,;=0123456789\n"
INTEGERS = [0, 1, -1, 2, 3, 5, 10, 100, 1000, 1001, 32_767, 32_768, 2**31 - 1, -(2**31)]
BIG = [2**31, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [
    0.0, -0.0, 0.5, 1.0, -1.0, 1.5, 2.0, 10.0, 1e-308, 5e-324, 1e308, -1e308, 1e15,
    float("nan"), float("inf"), float("-inf"),
]  # fmt: skip
REALS = [0.0, 0.1, 1.0, -1.0, 3e38, 1e-44, float("nan"), float("inf"), float("-inf")]
VECTORS = [
    "[" + ",".join([number] * length) + "]"
    for number in ("0", "1", "-0.05", "65504")
    for length in (1, 3, LENGTH, LENGTH + 1, 4000)
]
TIMES = ["2026-01-01", "infinity", "-infinity", "epoch", "294276-12-31", "4713-01-01 BC"]
BYTES = [b"", b"# A", b"\0", b"\xff" * 3000]
INTERVALS = ["1 day", "0", "-1 day", "178000000 years", "-178000000 years", "1 month -1 day"]
SEARCHED = ["", "'drain':1A 'node':2", "'a'", "'b':16383D,16383A", "'x y':1B"]
JSON: list[Any] = [
    None, True, False, 0, 1, -1, 0.5, 1.5, 5e-324, 1e308, 10**400, 2**31, 2**63, -(2**63), "", "x",
    "valve", "1.1", "2026-01-01", "1e999", "NaN", "\u202e", "x" * 3000, [], {}, [[]], [None], [{}],
    [1, "a"], [1, 1], ["a", None], {"": ""}, {"a": None}, {"a": {"b": [1]}}, ["x"] * 2000,
    [0.1, 0.9], list(range(30)), {"key": "valve.md"}, {"=": "x"}, {"in": []},
    {"<": None}, {"like": "%\\"},
]  # fmt: skip

#: Values that work, by the name of an argument; for lists their items.
USUAL: dict[str, list[Any]] = {
    "query": ["close the valve", "install pump", "type:guide valve", "Ventil", '"the wheel"'],
    "question": ["How do I close the valve?"],
    "words": ["close valve"],
    "suggestion_count": [3],
    "label": ["1.2.3", "v2"],
    "name": ["questions", "another", "hybrid", "keyword"],
    "expected": [100, 10000],
    "stored": [0, 100],
    "dimensions": [3],
    "language": ["english", "german", "simple", "ru"],
    "markdown": ["[a](b) **c** `d`"],
    "url": ["https://example.org/a"],
    "base_url": ["https://example.org"],
    "title": ["Valve", "Pump"],
    "sentence": ["A pump needs a valve."],
    "path": [["A", "B"], "notes/**"],
    "content": ["Some text."],
    "answer": ["Close the valve [1]."],
    "lexeme": ["valv"],
    "field_weights": [1.0],
    "frequency": [1.0, 3.0],
    "length": [10.0],
    "k1": [1.2],
    "b": [0.75],
    "document_count": [1.0, 3.0],
    "evaluation_set": ["questions"],
    "query_id": ["q1", "q2"],
    "metric": ["ndcg@10", "ndcg_exp@5", "mrr@10", "recall@20", "precision@5", "hit_rate@1", "ndcg"],
    "gain": ["linear", "exponential"],
    "grade": [0, 1, 2, 3],
    "k": [1, 10],
    "seed": [42],
    "permutations": [100],
    "query_count": [5],
    "unit": ["page", "section", "document"],
    "sort_order": [1],
    "intent": ["auto", "off"],
    "intent_name": ["PROCEDURAL", "procedural"],
    "type_name": ["natural_language", "identifier"],
    "role": ["search", "write", "admin"],
    "role_name": ["pgrag_reader", "pgrag_writer"],
    "rating": [1, 5],
    "sentences": ["Close the valve.", "Turn the wheel."],
    "status": ["answered", "failed", "cancelled", "not_in_documentation"],
    "days": [1, 30],
    "period": ["day", "week", "hour"],
    "front_matter_type": ["guide", "reference", "concept"],
    "prompt_version": ["1"],
    "pattern": ["valve", "the wh..l", "(a|v)alve"],
    "case_mode": ["sensitive", "insensitive", "smart"],
    "mode": ["hybrid", "keyword", "semantic", "literal", "regex", "word"],
    "timeout_ms": [1000],
    "direction": ["in", "out", "both"],
    "fusion": ["absolute", "rrf"],
    "query_expansion": ["none", "synonyms", "feedback", "both"],
    "hierarchy": ["none", "depth", "breadth", "overview"],
    "aggregate": ["max", "mean", "rrf"],
    "format": ["simple", "grouped"],
    "texts": ["none", "all", "changed", "excerpts"],
    "state": ["resolved", "broken", "external", "ambiguous"],
    "rules": ["explicit:link", "wikilink"],
    "checks": ["documents", "pages", "vectors", "links", "statistics"],
    "source": ["judgements", "feedback", "library"],
    "provider": ["openai", "builtin", "custom"],
    "client": ["sql", "rest"],
    "exclude": ["valve.md"],
    "terms": ["valve"],
    "level": [0, 1, 2],
    "changed_since": ["1.0"],
    "query_prefix": ["query: "],
}
#: The names of arguments whose values are those of another name.
ALIASES = {
    "libraries": "library", "from_version": "version", "to_version": "version",
    "wanted": "version", "page": "key", "keys": "key", "after_key": "key", "page_ids": "page_id",
    "from_page": "page_id", "to_page": "page_id", "document_ids": "document_id",
    "library_ids": "library_id", "edge_ids": "edge_id", "other_run_id": "run_id",
    "text_hashes": "text_hash", "page_hash": "text_hash", "kinds": "kind", "states": "state",
    "inject_types": "page_type", "levels": "level", "grades": "grade", "queries": "query",
    "source_title": "title", "target_title": "title", "input": "content", "comment": "content",
    "note": "content", "average_length": "length", "corpus_size": "length", "judged": "grade",
    "metrics": "metric",
}  # fmt: skip
DOCUMENT = {
    "content": "Some text.", "level": 2, "covers": 4, "parent": 0, "heading": "Valve",
    "heading_level": 2, "depth": 1, "path": ["A"], "root_section": "A", "position": "start",
    "types": ["text"], "anchor": "a", "overlap": "", "is_summary": False, "line_start": 1,
    "line_end": 2, "content_tags": ["reference"], "context": "",
}  # fmt: skip
EDGE = {
    "target": "install.md", "fragment": "steps", "rule": "explicit:link", "kind": "references",
    "confidence": 1, "line": 3, "document": 0, "text": "pump", "sentence": "See the pump.",
}  # fmt: skip
PAGE = {
    "key": "new.md", "title": "New", "url": "https://example.org/new", "path": ["A"],
    "body": "Some text.\n\n- [ ] a task 📅 2026-01-01",
    "front_matter": {"type": "guide", "due": "x"},
    "uuid": str(uuid.UUID(int=7)), "link": "new", "topic": "t", "type": "guide", "tags": ["x"],
    "language": "english", "created": "2026-01-01", "modified": "2026-01-01T10:00:00Z",
    "source_hash": "h", "warnings": ["w"], "documents": [DOCUMENT | {"parent": None}, DOCUMENT],
    "aliases": ["N"], "edges": [EDGE],
}  # fmt: skip
QUERY = {"id": "q1", "text": "valve", "judgements": {"valve.md": 1}, "excluded": ["install.md"]}
FILTERS: list[Any] = [
    {"type": "guide"},
    {"tags": {"all": ["pump", "setup"]}},
    {"created": {">=": "2025-01-01", "<": "2027-01-01"}},
    {"front_matter.rating": {">": 3}, "title": {"like": "%pump%"}},
    {"or": [{"topic": "x"}, {"section_path": "A > B"}], "not": {"types": "code"}},
    {"and": [{"page": "valve.md"}, {"level": 2}], "links_to": "install.md"},
    {"depth": {"in": [0, 1, 2]}, "language": "english", "modified": {"exists": True}},
]
#: Documents that work, by the name of an argument. `known` adds those that a database has.
DOCUMENTS: dict[str, list[Any]] = {
    "filters": FILTERS,
    "page": [PAGE],
    "pages": [[PAGE], [PAGE, {"key": "b.md"}]],
    "queries": [[QUERY]],
    "synonyms": [{"valve": ["tap"]}, {"tap": {"expansions": ["valve"], "weight": 0.5}}],
    "new_keys": [{"valve.md": "tap.md"}],
    "configuration": [
        {"function": "search", "arguments": {"alpha": 0.5, "fusion": "rrf"}},
        {"function": "keyword_search"},
    ],
    "documents": [[[1, 2], [3]]],
    "enrichments": [[{"document_id": 1, "text": "A text.", "text_hash": str(uuid.UUID(int=1))}]],
    "reranked": [{"1": 0.5, "2": 1}],
    "source": [
        {"file": "questions.yaml"},
        {"arguments": {"source": "/x"}, "base_url": "https://x"},
    ],
    "parameters": [{"top_k": 5, "after": "x"}],
    "timings": [{"total": 5.5}],
    "search_timings": [{"keyword": 5, "total": 7.5}],
    "citations": [[{"number": 1, "supported": True}]],
    "trace": [[{"step": "search"}]],
}
#: The most important settings and entries, also chosen alone.
PARTS: dict[str, list[Any]] = {
    "settings": [
        {"alpha": 0.5},
        {"graph": {"search": True}},
        {"field_weights": {"title": 2}},
        {"enrichment": "context"},
    ],
    "entries": [{"rules": {}}, {"intents": {"MINE": {"description": "x"}}}],
}
SHARE_OF_OPTIONS = 0.3


class Arguments:
    """Chooses the values of arguments; equal seeds choose alike."""

    def __init__(self, random: Random, known: dict[str, list[Any]]) -> None:
        self.random = random
        self._known = known
        self._hostile: dict[str, Callable[[], Any]] = {
            "boolean": lambda: self._of([True, False]),
            "integer": lambda: self._of([*INTEGERS, random.randint(-5, 50)]),
            "bigint": lambda: self._of([*INTEGERS, *BIG, random.randint(-5, 50)]),
            # Ids and names: a text is both.
            "anycompatible": lambda: self._of([*map(str, [*INTEGERS, *BIG]), self._text()]),
            "double precision": lambda: self._of([*FLOATS, random.random()]),
            "real": lambda: self._of(REALS),
            "text": self._text,
            "bytea": lambda: self._of(BYTES),
            "uuid": lambda: self._of([uuid.UUID(int=0), uuid.UUID(int=2**128 - 1)]),
            "halfvec": lambda: self._of(VECTORS),
            "interval": lambda: self._of(INTERVALS),
            "timestamp with time zone": lambda: self._of(TIMES),
            "tsvector": lambda: self._of(SEARCHED),
            "jsonb": self._json,
        }
        #: The arguments of a search, which are also keys of `options`; set by the caller.
        self.options: dict[str, str] = {}

    def supports(self, types: Iterable[str]) -> bool:
        """Whether arguments of these types can be chosen."""
        return all(type_.removesuffix("[]") in self._hostile for type_ in types)

    def value(self, name: str, type_: str) -> Any:
        """A value of this type: mostly one that works, otherwise hostile or null."""
        roll = self.random.random()
        if roll < 0.04:
            return None
        if roll < 0.6:
            return self.usual(name, type_)
        if type_ == "jsonb" and roll < 0.9:
            return Jsonb(self._mutated(self._document(name)))
        if type_.endswith("[]"):
            return self._list(name, type_.removesuffix("[]"))
        return self._hostile[type_]()

    def usual(self, name: str, type_: str) -> Any:
        """A value that works for an argument of this name, if one is known."""
        if type_ == "jsonb":
            return Jsonb(self._document(name))
        if type_.endswith("[]"):
            item = type_.removesuffix("[]")
            chosen = self._usual(name, item)
            if isinstance(chosen, list):
                return chosen
            return [self._usual(name, item) for _ in range(self.random.randint(1, 3))]
        return self._usual(name, type_)

    def _usual(self, name: str, type_: str) -> Any:
        key = ALIASES.get(name, name)
        values = self._known.get(key, []) + USUAL.get(key, [])
        fitting = [v for v in values if _fits(v, type_)]
        if fitting:
            chosen = self._of(fitting)
            return str(chosen) if type_ == "anycompatible" else chosen
        if type_ == "integer":
            return self.random.randint(1, 20)
        if type_ == "double precision":
            return self.random.random()
        if type_ == "halfvec":
            return f"[{','.join(f'{self.random.uniform(-1, 1):.3f}' for _ in range(LENGTH))}]"
        return self._hostile[type_]()

    def _document(self, name: str) -> Any:
        if name == "options":
            names = self.random.sample([*self.options], k=self.random.randint(0, 3))
            return {n: as_json(self.value(n, self.options[n])) for n in names}
        values = self._known.get(name, []) + DOCUMENTS.get(name, []) + PARTS.get(name, [])
        return copy.deepcopy(self._of(values or JSON))

    def _mutated(self, document: Any) -> Any:
        """Change one to three parts of a document."""
        for _ in range(self.random.randint(1, 3)):
            document = self._changed(document)
        return document

    def _changed(self, document: Any) -> Any:
        random = self.random
        if isinstance(document, dict) and document and random.random() < 0.85:
            key = random.choice([*document])
            match random.randrange(8):
                case 0:
                    del document[key]
                case 1:
                    document[self._of(TEXTS)] = self._of(JSON)
                case 2:
                    document[self._of(TEXTS)] = document.pop(key)
                case _:
                    document[key] = self._changed(document[key])
            return document
        if isinstance(document, list) and document and random.random() < 0.85:
            index = random.randrange(len(document))
            match random.randrange(6):
                case 0:
                    del document[index]
                case 1:
                    document.append(copy.deepcopy(document[index]))
                case 2:
                    document.append(copy.deepcopy(self._of(JSON)))
                case _:
                    document[index] = self._changed(document[index])
            return document
        match random.randrange(6):
            case 0:
                return [document]
            case 1:
                return {"x": document}
            case 2:
                return self._of(TEXTS)
            case 3:
                return self._of([*INTEGERS, *BIG, 0.5, 1e308])
            case _:
                return copy.deepcopy(self._of(JSON))

    def _list(self, name: str, item: str) -> Any:
        random = self.random

        def one() -> Any:
            roll = random.random()
            if roll < 0.1:
                return None
            return self._usual(name, item) if roll < 0.5 else self._hostile[item]()

        size = random.choice([0, 1, 1, 2, 2, 3, 10])
        if random.random() < 0.1 and item != "halfvec":
            return [[one(), one()] for _ in range(size or 1)]
        return [one() for _ in range(random.choice([size, size, size, 300]))]

    def _text(self) -> str:
        random = self.random
        chosen = random.choice(TEXTS)
        if random.random() < 0.3:
            known = [v for values in self._known.values() for v in values if isinstance(v, str)]
            chosen = random.choice(known)
        if random.random() < 0.3:
            chosen += random.choice(TEXTS)
        if random.random() < 0.1:
            chosen = "".join(random.choices(SIGNS, k=12))
        return chosen

    def _json(self) -> Jsonb:
        return Jsonb(copy.deepcopy(self._of(JSON)))

    def _of(self, values: list[Any]) -> Any:
        return self.random.choice(values)


#: The types of Python that fit one of PostgreSQL; others fit none.
FITTING: dict[str, Any] = {
    "text": str, "tsvector": str, "integer": int, "bigint": int, "double precision": float,
    "real": float, "uuid": uuid.UUID, "anycompatible": (int, str),
}  # fmt: skip


def _fits(value: Any, type_: str) -> bool:
    of_type = isinstance(value, FITTING.get(type_, ()))
    return of_type and not (type_ == "integer" and abs(value) >= 2**31)


def as_json(value: Any) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, Jsonb):
        return value.obj
    if isinstance(value, list):
        return [as_json(v) for v in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return str(value) if isinstance(value, uuid.UUID) else value
