"""Answers with sources: strategy, retrieval, generation by a language model, and checks."""

from pgrag.answer.answerer import Answerer
from pgrag.answer.stream import AnswerStream
from pgrag.answer.text import AnswerEvent

__all__ = ["AnswerEvent", "AnswerStream", "Answerer"]
