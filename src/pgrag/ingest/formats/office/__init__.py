"""Office files (zip archives of XML): documents, presentations and workbooks."""
