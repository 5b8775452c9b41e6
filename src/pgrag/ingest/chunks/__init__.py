"""The rows of a page: chunks of its text, their summaries and tags."""
