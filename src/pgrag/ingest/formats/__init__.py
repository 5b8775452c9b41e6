"""Formats: what the bytes of a file are, and converters that make Markdown of them."""
