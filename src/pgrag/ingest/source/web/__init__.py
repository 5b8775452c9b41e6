"""Websites as sources: what is fetched, from where, and in which order."""
