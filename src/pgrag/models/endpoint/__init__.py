"""Requests to a model's server: the service, failures, retries and cancellation."""

from pgrag.models.endpoint.endpoint import Cancellation, Cancelled, Client, Connection, Endpoint
from pgrag.models.endpoint.service import Service

__all__ = ["Cancellation", "Cancelled", "Client", "Connection", "Endpoint", "Service"]
