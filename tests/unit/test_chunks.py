"""Pages cut into chunks: sizes, borders, paths, levels, parents (F2, F4, R2, R5, R13, R14)."""

from pathlib import Path

import pytest

from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.values import CHUNK_PROFILES, ChunkProfile

FIXTURES = Path(__file__).parents[1] / "fixtures"
SENTENCE = "The pump must be primed before it is started for the first time. "


def read(text, profile=None, **options):
    given = PageOptions(profile=profile or ChunkProfile(), **options)
    return read_page("a.md", text.encode(), given)


def paragraphs(page):
    return [chunk for chunk in page.chunks if chunk.level == 2]


def sizes(page):
    return [len(chunk.content) for chunk in paragraphs(page)]


def words(count, word="word"):
    return " ".join([word] * count)


def test_rows_are_in_reading_order_below_their_parents_and_the_path_of_the_page():
    text = f"Intro. {words(50)}\n\n# A\n\n{words(60)}\n\n## B\n\n{words(70)}\n\n# C\n\n{words(80)}"
    page = read(f"---\ntitle: T\n---\n{text}\n")
    assert [(c.level, c.heading, c.parent, c.heading_level, c.depth) for c in page.chunks] == [
        (0, "", None, 0, 0),
        (2, "", 0, 0, 0),
        (1, "A", 0, 1, 1),
        (2, "A", 2, 1, 1),
        (1, "B", 2, 2, 2),
        (2, "B", 4, 2, 2),
        (1, "C", 0, 1, 1),
        (2, "C", 6, 1, 1),
    ]
    assert [c.sort_order for c in page.chunks] == list(range(8))
    assert [c.root_section for c in page.chunks] == ["", "", "A", "A", "A", "A", "C", "C"]
    assert [c.path for c in page.chunks[4:6]] == [("T", "A", "B"), ("T", "A", "B")]
    assert [c.is_summary for c in page.chunks] == [c.level < 2 for c in page.chunks]
    assert [c.anchor for c in page.chunks] == ["", "", "a", "a", "b", "b", "c", "c"]
    page = read((FIXTURES / "markdown" / "agoscript_overview.md").read_text("utf-8"))
    headings = ("agorum core für Entwickler", "agorum core agoscript", "Übersicht", "Einleitung")
    assert paragraphs(page)[0].path == headings
    assert paragraphs(page)[1].types == ("table", "code")
    assert all(chunk.path[:2] == page.path for chunk in page.chunks)
    for heading in ["# Pumps", "Pumps\n=====", "# **pumps** ##", "# Pumps\n\n## Pumps"]:
        page = read(
            f"---\ntitle: Pumps\n---\n{heading}\n\n{words(60)}\n\n## Parts\n\n{words(60)}\n"
        )
        assert [chunk.path for chunk in paragraphs(page)] == [("Pumps",), ("Pumps", "Parts")]
        assert paragraphs(page)[-1].depth == 2


def test_levels_covered_by_each_row():
    """1 = page, 2 = section, 4 = paragraph: each text is found once on every level."""
    many = f"{words(150)}\n\n{words(160)}"
    page = read(
        f"---\ntitle: T\n---\n{words(40)}\n\n# One\n\n{words(60)}\n\n# Two\n\n{many}\n\n# Empty\n\n"
        f"# Three\n\n{words(60)}\n\n## Sub\n\n{words(60)}\n"
    )
    assert [(c.level, c.heading, c.covers) for c in page.chunks] == [
        (0, "", 1),
        (2, "", 4 + 2),
        (1, "One", 0),
        (2, "One", 4 + 2),
        (1, "Two", 2),
        (2, "Two", 4),
        (2, "Two", 4),
        (1, "Empty", 0),
        (1, "Three", 2),
        (2, "Three", 4),
        (1, "Sub", 0),
        (2, "Sub", 4 + 2),
    ]
    assert [(c.level, c.covers) for c in read("# A\n\nShort.\n").chunks] == [(0, 0), (1, 0), (2, 7)]
    page = read(f"# T\n\n## A\n\n{words(60)}\n\n## B\n\n{words(60)}\n")
    assert [(c.level, c.heading, c.covers) for c in page.chunks[:2]] == [(0, "", 1), (1, "T", 0)]
    for text in ["", "---\ntitle: T\n---\n", "# Only\n\n## Headings\n", "<br>\n"]:
        page = read(text)
        assert [c.covers for c in page.chunks if c.level == 0] == [7]
        assert {c.covers for c in page.chunks if c.level} <= {0}
        assert page.chunks[0].content


