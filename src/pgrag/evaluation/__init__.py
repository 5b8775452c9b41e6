"""Labelled sets from files into the database, and their runs. Metrics are computed in SQL; this
package reads files, indexes corpora, and embeds queries if the database cannot.
"""
