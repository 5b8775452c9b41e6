"""What a page's type changes of how it is read, and what of that its hash knows."""

import pickle

from pgrag.ingest.matter.page_types import PageType, PageTypes, injected
from pgrag.ingest.page import PageOptions, read_page, source_hash
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.values import CHUNK_PROFILES, SourcePage

LONG = "\n\n".join(f"Paragraph {n} says something about the harbour. " * 8 for n in range(6))


def types(**entries: dict[str, object]) -> PageTypes:
    return PageTypes.of({"page_types": entries})


def read(text: str, known: PageTypes, key: str = "notes/a.md", profile: str = "") -> SourcePage:
    options = PageOptions(types=known, profile=CHUNK_PROFILES.get(profile))
    return read_page(key, text.encode(), options)


def test_the_type_of_a_page_chooses_its_chunk_profile_unless_one_is_given():
    known = types(note={"folders": ["notes"], "chunk_profile": "short"}, default={})
    short, plain = read(LONG, known), read(LONG, known, "other/a.md")
    assert (short.type, plain.type) == ("note", None)
    assert max(len(chunk.content) for chunk in short.chunks if chunk.level == 2) <= 600
    assert len(short.chunks) > len(plain.chunks) > len(read(LONG, known, profile="long").chunks)
    declared = read(f"---\ntype: Essay\n---\n{LONG}", known)
    assert (declared.type, len(declared.chunks)) == ("Essay", len(plain.chunks))
    by_default = types(default={"chunk_profile": "short"})
    assert len(read(f"---\ntype: Essay\n---\n{LONG}", by_default).chunks) == len(short.chunks)


def test_types_inject_fields_and_say_what_links_mean():
    known = types(task={"inject": ["Status", "tags", "none", "due"]})
    fields = "type: Task\nstatus: in\n  progress\ntags: [a, b]\ndue: {x: 1}"
    page = read(f"---\n{fields}\n---\nText.\n\n## Part\n\n{LONG}", known)
    assert {chunk.context for chunk in page.chunks} == {"status: in progress\ntags: a, b"}
    assert not any("in progress" in chunk.content for chunk in page.chunks)
    assert {chunk.context for chunk in read("Text.", known).chunks} == {""}
    known = types(chapter={"link_keys": ["Builds On"], "edge_defaults": ["part_of", "needs"]})
    text = "---\ntype: chapter\nbuilds-on: [one]\nnext: two\n---\nSee [[three]]. #tag"
    assert [(edge.rule, edge.kind, edge.target) for edge in read(text, known).edges] == [
        ("front_matter:builds-on", "builds_on", "one"),
        ("front_matter:next", "next", "two"),
        ("explicit:wikilink", "references", "three"),
        ("edge_defaults:chapter", "part_of", "three"),
        ("edge_defaults:chapter", "needs", "three"),
        ("tag", "tagged", "tag"),
    ]
    assert {edge.line for edge in read(text, known).edges[2:]} == {6}
    other = read(text.replace("type: chapter", "type: note"), known)
    assert [edge.target for edge in other.edges] == ["two", "three", "tag"]
    for value, line in [
        (True, "x: true"),
        (3, "x: 3"),
        ([1, None, [2]], "x: 1, 2"),
        ("a\n b", "x: a b"),
        (None, ""),
        ("", ""),
        ({}, ""),
        ("w" * 400, "x: " + "w" * 297),
    ]:
        assert injected(PageType(inject=("X",)), {"x": value, "X": "later"}) == line


def test_the_hash_of_a_source_knows_the_entry_that_applies_and_no_other():
    def hashed(known: PageTypes, key: str = "notes/a.md", declared: str | None = None) -> str:
        return source_hash(key, "digest", PageOptions(types=known), declared)

    note = {"folders": ["notes"], "inject": ["status"]}
    base = types(note=note)
    same = types(
        note=note | {"retriever_weight": 4, "description": "Mine.", "chunk_profile": "medium"},
        other={"folders": ["others"], "inject": ["a"]},
        default={"inject": ["b"]},
    )
    assert hashed(base) == hashed(same)
    assert hashed(base, "index.md") == hashed(types(), "index.md") != hashed(same, "index.md")
    for changed in (
        types(note=note | {"inject": ["status", "due"]}),
        types(note=note | {"chunk_profile": "long"}),
        types(note=note | {"link_keys": ["up"]}),
        types(note=note | {"edge_defaults": ["part_of"]}),
        types(note=note, decision={"folders": ["notes/"]}),
    ):
        assert hashed(changed) != hashed(base)
        assert hashed(changed, "index.md") == hashed(base, "index.md")
    assert hashed(base, declared="guide") != hashed(base, declared=None)
    known = types(note={"folders": ["notes"], "inject": ["status"]}, essay={"link_keys": ["up"]})
    options = PageOptions(types=known)
    for text, declared in (("Text.", None), ("---\ntype: ' Essay '\n---\nText.", "Essay")):
        page, digest = read(text, known), digest_of(text.encode())
        assert page.reading.get("declared") == declared
        assert page.source_hash == source_hash(page.key, digest, options, declared)


def test_other_processes_get_the_types_that_were_in_use():
    types = PageTypes.of({"page_types": {"blog": {"folders": ["blog/"]}}})
    assert types.reading(None, "blog/first.md").type == "blog"
    received = pickle.loads(pickle.dumps(types))
    assert (received, received.reading(None, "blog/second.md").type) == (types, "blog")
