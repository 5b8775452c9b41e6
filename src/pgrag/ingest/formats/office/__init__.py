"""Office files: documents, presentations and workbooks of the kind that are zip archives of XML."""
