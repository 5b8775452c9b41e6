"""Embedding models: the built-in one and those behind an OpenAI-compatible endpoint."""

from pgrag.embedding.builtin import BuiltinEmbedder, install
from pgrag.embedding.embedder import Embedder, Vectors, similarities
from pgrag.embedding.openai import OpenAIEmbedder

__all__ = ["BuiltinEmbedder", "Embedder", "OpenAIEmbedder", "Vectors", "install", "similarities"]
