"""Searches in Chinese, Japanese and Korean against the same search over the words of a segmenter.

The reference is the same library with blanks between the words that a segmenter finds. Each word is
spelled in eight letters that mean nothing, so that nothing divides it again.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from benchmarks.corpora import Corpora
from benchmarks.figures import table
from benchmarks.quality import METRIC
from benchmarks.questions.rows import FOLDER, Question, Relevant, pages, split_of, write_set
from pgrag.evaluation import labelled, runs
from pgrag.service.app import App

FILE = FOLDER / "east-asian.tsv"
#: The least share of the reference.
LEAST = 0.97
_WRITTEN = "぀-ヿ㐀-䶿一-鿿豈-﫿가-힣々ー"
_RUN = re.compile(rf"[{_WRITTEN}]+(?: +[{_WRITTEN}]+)*")

Words: TypeAlias = Callable[[str], Iterator[str]]
"""The words of a text that name something, without particles and endings where a word has them."""


@dataclass(frozen=True, slots=True)
class Segmenter:
    """A package that finds words; `load` raises ImportError if it is not installed."""

    packages: str
    load: Callable[[], Words]


def _chinese() -> Words:
    cut = import_module("jieba").cut_for_search
    return lambda text: filter(str.strip, cut(text))


def _japanese() -> Words:
    sudachi = import_module("sudachipy")
    cut = sudachi.Dictionary().create(mode=sudachi.SplitMode.A).tokenize
    unnamed = {"助詞", "助動詞", "補助記号", "空白"}
    return lambda text: (
        word.normalized_form() for word in cut(text) if word.part_of_speech()[0] not in unnamed
    )


def _korean() -> Words:
    cut = import_module("kiwipiepy").Kiwi().tokenize
    # Without particles, endings, affixes and signs.
    return lambda text: (word.form for word in cut(text) if word.tag[0] not in "JEXS")


SEGMENTERS = {
    "zh": Segmenter("jieba", _chinese),
    "ja": Segmenter("sudachipy sudachidict_core", _japanese),
    "ko": Segmenter("kiwipiepy", _korean),
}


def read() -> list[Question]:
    """The questions. A page is judged as a whole: it has no anchors."""
    lines = FILE.read_text("utf-8").splitlines()[1:]
    return [_question(*line.split("\t")) for line in lines]


def faults(questions: Sequence[Question], corpora: Corpora) -> Iterator[str]:
    """Yield what is wrong with the judgements, a line each."""
    for question in questions:
        folder = corpora.pages(question.library)
        gone = [key for key in pages([question]) if not (folder / key).is_file()]
        yield from (f"{question.id}: there is no page {key}" for key in gone)
        answers = [each.page for each in question.relevant if each.grade == 2]
        texts = [(folder / key).read_text("utf-8") for key in answers if key not in gone]
        for fact in question.missing_facts("\n".join(texts)):
            yield f"{question.id}: no page that answers it says {' or '.join(fact)}"


def measure(app: App, corpora: Corpora) -> str:
    """nDCG@10 of each language, by itself and over the words of a segmenter, as Markdown."""
    lines = []
    for language, segmenter in SEGMENTERS.items():
        questions = [each for each in read() if each.language == language]
        corpus = corpora.pages(questions[0].library)
        name = f"{questions[0].library}-questions"
        found = _scores(app, corpora, name, questions, corpus, language)
        row = [f"{language}, {len(questions)}", f"{found['keyword']:.3f}", f"{found['hybrid']:.3f}"]
        try:
            words = segmenter.load()
        except ImportError:
            row += [f"not measured: pip install {segmenter.packages}", ""]
        else:
            spelled = corpora.scratch / "spelled" / language
            _spell(corpus, spelled, words)
            asked = [_spelled(each, words) for each in questions]
            best = _scores(app, corpora, f"{name}-words", asked, spelled, "simple")["keyword"]
            share = found["keyword"] / best
            sign = "≥" if share >= LEAST else "**missed**:"
            row += [
                f"{best:.3f} ({segmenter.packages.split()[0]})",
                f"{share:.1%} ({sign} {LEAST:.0%})",
            ]
        lines.append(row)
    head = (f"{METRIC} on", "keyword", "hybrid", "keyword, words of a segmenter", "share of it")
    return table(head, lines)


def _scores(
    app: App,
    corpora: Corpora,
    name: str,
    questions: Sequence[Question],
    corpus: Path,
    language: str,
) -> dict[str, float]:
    folder = write_set(questions, corpora.scratch / "sets" / name)
    labelled.import_set(app, name, folder, corpus=corpus, language=language, held_out=True)
    return {
        each.name: runs.run(app, name, each, (METRIC,))["metrics"][METRIC]
        for each in runs.chosen(app, ("keyword", "hybrid"))
    }


def _spell(corpus: Path, folder: Path, words: Words) -> None:
    """Write the pages of a corpus in words of a segmenter, with their names."""
    for path in sorted(corpus.rglob("*.md")):
        page = folder / _name_in_words(path.relative_to(corpus).as_posix(), words)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(_in_words(path.read_text("utf-8"), words), "utf-8")


def _spelled(question: Question, words: Words) -> Question:
    relevant = tuple(
        Relevant(_name_in_words(each.page, words), None, each.grade) for each in question.relevant
    )
    return Question(
        question.id, _in_words(question.text, words), question.library, question.language,
        question.kind, question.split, relevant,
    )  # fmt: skip


def _in_words(text: str, words: Words) -> str:
    def spelled(run: re.Match[str]) -> str:
        return f" {' '.join(map(_letters, words(run[0])))} "

    # Without a blank in front of a line: it would move front matter and lists.
    return re.sub(r"(?m)^ (?=\S)", "", _RUN.sub(spelled, text))


def _name_in_words(page: str, words: Words) -> str:
    return re.sub(r" *([/.]) *", r"\1", _in_words(page, words).strip())


def _letters(word: str) -> str:
    number = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(8))


def _question(identity: str, kind: str, text: str, answers: str, fact: str) -> Question:
    language = identity.partition("-")[0]
    relevant = tuple(
        Relevant(page.removeprefix("~"), None, 1 if page.startswith("~") else 2)
        for page in answers.split(";")
    )
    return Question(
        identity, text, f"docs-{language}", language, kind, split_of(identity), relevant, ((fact,),)
    )
