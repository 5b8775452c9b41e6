"""PDF read by the models of Docling, an optional package."""
