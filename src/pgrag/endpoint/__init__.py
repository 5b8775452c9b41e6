"""Requests to a model's server: what it is for, why one failed, asked again, ended at will."""

from pgrag.endpoint.cancellation import Cancellation, Cancelled
from pgrag.endpoint.endpoint import Endpoint
from pgrag.endpoint.service import Service

__all__ = ["Cancellation", "Cancelled", "Endpoint", "Service"]
