"""Embedding models: built in, run in this process, or behind an endpoint."""

from pgrag.embedding.builtin import BuiltinEmbedder, install, is_installed, stored
from pgrag.embedding.embedder import Embedder, PageEmbedder, Vectors, similarities
from pgrag.embedding.local import LateEmbedder, LocalEmbedder
from pgrag.embedding.local_model import LocalModel
from pgrag.embedding.openai import OpenAIEmbedder

__all__ = [
    "BuiltinEmbedder",
    "Embedder",
    "LateEmbedder",
    "LocalEmbedder",
    "LocalModel",
    "OpenAIEmbedder",
    "PageEmbedder",
    "Vectors",
    "install",
    "is_installed",
    "similarities",
    "stored",
]
