"""The front matter of a page: its fields, what they mean, and the type they declare."""
