"""HTTP/1.1 on asyncio streams, as much of it as a pod needs."""

import asyncio
import ssl
from urllib.parse import urlsplit

# Bytes. A head above the first is refused; the second is what is read and passed on at once.
HEAD_MAX = 64 * 1024
PIECE = 64 * 1024
ANSWER_MAX = 1024 * 1024


class Malformed(Exception):
    """What came is no HTTP of the kind that is spoken here."""

    pass


class Watched(asyncio.StreamReader):
    """Also tells when the other side has hung up while nobody reads."""

    def __init__(self, loop):
        super().__init__(limit=4 * PIECE, loop=loop)
        self.gone = asyncio.Event()

    def feed_eof(self):
        self.gone.set()
        super().feed_eof()

    def set_exception(self, exc):
        self.gone.set()
        super().set_exception(exc)


async def listen(handle, host, port, backlog):
    """A server that calls `handle(reader, writer)` for each connection, with a reader that is watched."""
    loop = asyncio.get_running_loop()
    protocol = lambda: asyncio.StreamReaderProtocol(Watched(loop), handle, loop=loop)
    return await loop.create_server(protocol, host, port, backlog=backlog)


async def read_head(reader):
    """First line and headers by lower-case name; None when the other side closed instead."""
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise Malformed("the head was cut short")
        return None
    except asyncio.LimitOverrunError:
        raise Malformed("the head is too long")
    if len(raw) > HEAD_MAX:
        raise Malformed("the head is too long")
    first, *lines = raw.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not line:
            continue
        if not colon or headers.setdefault(name.lower(), value.strip()) != value.strip():
            raise Malformed("a header is malformed or stands there twice")
    return first, headers


def write_head(first, headers):
    return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers), "", ""]).encode("latin-1")


class Framing:
    """Finds the end of a body, fed with its bytes as they pass unchanged. ValueError: it is no such body."""

    def __init__(self, headers, keep=False):
        self.chunked = "chunked" in headers.get("transfer-encoding", "").lower()
        if not self.chunked and "content-length" not in headers:
            raise Malformed("the answer does not say how long it is")
        self.left = 0 if self.chunked else int(headers["content-length"])
        self.done = not self.chunked and self.left == 0
        self.kept = bytearray() if keep else None
        self._line = b""
        self._last = False

    def feed(self, data):
        at = 0
        while at < len(data) and not self.done:
            if self.left:
                step = min(self.left, len(data) - at)
                if self.kept is not None:
                    self.kept += data[at : at + step]
                self.left -= step
                at += step
                self.done = not self.chunked and self.left == 0
                continue
            end = data.find(b"\n", at)
            if end < 0:
                self._line += data[at:]
                return
            line = (self._line + data[at:end]).strip()
            self._line = b""
            at = end + 1
            if self._last:
                self.done = not line
            elif line:
                self.left = int(line.split(b";")[0], 16)
                self._last = self.left == 0


def status_of(first):
    try:
        return int(first.split(" ")[1])
    except (IndexError, ValueError):
        raise Malformed("the answer has no status")


async def fetch(method, url, seconds, headers=(), body=b""):
    """Status, headers and body (at most ANSWER_MAX) of one request. OSError, Malformed, ValueError or TimeoutError."""
    return await asyncio.wait_for(_fetch(method, url, headers, body), seconds)


async def _fetch(method, url, headers, body):
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    trust = _trust() if secure else None
    reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=trust, limit=4 * PIECE)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        sent = [("host", parts.netloc), ("content-length", len(body)), ("connection", "close"), *headers]
        writer.write(write_head(f"{method} {target} HTTP/1.1", sent) + body)
        await writer.drain()
        head = await read_head(reader)
        if head is None:
            raise ConnectionError("no answer")
        framing = Framing(head[1], keep=True)
        while not framing.done:
            data = await reader.read(PIECE)
            if not data or len(framing.kept) > ANSWER_MAX:
                raise ConnectionError("the answer was cut short, or is too long")
            framing.feed(data)
        return status_of(head[0]), head[1], bytes(framing.kept)
    finally:
        writer.transport.abort()


def _trust():
    try:
        import certifi  # comes with the model server; the image may lack certificates of its own
    except ImportError:
        return ssl.create_default_context()
    return ssl.create_default_context(cafile=certifi.where())
