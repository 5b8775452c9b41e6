"""R14 in figures: what answers a question is in its context, and little that answers nothing."""

from benchmarks import expansion
from benchmarks.bench import Bench, lent_app
from benchmarks.corpora import Corpora


def test_what_is_relevant_is_in_the_context_and_little_of_other_pages(empty_database_url, tmp_path):
    with lent_app(empty_database_url, tmp_path) as app:
        figures = expansion.contexts(Bench(Corpora(tmp_path, tmp_path), app.url, tmp_path))
    shares = {each.what: float(each.reached.rstrip(" %")) for each in figures if each.wanted}
    for what in ("context", "sources of an answer"):
        assert shares[f"{what}: relevant passages returned"] >= 95
        assert shares[f"{what}: passages of pages that do not answer"] <= 15
