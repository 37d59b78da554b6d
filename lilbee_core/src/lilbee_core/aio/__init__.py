"""`AsyncLilbee`: the same library from async code, each verb on a worker thread. No behavior of its own."""

from lilbee_core.aio._library import AsyncLilbee
from lilbee_core.aio._threads import Threads

__all__ = ["AsyncLilbee", "Threads"]
