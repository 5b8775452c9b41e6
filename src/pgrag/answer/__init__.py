"""Answers with sources: strategy, sources, the language model's words, and checks of them."""

from pgrag.answer.answerer import Answerer
from pgrag.answer.stream import AnswerStream
from pgrag.answer.values import Answer, AnswerEvent, CitedSource, Sentence

__all__ = ["Answer", "AnswerEvent", "AnswerStream", "Answerer", "CitedSource", "Sentence"]
