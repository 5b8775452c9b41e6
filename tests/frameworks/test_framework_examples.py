"""The examples that need packages besides pgrag."""

from example import run_example


def test_a_graph_answers_asks_again_and_gives_up(url, tmp_path):
    printed = run_example("langgraph", tmp_path, url)
    assert "/guide/restore#restore-a-folder" in printed
    assert printed.count("  search ") == 3
    assert "The handbook does not say. Nearest page: " in printed


def test_a_notebook_measures_and_plots(clone, tmp_path):
    with clone() as url:
        run_example("evaluation", tmp_path, url)
    folder = tmp_path / "examples" / "evaluation"
    notebook = (folder / "evaluation.ipynb").read_text("utf-8")
    assert '"image/png"' in notebook
    assert "better " in notebook
    assert "Three searches on the same questions" in (folder / "picture.svg").read_text("utf-8")
