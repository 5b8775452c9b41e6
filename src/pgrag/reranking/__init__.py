"""Rerankers: models that read a query and a text together, and score their relevance."""

from pgrag.reranking.cross_encoder import CrossEncoderReranker
from pgrag.reranking.http import HttpReranker
from pgrag.reranking.order import Reranked, Reranker, rerank

__all__ = ["CrossEncoderReranker", "HttpReranker", "Reranked", "Reranker", "rerank"]
