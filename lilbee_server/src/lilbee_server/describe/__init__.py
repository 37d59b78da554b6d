"""What the server says of itself: the OpenAPI document, and a page that shows it. No routes of the library."""

from lilbee_server.describe._document import BYTES, EVENTS, FILE, JOB, Streams
from lilbee_server.describe._serving import openapi_config

__all__ = ["BYTES", "EVENTS", "FILE", "JOB", "Streams", "openapi_config"]
