"""Searches: the embedding of their query, the SQL call, the result, its record."""