def test_a_chunk_never_crosses_a_heading():
    page = read(
        f"# Guide\n\n{words(60)}\n\n## Tools\n\n### Wrench\n\nLoosens nuts.\n\n### Level\n\n"
        f"#### Use\n\nPut it on the pipe and read the bubble from both sides.\n\n### Tape\n\n"
        f"Seals the joints of all kinds of pipes.\n\n## Steps\n\n{words(100)}\n"
    )
    assert [(c.path[1:], c.content, c.line_start, c.covers) for c in paragraphs(page)[1:-1]] == [
        (("Tools", "Wrench"), "Loosens nuts.", 9, 4 + 2),
        (("Tools", "Level", "Use"), "Put it on the pipe and read the bubble from both sides.", 15,
         4 + 2),
        (("Tools", "Tape"), "Seals the joints of all kinds of pipes.", 19, 4 + 2),
    ]  # fmt: skip
    assert {c.heading: c.covers for c in page.chunks if c.level == 1} == {
        "Guide": 0, "Tools": 2, "Wrench": 0, "Level": 0, "Use": 0, "Tape": 0, "Steps": 0,
    }  # fmt: skip


def test_a_fragment_joins_a_neighbour_in_its_section():
    code = "```\n" + "x = 1\n" * 170 + "```"
    page = read(f"# T\n\n{words(150)}\n\nTiny.\n\n{code}\n\n## Next\n\nx.\n")
    assert [c.content[-5:] for c in paragraphs(page)] == ["Tiny.", "1\n```", "x."]
    code = "```\n" + "x = 1\n" * 196 + "```"
    page = read(f"{SENTENCE * 18}\n\nToo short to stand alone beside the others.\n\n{code}\n")
    first, tiny, last = (c.content for c in paragraphs(page))
    assert first.endswith("first time.")
    assert tiny.startswith("The pump")
    assert tiny.endswith("for the first time.\n\nToo short to stand alone beside the others.")
    assert 150 <= len(tiny) < 300
    assert last == code
    code = "```\n" + "x = 1\n" * 195 + "```"
    lead_in = "Run this in the folder that holds the project:"
    page = read(f"{lead_in}\n\n{code}\n")
    assert sizes(page) == [len(f"{lead_in}\n\n{code}")]
    assert sizes(page)[0] > 1200
    assert 1150 < len(code) < 1200


def test_a_change_moves_no_chunk_far_away():
    """An inserted sentence moves borders near it only, though hundreds of fragments are merged."""

    parts = [f"## Part {n}\n\nThis is part {n * n}, {words(n * 7 % 17)}.\n" for n in range(300)]

    def page(first):
        return {c.content for c in paragraphs(read("\n".join([first, *parts])))}

    before, after = page(f"## New\n\n{words(8)}\n"), page(f"## New\n\n{words(9)} and more.\n")
    inserted = page(f"## New\n\n{words(8)}\n\n## Newer\n\nIt is new.\n")
    assert len(before) > 60
    assert len(after - before) <= 4
    assert len(inserted - before) <= 4

    def page(first):
        sections = [f"## Part {n}\n\nNumber {n * n % 97:02} is here.\n" for n in range(first, 700)]
        return {c.content for c in paragraphs(read("\n".join(sections)))}

    assert len(page(500) - page(501)) < 15


