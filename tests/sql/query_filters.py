"""Filters as people write them in a query, each with the filter that it stands for."""

import json
from typing import Any

from hypothesis import strategies as st

Written = tuple[str, dict[str, Any]]

SCALARS = ["guide", "it's", '"', "\\", "$$", "a b", "(x)", "x)", "-", "AND", "a,b", "%", "*", "#c"]
SIMPLE = ["guide", "draft", "ann", "reference", "linux", "new", "u", "setup", "'", "a:b", "[x]"]


def quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


texts = st.one_of(
    st.sampled_from(SIMPLE).map(lambda v: (v, v)),
    st.sampled_from(SCALARS).map(lambda v: (quoted(v), v)),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6).map(
        lambda v: (quoted(v), v)
    ),
).filter(lambda v: not v[0].startswith(("<", "=", ">", "!", "~")))
days = st.sampled_from(["2024-03-01", "2024-12-01", "2025-01-01", "2024-05-01T12:30:00Z"])
numbers = st.integers(0, 12)
orders = st.sampled_from(["<", "<=", ">", ">="])


@st.composite
def one_of(draw: Any, names: list[tuple[str, str]], values: Any = texts) -> Written:
    """`type:a`, `type:a,b`, `type:(a b)`."""
    name, field = draw(st.sampled_from(names))
    chosen = draw(st.lists(values, min_size=1, max_size=3))
    given = [written for written, _ in chosen]
    listed = draw(
        st.sampled_from([",".join(given), f"({' '.join(given)})", f"({', '.join(given)})"])
    )
    return f"{name}:{listed}", {field: {"in": [value for _, value in chosen]}}


@st.composite
def compared(draw: Any, names: list[tuple[str, str]], values: Any) -> Written:
    name, field = draw(st.sampled_from(names))
    operator, value = draw(orders), draw(values)
    return f"{name}:{operator}{value}", {field: {operator: value}}


@st.composite
def ranges(draw: Any, names: list[tuple[str, str]], values: Any) -> Written:
    name, field = draw(st.sampled_from(names))
    low, high = draw(values | st.just("")), draw(values)
    bounds = {"<=": high} | ({">=": low} if low != "" else {})
    return f"{name}:{low}..{high}", {field: bounds}


@st.composite
def of_front_matter(draw: Any) -> Written:
    name = draw(st.sampled_from(["status", "rank", "seen", "by", "meta.team", "x'y"]))
    field = f"front_matter.{name}"
    shape = draw(st.sampled_from(["text", "typed", "compared", "pattern", "exists"]))
    if shape == "text":
        written, value = draw(texts)
        return f"{field}:{written}", {field: value}
    if shape == "typed":
        value = draw(st.sampled_from([0, 3, 10, 2.5, True, False]))
        return f"{field}:{json.dumps(value)}", {field: [value, json.dumps(value)]}
    if shape == "compared":
        operator, number = draw(orders), draw(numbers)
        return f"{field}:{operator}{number}", {field: {operator: number}}
    if shape == "pattern":
        return f"{field}:dr_f*", {field: {"like": r"dr\_f%"}}
    return f"{field}:*", {field: {"exists": True}}


TEXTS = [("type", "type"), ("topic", "topic")]
#: After an unquoted `tags:a` the next words are tags.
LISTS = [("tag", "tags")]
TIMES = [("created", "created"), ("modified", "modified")]
NUMBERS = [("depth", "depth"), ("level", "level")]

single: st.SearchStrategy[Written] = st.one_of(
    one_of(TEXTS),
    one_of(LISTS),
    st.sampled_from(["linux", "new", "a/b", "größe"]).map(lambda tag: (f"#{tag}", {"tags": tag})),
    texts.map(lambda tag: (f"tags:({tag[0]})", {"tags": tag[1]})),
    compared(TIMES, days),
    compared(NUMBERS, numbers),
    ranges(TIMES, days),
    ranges(NUMBERS, numbers),
    of_front_matter(),
    st.sampled_from(TEXTS).map(lambda f: (f"{f[0]}:*", {f[1]: {"exists": True}})),
    st.just(("type:!=guide", {"type": {"!=": "guide"}})),
    st.just(("type:gui*", {"type": {"like": "gui%"}})),
    days.map(lambda day: (f"before:{day}", {"created": {"<": day}})),
)


def negated(sign: str, inner: Written, *, in_parentheses: bool) -> Written:
    written = f"({inner[0]})" if in_parentheses else inner[0]
    return f"{sign}{written}", {"not": inner[1]}


def grouped(word: str, members: list[Written]) -> Written:
    """All members in parentheses, so that precedence does not matter."""
    between = f" {word} " if word else " "
    meaning = {"or" if word == "OR" else "and": [meaning for _, meaning in members]}
    return f"({between.join(written for written, _ in members)})", meaning


def joined(inner: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
    return st.one_of(
        st.builds(
            grouped, st.sampled_from(["AND", "OR", ""]), st.lists(inner, min_size=1, max_size=3)
        ),
        st.builds(lambda f: negated("NOT ", f, in_parentheses=False), inner),
        st.builds(lambda f: negated("-", f, in_parentheses=True), inner),
    )


filters = st.recursive(single, joined, max_leaves=4)
#: Words that are nobody's filter, between which filters stand.
words = st.sampled_from(
    ["restore", "std::vector", "key: value", "http://x", "C#", "f(x)", "12:30", '"type:x"', "-old",
     "+new", "position:absolute", "#include", "and", "(aside)", "#fff", "Größe", "не"]
)  # fmt: skip
