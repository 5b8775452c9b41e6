"""The queries of the comparison: link texts, and questions of 6 to 12 words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.questions import rows
from pgrag.evaluation.labelled import LabelledQuery, read_labelled_set

#: The sets, and the corpus of each.
SETS = {
    "mdn-anchor": "mdn-en",
    "mdn-questions": "mdn-en",
    "k8s-anchor": "k8s-en",
    "k8s-questions": "k8s-en",
}
TIMED = 200
WORDS = range(6, 13)
#: Further questions for times, one a line, without labels.
MORE = {"mdn-questions": Path(__file__).with_name("questions.txt")}


@dataclass(frozen=True, slots=True)
class Asked:
    """A set: what is judged, and what is timed."""

    name: str
    judged: Sequence[LabelledQuery]
    timed: Sequence[str]


def read(bench: Bench, name: str) -> Asked:
    """The queries of a set. Raises CorpusMissing."""
    if name not in rows.SETS:
        labelled = read_labelled_set(bench.corpora.folder(name))
        texts = [query.text for query in labelled.queries]
        return Asked(name, bench.sample(labelled.queries, len(texts)), bench.sample(texts, TIMED))
    questions = rows.read(name)
    labelled = read_labelled_set(
        rows.write_set(rows.half(questions, "open"), bench.scratch / "sets" / name)
    )
    # Times may use the held half as well: nobody sees its results.
    natural = [q.text for q in questions if q.language == "en" and _is_natural(q.text)]
    if name in MORE:
        natural += [line for line in MORE[name].read_text("utf-8").splitlines() if line]
    return Asked(
        name, bench.sample(labelled.queries, len(labelled.queries)), bench.sample(natural, TIMED)
    )


def _is_natural(text: str) -> bool:
    return len(text.split()) in WORDS
