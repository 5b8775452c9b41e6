"""HTML: the main content of a page, whatever published it, as Markdown."""
