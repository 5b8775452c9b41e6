"""Embedding models: the built-in one and those behind an OpenAI-compatible endpoint."""

from pgrag.embedding.builtin import BuiltinEmbedder
from pgrag.embedding.embedder import Embedder, Vectors
from pgrag.embedding.installation import install
from pgrag.embedding.openai import OpenAIEmbedder

__all__ = ["BuiltinEmbedder", "Embedder", "OpenAIEmbedder", "Vectors", "install"]
