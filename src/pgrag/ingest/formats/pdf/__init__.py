"""PDF: the text's positions and fonts become headings, paragraphs, lists, code and tables."""
