"""Cited answers: sources from the database, words from a language model, checks of both."""
