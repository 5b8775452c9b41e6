"""The REST API: the functions of the database as resources under `/v1`."""

from pgrag.api.application import create_app

__all__ = ["create_app"]
