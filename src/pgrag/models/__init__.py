"""Models that embed, rerank and write, and requests to their servers."""
