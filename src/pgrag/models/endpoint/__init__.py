"""Requests to a model's server: the service, failures, retries and cancellation."""

from pgrag.models.endpoint.cancellation import Cancellation, Cancelled
from pgrag.models.endpoint.endpoint import Client, Connection, Endpoint
from pgrag.models.endpoint.service import Service

__all__ = ["Cancellation", "Cancelled", "Client", "Connection", "Endpoint", "Service"]