def test_over_long_text_is_cut_near_the_preferred_size_at_sentences_items_and_rows():
    page = read("\n\n".join(SENTENCE * (1 + n % 4) for n in range(200)))
    assert all(840 <= size <= 920 for size in sizes(page)[:-1])
    page = read(SENTENCE * 100)
    assert all(c.content.endswith("first time.") for c in paragraphs(page))
    assert " ".join(c.content for c in paragraphs(page)) == (SENTENCE * 100).strip()
    nested = f"\t- nested {words(27)}\n" * 3
    items = [f"- item {n} {words(18)}\n{nested}" for n in range(30)]
    page = read("".join(items))
    assert all(c.content.startswith("- item") for c in paragraphs(page))
    assert "\n".join(c.content for c in paragraphs(page)) == "".join(items).strip()
    fence = f"   ```\n   code {words(60)}\n   ```"
    long = f"1. {SENTENCE * 12}\n\n{fence}\n\n   {SENTENCE * 12}\n2. two\n"
    contents = [c.content for c in paragraphs(read(long))]
    assert contents[0].startswith("1. The pump")
    assert any("```\ncode word" in content and content.count("```") == 2 for content in contents)
    assert max(map(len, contents)) <= 1200
    rows = [f"| {n} | {words(12)} |" for n in range(40)]
    page = read("| a | b |\n|---|---|\n" + "\n".join(rows))
    lines = [line for c in paragraphs(page) for line in c.content.split("\n")]
    assert all(line.startswith("| ") or "---" in line for line in lines)
    assert "\n".join(c.content for c in paragraphs(page)).endswith("\n".join(rows))


def test_code_is_cut_only_if_it_alone_exceeds_the_maximum_and_stays_code():
    fits = "```py\n" + "value = 1\n" * 110 + "```"
    assert paragraphs(read(f"{SENTENCE * 5}\n\n{fits}\n"))[-1].content == fits
    lines = [f"value_{n} = {n}" + ("\n" if n % 10 == 9 else "") for n in range(200)]
    page = read("````py title=x\n" + "\n".join(lines) + "\n````\n")
    assert len(paragraphs(page)) == 4
    for chunk in paragraphs(page):
        assert chunk.content.startswith("````py title=x\nvalue_")
        assert chunk.content.endswith("\n````")
        assert chunk.types == ("code",)
    inside = [line for c in paragraphs(page) for line in c.content.split("\n")[1:-1] if line]
    assert inside == [f"value_{n} = {n}" for n in range(200)]


@pytest.mark.parametrize(
    "line", ["x" * 5000, words(1000), "![a](data:image/png;base64," + "A" * 9000]
)
@pytest.mark.parametrize(
    "form", ["{}", "```\n{}\n```", "- {}", "> {}", "| {} |\n|---|\n", "<p>{}</p>"]
)
def test_one_endless_line_never_makes_an_endless_chunk(form, line):
    page = read(f"Before it. {words(40)}\n\n{form.format(line)}\n")
    assert len(paragraphs(page)) > 3
    assert max(len(chunk.content) for chunk in page.chunks) <= 1200
    assert min(sizes(page)) >= 150


@pytest.mark.parametrize(("line", "block"), [
    ("The output is:", "```\n" + "line of output\n" * 20 + "```"),
    ("**Mind the pressure**", SENTENCE * 5),
])  # fmt: skip
def test_the_line_that_introduces_a_block_stays_with_it(line, block):
    page = read(f"{SENTENCE * 12}\n\n{line}\n\n{block}\n")
    assert paragraphs(page)[1].content == f"{line}\n\n{block}".strip()


def test_overlap_is_the_end_of_the_previous_chunk_from_a_word_on():
    page = read(f"# A\n\n{SENTENCE * 4}\n\n# B\n\n日本語{'あ' * 200}\n\n# C\n\n{SENTENCE * 4}\n")
    first, second, third = paragraphs(page)
    assert first.overlap == ""
    assert second.overlap == "be primed before it is started for the first time."
    assert third.overlap == "あ" * 50
    assert second.overlap not in second.content


