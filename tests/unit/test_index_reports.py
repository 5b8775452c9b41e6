"""The report of a run keeps the first warnings and failures, and counts the others."""

from dataclasses import asdict

import pytest

from pgrag.cli.run_report import failures, print_report, summary
from pgrag.ground.errors import SourceError
from pgrag.ingest.document import read_document
from pgrag.ingest.formats import text
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.loss import Words
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.report import MOST_KEPT, IndexReport, Loss, together
from pgrag.ingest.source.source import Skipped


def report(*warnings: int) -> IndexReport:
    made = IndexReport("guide", "1", "docs")
    for count in warnings:
        made.warn(*(f"warning {number}" for number in range(count)))
    return made


def test_the_first_warnings_are_kept_and_the_others_counted():
    assert report(3).more_warnings == 0
    shown = asdict(report(600, 600, 5))
    assert shown["warnings"][599:601] == ["warning 599", "warning 0"]
    assert (len(shown["warnings"]), shown["more_warnings"]) == (MOST_KEPT, 205)
    whole = together("guide", "docs", [("1", report(700)), ("2", report(1100))])
    assert whole.warnings[0] == "1: warning 0"
    assert (len(whole.warnings), whole.more_warnings) == (MOST_KEPT, 800)
    page = read_page("a.md", b"> [!edge] near:\n\n" * 150, PageOptions())
    assert (len(page.warnings), page.warnings[-1]) == (101, "a.md: and 50 more warnings")


def test_the_first_failures_are_kept_and_skipped_files_added_up_by_reason():
    made = report()
    for number in range(1200):
        made.fail(f"{number}.md", f"{number}.md: is too large.")
    assert (len(made.failed), made.more_failed) == (MOST_KEPT, 200)
    assert "1,200 failed" in summary(made)
    assert failures(made) == [
        "1,000 files (0.md, 1.md, 2.md …): is too large.",
        "… and 200 more; --json lists the first 1,000.",
    ]
    whole = together("guide", "docs", [("1", made), ("2", made), ("3", SourceError("No tag."))])
    assert len(whole.failed) + whole.more_failed == 2401
    assert whole.failed["3"] == "No tag."
    versions = []
    for version, skipped in (
        ("1", [Skipped("no page", 2, ("a.png", "b.png")), Skipped("pointer of Git LFS", 1)]),
        ("2", [Skipped("no page", 30, ("c.png", "d.png"), "Name it.")]),
        ("3", [Skipped("no page", 4, ("e.png", "f.png"))]),
    ):
        made = report()
        made.skipped = skipped
        versions.append((version, made))
    assert together("guide", "docs", versions).skipped == [
        Skipped("no page", 30, ("2: c.png", "2: d.png"), "Name it."),
        Skipped("no page", 6, ("1: a.png", "1: b.png", "3: e.png")),
        Skipped("pointer of Git LFS", 1),
    ]


@pytest.mark.parametrize(("count", "said"), [
    (30, "… and 10 more; --json lists all."),
    (1200, "… and 1,180 more; --json lists the first 1,000."),
])  # fmt: skip
def test_what_is_not_shown_is_counted(capsys, count, said):
    print_report(report(count), verbose=False)
    assert said in " ".join(capsys.readouterr().err.split())


def test_addresses_and_pages_of_a_website_are_not_called_files(capsys):
    made = report()
    made.source = "https://a.example/"
    for number in range(4):
        made.fail(f"page-{number}", f"page-{number}: answers 500.")
    assert failures(made) == ["4 pages (page-0, page-1, page-2 …): answers 500."]
    made.skipped = [Skipped("leads elsewhere", 7, ("https://b.example/",))]
    print_report(made, verbose=False)
    assert (
        "Skipped, leads elsewhere: 7 addresses (https://b.example/ …)." in capsys.readouterr().err
    )


def test_a_page_that_loses_more_than_a_tenth_of_its_words_is_reported_with_both_numbers(
    monkeypatch, capsys
):
    made = report()
    for key, shown, kept in [
        ("guide.txt", 74_521, 682),
        ("short.txt", 30, 12),
        ("nearly.txt", 1000, 900),
        ("half.txt", 1000, 480),
    ]:
        read = Converted("# Text", words=Words(shown, kept))
        monkeypatch.setattr(text, "convert", lambda *_, read=read: read)
        page = read_document(key, b"Text", PageOptions())
        assert page.words == Words(shown, kept)
        made.warn(*page.warnings)
        made.count_words(key, page.words)
    assert [warning.partition(" are read;")[0] for warning in made.warnings] == [
        "guide.txt: 682 of 74,521 words",
        "half.txt: 480 of 1,000 words",
    ]
    whole = together("guide", "docs", [("1", made), ("2", made)])
    assert (whole.words_shown, whole.words_kept, whole.lossy) == (153_102, 4_148, 4)
    assert whole.losses[1:3] == [Loss("2: guide.txt", 74_521, 682), Loss("1: half.txt", 1000, 480)]
    made.written = 4
    print_report(made, verbose=False)
    assert (
        "  text: 2.7% of 76,551 words are read; 2 pages lack more than a tenth:\n"
        "    guide.txt: 682 of 74,521 words\n    half.txt: 480 of 1,000 words\n"
    ) in capsys.readouterr().out
