"""AsciiDoc: its blocks and its inline marks as HTML, which is then read as HTML."""
