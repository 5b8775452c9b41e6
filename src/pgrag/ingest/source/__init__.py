"""Where pages come from: folders, files and commits, and their bytes as text."""
