"""Requests to a model's server: the service, failures, retries and cancellation."""

from pgrag.endpoint.cancellation import Cancellation, Cancelled
from pgrag.endpoint.endpoint import Client, Connection, Endpoint
from pgrag.endpoint.service import Service

__all__ = ["Cancellation", "Cancelled", "Client", "Connection", "Endpoint", "Service"]
