"""What models answer, made into scores of 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_ROUNDING = 1e-3
"""Probabilities may leave their range by so much when they are rounded."""


@dataclass(slots=True)
class Scale:
    """Whether a model answers with probabilities or with logits.

    Logits go through the logistic function, 1 / (1 + exp(-x)), which keeps their order. A model is
    taken to answer with probabilities until one of its scores is none; from then on all are
    logits, so that a score means the same in every later search.
    """

    has_logits: bool = False

    def scores(self, answers: Sequence[float]) -> list[float]:
        """Return the scores that finite answers to one query stand for."""
        if any(not -_ROUNDING <= answer <= 1 + _ROUNDING for answer in answers):
            self.has_logits = True
        if self.has_logits:
            return [_logistic(answer) for answer in answers]
        return [min(max(answer, 0.0), 1.0) for answer in answers]


def _logistic(logit: float) -> float:
    # The exponent is never above 0, where it could overflow.
    shrunk = math.exp(-abs(logit))
    return 1 / (1 + shrunk) if logit >= 0 else shrunk / (1 + shrunk)