@pytest.mark.parametrize(("options", "overlap"), [
    ({"overlap_size": 0}, ""),
    ({"overlap_size": 20}, "Third one is longer."[-20:]),
    ({"overlap_size": 15}, "one is longer."),
    ({"overlap_size": 30, "overlap_strategy": "sentences"}, "Third one is longer."),
    ({"overlap_size": 32, "overlap_strategy": "sentences"}, "Second one. Third one is longer."),
    ({"overlap_size": 500, "overlap_strategy": "sentences"}, f"{'First. ' * 30}"
     "Second one. Third one is longer."),
    ({"overlap_size": 15, "overlap_strategy": "sentences"}, "one is longer."),
])  # fmt: skip
def test_overlap_has_the_size_and_the_strategy_of_the_library(options, overlap):
    text = f"# A\n\n{'First. ' * 30}Second one. Third one is longer.\n\n# B\n\n{SENTENCE * 4}\n"
    [_, second] = paragraphs(read(text, **options))
    assert second.overlap == overlap


def test_a_profile_changes_the_sizes():
    text = "\n\n".join([SENTENCE * 3] * 40)
    short = read(text, ChunkProfile("short", minimum=60, preferred=250, maximum=400))
    long = read(text, ChunkProfile("long", minimum=400, preferred=2000, maximum=3000))
    assert max(sizes(short)) <= 400 < 1500 < min(sizes(long))
    text = f"# A\n\n{SENTENCE * 8}\n\n{SENTENCE * 8}\n\n{SENTENCE * 8}\n\n# B\n\n{SENTENCE * 60}\n"
    by_heading = read(text, CHUNK_PROFILES["by_heading"])
    assert [c.heading for c in paragraphs(by_heading)] == ["A", "B", "B"]
    assert max(sizes(by_heading)) <= 2400
    assert [c.heading for c in paragraphs(read(text))].count("A") == 2
    for wrong in [{"minimum": 1000}, {"maximum": 500}, {"minimum": -1}, {"minimum": 700}]:
        with pytest.raises(ValueError, match="ChunkProfile"):
            ChunkProfile(**wrong)  # type: ignore[arg-type]


def test_the_curriculum_vitae_has_seven_chunks_with_all_employers_spread_over_four():
    page = read_page("cv.md", (FIXTURES / "curriculum_vitae.md").read_bytes(), PageOptions())
    assert (page.language, page.warnings) == ("de", ())
    chunks = paragraphs(page)
    assert len(chunks) == 7
    employers = ["Nordlicht Logistik", "Medizintechnik Saale", "Stadtwerke Halle", "Brandt & Söhne"]
    found = [[n for n, c in enumerate(chunks) if name in c.content] for name in employers]
    assert found == [[1], [2], [3], [4]]


@pytest.mark.parametrize("name", ["banking_guide.md", "markdown/drain_task.md"])
def test_line_ranges_lead_back_to_the_source(name):
    data = (FIXTURES / name).read_bytes()
    source = data.decode().split("\n")
    page = read_page(name, data, PageOptions())
    assert page.chunks[0].line_end == len(source) - 1
    previous = 0
    for chunk in paragraphs(page):
        assert previous < chunk.line_start <= chunk.line_end <= len(source)
        previous = chunk.line_end
        if name == "banking_guide.md":
            assert chunk.content == "\n".join(source[chunk.line_start - 1 : chunk.line_end])


@pytest.mark.parametrize("size", [1200, 100_000])
def test_a_fence_longer_than_a_passage_is_split_like_text(size):
    fence = "`" * size
    page = read(f"# A\n\n{fence}\n" + "word word\n" * 300 + f"{fence}\n")
    assert max(len(chunk.content) for chunk in page.chunks) <= 1200
    assert sum(chunk.content.count("word") for chunk in page.chunks if chunk.level == 2) >= 600
