"""reStructuredText, with what Sphinx adds to the language."""
