"""One request to the pod and its answer, in the shapes of our gateway."""

import asyncio
import hashlib
import hmac
import json
import re
import uuid
from http.client import responses

from wire import PIECE, Malformed, write_head

LINGER_S = 5
REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,120}\Z")
STATUS = {
    **{"bad_request": 400, "empty_body": 400, "unauthorized": 401, "not_found": 404, "method_not_allowed": 405},
    **{"conflict": 409, "wrong_owner": 409, "payload_too_large": 413, "pod_full": 429, "client_gone": 499},
    **{"engine_failed": 502, "engine_not_ready": 503, "stopping": 503, "page_deadline": 504},
}


class Refusal(Exception):
    def __init__(self, code, message, **extra):
        super().__init__(message)
        self.code, self.extra = code, extra


class Exchange:
    """One request, and what was answered so far."""

    def __init__(self, first, headers, reader, writer):
        parts = first.split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            raise Malformed("the first line is malformed")
        self.method, self.path = parts[0], parts[1].split("?")[0]
        self.headers, self.reader, self.writer = headers, reader, writer
        given = headers.get("x-request-id", "")
        self.id = given if REQUEST_ID.match(given) else str(uuid.uuid4())
        length = headers.get("content-length", "0")
        # Bytes of the body that were not read yet; -1: nobody knows how many.
        self.unread = int(length) if length.isdecimal() and "transfer-encoding" not in headers else -1
        self.begun = False
        self.keeps = headers.get("connection", "").lower() != "close"

    def is_small(self):
        """Its body is read and thrown away sooner than a new connection is made."""
        return self.unread == 0 or (0 < self.unread <= PIECE and "expect" not in self.headers)

    async def read_body(self):
        if self.headers.get("expect", "").lower() == "100-continue":
            self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await self.reader.readexactly(self.unread)
        self.unread = 0
        return body

    def answer(self, status, body, headers=()):
        data = json.dumps(body).encode()
        named = [("content-type", "application/json"), ("content-length", len(data)), ("x-request-id", self.id)]
        self.write(status, [*named, *headers] if self.keeps else [*named, *headers, ("connection", "close")])
        self.writer.write(data)

    def write(self, status, headers):
        self.begun = True
        self.writer.write(write_head(f"HTTP/1.1 {status} {responses.get(status, '')}", headers))

    def refuse(self, refusal):
        status = STATUS[refusal.code]
        kind = "server_error" if status >= 500 else "invalid_request_error"
        body = {"object": "error", "message": str(refusal)[:1000], "type": kind, "param": None, "code": refusal.code}
        headers = [("retry-after", 1)] if status in (429, 503) else []
        self.answer(status, {**body, **refusal.extra, "request_id": self.id}, headers)


def same(given, expected):
    """Takes as long for a wrong value as for the right one, also when the lengths differ."""
    digest = lambda text: hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
    return hmac.compare_digest(digest(given), digest(expected))


async def linger(reader, writer):
    """A peer that is cut off while it sends would lose the answer, so the rest is read and thrown away."""
    await writer.drain()

    async def discard():
        while await reader.read(PIECE):
            pass

    try:
        await asyncio.wait_for(discard(), LINGER_S)
    except asyncio.TimeoutError:
        pass
