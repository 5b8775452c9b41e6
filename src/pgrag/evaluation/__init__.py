"""Labelled sets from files into the database, and runs of them.

What is measured is measured in SQL; here files are read, corpora indexed, and queries embedded
where the database cannot do that itself.
"""
