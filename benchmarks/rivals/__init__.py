"""What users would pick otherwise, beside pgrag: the same texts, vectors and queries."""
