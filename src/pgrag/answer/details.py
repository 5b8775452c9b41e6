"""Details in which a sentence contradicts the passages that it cites: numbers, names, negation.
Anything else that no passage says is not a contradiction.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from pgrag.ground.values.answers import Doubt
from pgrag.ingest.text.sentences import sentence_spans

Words: TypeAlias = frozenset[str]

ENOUGH = 0.85
"""A sentence of a passage with this share of the words must agree in its negations."""

SAME_MATTER = 0.6
"""Clauses of a passage with this share of the words must have one of the sentence's numbers."""

_STEM = 5
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_MEASURE = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)*)\s?([^\W\d_]+)")
_NAME = re.compile(
    r"`([^`\s]+)`|(?<![\w-])(--?[a-z][\w-]+|[A-Za-z]\w+(?:[._]\w{2,})+|[a-z]+[A-Z]\w*)"
)
_CLAUSE = re.compile(
    r"(?<!\d)[;,:]|[;,:](?!\d)|\b(?:and|but|or|und|aber|oder|и|а|но|или)\b", re.IGNORECASE
)
_LIMIT = re.compile(
    r"\b(?:no|not)\s+(?:more|less|later|fewer)\s+than|\bnicht\s+(?:mehr|weniger)\s+als"
    r"|\bне\s+(?:более|больше|менее|меньше|позже)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|cannot|without|\w+n['’]t|nicht|nie|niemals|ohne|kein\w{0,2}"
    r"|не|нет|нельзя|никогда|без)\b",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"\b(?:always|every|all|immer|stets|jede[rsnm]?|alle[nrs]?|всегда|все|всех|кажд\w+)\b(?!\s+\d)",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"\b(?:only|most|mostly|some|usually|sometimes|often|unless|nur|meist|meistens|manche\w?"
    r"|manchmal|einige|oft|только|обычно|иногда|некоторые|большинство|часто)\b",
    re.IGNORECASE,
)
_STOP_WORDS = """
a an the of to in on at by for from with as is are was were be been it its this that which who
does do did has have had may can could must should will would when if than then there their
der die das den dem des ein eine einer eines einem einen ist sind war wird werden wurde mit
von zu im in am auf für aus bei als wenn dass kann darf muss soll
в на с из для от до по за к о что это как или быть может можно нужно
"""
_STOP = frozenset(_STOP_WORDS.split())
_NUMERALS = (
    "one ein eine один", "two zwei два две", "three drei три", "four vier четыре",
    "five fünf пять", "six sechs шесть", "seven sieben семь", "eight acht восемь",
    "nine neun девять", "ten zehn десять", "eleven elf одиннадцать", "twelve zwölf двенадцать",
)  # fmt: skip
_COUNTS = {word: str(n) for n, words in enumerate(_NUMERALS, 1) for word in words.split()}
_UNITS = {
    word: unit
    for unit, words in {
        "ms": "ms millisecond milliseconds millisekunde millisekunden мс миллисекунд миллисекунды",
        "s": "s sec second seconds sekunde sekunden с сек секунд секунды секунду",
        "min": "min minute minutes minuten мин минут минуты минуту",
        "h": "h hour hours stunde stunden ч час часа часов",
        "d": "d day days tag tage tagen день дня дней",
        "week": "week weeks woche wochen неделя недели недель",
        "month": "month months monat monate monaten месяц месяца месяцев",
        "year": "year years jahr jahre jahren год года лет",
        "B": "b byte bytes байт байта",
        "KB": "kb kib kilobyte kilobytes кб килобайт",
        "MB": "mb mib megabyte megabytes мб мегабайт",
        "GB": "gb gib gigabyte gigabytes гб гигабайт",
        "TB": "tb tib terabyte terabytes тб терабайт",
        "%": "percent prozent процент процента процентов",
    }.items()
    for word in words.split()
}


def contradiction(sentence: str, passages: Sequence[str]) -> Doubt | None:
    """How a sentence, without its citations, contradicts the passages; None if it does not. In this
    order: a name of code or a number that no passage has, a number with another unit, or another
    number in the same clause; a negation more or less than in a passage's sentence of nearly the
    same words; "always" or "all" where that sentence says "only" or "most". English, German and
    Russian.
    """
    text = "\n\n".join(passages)
    names = (quoted or bare for quoted, bare in _NAME.findall(sentence))
    if any(name.lower() not in text.lower() for name in names):
        return "names that its sources lack"
    if _has_other_numbers(sentence, text):
        return "other numbers than its sources"
    words = _words(sentence)
    for said in _nearest(words, _sentences(passages)):
        is_wider = _ALWAYS.search(sentence) and not _ALWAYS.search(said)
        if is_wider and _ONLY.search(said) and not _ONLY.search(sentence):
            return "more than its sources say"
        alike = len(words) > 2 and len(words & _words(said)) >= ENOUGH * len(words)
        if alike and _is_negated(sentence) != _is_negated(said):
            return "the opposite of its sources"
    return None


def _has_other_numbers(sentence: str, text: str) -> bool:
    numbers, known = _numbers(sentence), _numbers(text) | _counts(text)
    if not numbers <= known:
        return True
    units = dict[str, set[str]]()
    for number, unit in _measures(text):
        units.setdefault(number, set()).add(unit)
    if any(number in units and unit not in units[number] for number, unit in _measures(sentence)):
        return True
    clauses = [clause for said in _sentences([text]) for clause in _CLAUSE.split(said)]
    words = _words(sentence)
    least = SAME_MATTER * len(words)
    nearest = [one for one in _nearest(words, clauses) if len(words & _words(one)) >= least]
    said = set(chain.from_iterable(_numbers(clause) | _counts(clause) for clause in nearest))
    digits = set(chain.from_iterable(map(_numbers, nearest)))
    return bool(numbers and digits) and not numbers & said


def _nearest(words: Words, texts: Iterable[str]) -> Iterator[str]:
    """The texts that share the most words, at least two."""
    shared = [(len(words & _words(text)), text) for text in texts]
    most = max((count for count, _ in shared), default=0)
    return (text for count, text in shared if count == most >= 2)


def _sentences(texts: Iterable[str]) -> list[str]:
    return [text[start:end] for text in texts for start, end in sentence_spans(text)]


def _words(text: str) -> Words:
    """The beginnings of the words, which mostly equal their stems."""
    return frozenset(
        word[:_STEM]
        for word in map(str.lower, _WORD.findall(text))
        if word not in _STOP and word not in _COUNTS and not _NEGATION.fullmatch(word)
    )


def _numbers(text: str) -> set[str]:
    return {_plain(number) for number in _NUMBER.findall(text)}


def _plain(number: str) -> str:
    """The digits: 1,000 is 1.000 in another language, and 0.5 is 0,5."""
    return number.replace(",", "").replace(".", "")


def _counts(text: str) -> set[str]:
    return {_COUNTS[word.lower()] for word in _WORD.findall(text) if word.lower() in _COUNTS}


def _measures(text: str) -> Iterator[tuple[str, str]]:
    for number, word in _MEASURE.findall(text):
        if unit := _UNITS.get(word.lower()):
            yield _plain(number), unit


def _is_negated(text: str) -> bool:
    return len(_NEGATION.findall(_LIMIT.sub(" ", text))) % 2 == 1
