"""Embedding models: built in, run in this process, or behind an endpoint."""

from pgrag.models.embedding.builtin import BuiltinEmbedder, install, is_installed, stored
from pgrag.models.embedding.embedder import Embedder, PageEmbedder, Vectors, similarities
from pgrag.models.embedding.local import LateEmbedder, LocalEmbedder
from pgrag.models.embedding.local_model import LocalModel
from pgrag.models.embedding.openai import OpenAIEmbedder

__all__ = [
    "BuiltinEmbedder", "Embedder", "LateEmbedder", "LocalEmbedder", "LocalModel", "OpenAIEmbedder",
    "PageEmbedder", "Vectors", "install", "is_installed", "similarities", "stored",
]  # fmt: skip
