"""What a language model adds to documents at indexing: situations and summaries."""
