"""The labelled questions: their form, and the sets in BEIR's layout that are made of them."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

FOLDER = Path(__file__).parent
#: The files, each about one corpus, and the name of its set.
SETS = {
    "k8s-questions": "k8s-en",
    "mdn-questions": "mdn-en",
    "fastapi-questions": "fastapi-en",
    "fastapi-de-questions": "fastapi-de",
    "fastapi-ru-questions": "fastapi-ru",
}
#: The corpora that are not in English.
LANGUAGES = {"fastapi-de": "de", "fastapi-ru": "ru"}
KINDS = (
    "error", "symptom", "how-to", "comparison", "name", "concept", "default", "troubleshooting",
)  # fmt: skip
Split: TypeAlias = Literal["open", "held"]
"""The open half is for daily work; the held one only for the final figure of a release."""
Unit: TypeAlias = Literal["page", "section"]
_MARKS = re.compile(r"[`*]")


@dataclass(frozen=True, slots=True)
class Relevant:
    """A section by page and anchor, with its grade: 2 answers the question, 1 helps.

    Without an anchor it is what the page says above its first heading.
    """

    page: str
    anchor: str | None
    grade: int

    @property
    def section(self) -> str:
        """The target as judgements of sections name it."""
        return f"{self.page}#{self.anchor}" if self.anchor else self.page


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what answers it, and the facts that an answer must contain.

    A fact is a list of alternatives; one in slashes is a regular expression.
    """

    id: str
    text: str
    library: str
    language: str
    kind: str
    split: Split
    relevant: tuple[Relevant, ...]
    facts: tuple[tuple[str, ...], ...] = field(default=())

    def judgements(self, unit: Unit) -> dict[str, int]:
        """The grade of each target; a page has that of its best section."""
        grades: dict[str, int] = {}
        for each in self.relevant:
            target = each.page if unit == "page" else each.section
            grades[target] = max(each.grade, grades.get(target, 0))
        return grades

    def missing_facts(self, text: str) -> list[tuple[str, ...]]:
        """The facts that a text does not contain, without regard to case, spaces and markup."""
        plain = plain_text(text)
        return [fact for fact in self.facts if not any(occurs(each, plain) for each in fact)]


def split_of(identity: str) -> Split:
    """The half of a question: by a hash of its id, so that nobody chooses it."""
    return "open" if hashlib.sha256(identity.encode()).digest()[0] % 2 == 0 else "held"


def read(name: str, folder: Path = FOLDER) -> list[Question]:
    """The questions of a set, in the order of its file."""
    lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [_question(json.loads(line)) for line in lines]


def write_set(questions: Sequence[Question], folder: Path, unit: Unit = "page") -> Path:
    """Write queries.jsonl and qrels.tsv, as `pgrag eval import` reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    queries = "".join(
        json.dumps({"_id": each.id, "text": each.text}, ensure_ascii=False) + "\n"
        for each in questions
    )
    judgements = "".join(
        f"{each.id}\t{target}\t{grade}\n"
        for each in questions
        for target, grade in each.judgements(unit).items()
    )
    (folder / "queries.jsonl").write_text(queries, "utf-8")
    (folder / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judgements}", "utf-8")
    return folder


def half(questions: Sequence[Question], split: Split) -> list[Question]:
    """The questions of one half."""
    return [each for each in questions if each.split == split]


def pages(questions: Sequence[Question]) -> Iterator[str]:
    """The pages that answer or help, each once."""
    yield from dict.fromkeys(each.page for question in questions for each in question.relevant)


def _question(row: dict[str, Any]) -> Question:
    relevant = tuple(Relevant(**each) for each in row.pop("relevant"))
    facts = tuple(map(tuple, row.pop("facts")))
    return Question(id=row.pop("_id"), relevant=relevant, facts=facts, **row)


def occurs(alternative: str, plain: str) -> bool:
    """Whether a plain text has a fact's alternative; one in slashes is a regular expression."""
    if len(alternative) > 2 and alternative[0] == alternative[-1] == "/":
        return re.search(alternative[1:-1], plain, re.IGNORECASE) is not None
    return plain_text(alternative) in plain


def plain_text(text: str) -> str:
    """A text without regard to case, spaces and markup."""
    return " ".join(_MARKS.sub("", text).split()).lower()
