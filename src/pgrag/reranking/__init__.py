"""Rerankers: models that read a query and a text together, and say how well they fit."""

from pgrag.reranking.cross_encoder import CrossEncoderReranker
from pgrag.reranking.http import HttpReranker
from pgrag.reranking.order import Reranked, rerank
from pgrag.reranking.reranker import Reranker

__all__ = ["CrossEncoderReranker", "HttpReranker", "Reranked", "Reranker", "rerank"]
