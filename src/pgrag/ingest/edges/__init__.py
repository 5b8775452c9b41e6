"""The edges of a page: links, relations and tags, in its text and its front matter."""
