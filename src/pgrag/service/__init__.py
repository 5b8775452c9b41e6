"""The composition of the parts, and work in the background."""
