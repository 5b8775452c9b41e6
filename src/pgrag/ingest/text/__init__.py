"""The text of a page: Markdown and its dialects as sections, prose and sentences."""
