"""Rerankers: models that read a query and a text together, and score their relevance."""

from pgrag.models.reranking.http import CrossEncoderReranker, HttpReranker
from pgrag.models.reranking.order import Reranked, Reranker, rerank

__all__ = ["CrossEncoderReranker", "HttpReranker", "Reranked", "Reranker", "rerank"]
