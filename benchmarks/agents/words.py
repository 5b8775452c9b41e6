"""The words of a question that an agent would look for."""

import re

_WORD = re.compile(r"[A-Za-z0-9_./-]*[A-Za-z0-9]")
_MARKED = re.compile(r"[A-Z0-9_.-]")
_NUMBER = re.compile(r"[0-9.]+")
_STOP = frozenset(
    """
    a about after again all also although an and another any are as at be because been before but
    by can did do does down else every first for from get gets go gone good had has have how i if
    in instead into is it its just keep like look many me more most much must my need needs no not
    now of off on once one only or our out over said same should since so some somebody something
    still such than that the their them then there they thing things this those to too under up us
    use using want wants was we what when where which while who why will with without you your
    """.split()  # noqa: SIM905
)


def key_words(text: str) -> list[str]:
    """The words without those that any question has, each once."""
    words = [word.strip("./-") if word[:2] != "--" else word for word in _WORD.findall(text)]
    return [word for word in dict.fromkeys(words) if len(word) > 1 and word.lower() not in _STOP]


def names(text: str) -> list[str]:
    """The words that look like names of the matter: with marks, digits or capitals."""
    first, *others = key_words(text) or [""]
    named = [word for word in [first] if _MARKED.search(word[1:])]
    named += [word for word in others if word[0].isupper() or _MARKED.search(word)]
    return [word for word in named if not _NUMBER.fullmatch(word)]
