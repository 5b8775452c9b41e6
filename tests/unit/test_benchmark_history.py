"""The history of the benchmarks: a row for each commit, the newest last."""

from benchmarks import history
from benchmarks.figures import Figure

FIGURES = [
    Figure("— pgrag.search (4.01 ms): of a scan", "MDN, 100 link texts", "0.160"),
    Figure("— pgrag.search (5.20 ms): of a scan", "MDN, 100 questions", "0.210"),
    Figure("processor time, first search of a session: a key's role", "MDN", "28.0 ms"),
    Figure("`pgrag search`, whole process: processor time", "MDN", "0.110 s"),
]


def test_a_commit_has_one_row_and_earlier_rows_stay(tmp_path):
    page = tmp_path / "benchmarks.md"
    page.write_text(f"# B\n\n{history.MARKS[0]}\n{history.MARKS[1]}\n\nRead on.\n", "utf-8")
    history.write(page, FIGURES, "aaa", "2026-11-27")
    history.write(page, FIGURES[:1], "bbb", "2026-11-28")
    history.write(page, FIGURES, "bbb", "2026-11-29")
    text = page.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| 2026")]
    figures = "| 0.160 | 0.210 | — | 28.0 ms | — | 0.110 s | — | — |"
    assert rows == [f"| 2026-11-27 | aaa {figures}", f"| 2026-11-29 | bbb {figures}"]
    assert text.startswith("# B\n\n")
    assert text.endswith(f"{history.MARKS[1]}\n\nRead on.\n")


def test_a_folder_that_is_no_repository_has_no_commit(tmp_path):
    assert history.commit_of(tmp_path) == "—"
