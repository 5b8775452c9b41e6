"""Pages as HTML for readers: rendered, sanitised, with a passage and words marked."""
