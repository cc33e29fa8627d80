"""What is printed. It is never waited for: a log that nobody takes must hold up neither health nor the dead-man (R-044)."""

import json
import os
import sys
import time

STDOUT = 1
# Of the model server's output, bytes: at once, and then in a second. A provider keeps logs, and shows a screen of them.
BURST_BYTES, BYTES_PER_S = 1024 * 1024, 64 * 1024


def log(event, **fields):
    line = {"level": "info", "time": int(time.time() * 1000), "component": "companion", "event": event, **fields}
    emit(json.dumps(line).encode() + b"\n")


def emit(data):
    """What the pipe has no room for is lost."""
    try:
        os.write(STDOUT, data)
    except OSError:
        pass


def never_wait():
    for output in (STDOUT, sys.stderr.fileno()):
        try:
            os.set_blocking(output, False)
        except OSError:
            pass


class ServerLog:
    """Passes the model server's output on, within bounds, and says how much it left out."""

    def __init__(self):
        self._room, self._at, self._left_out = BURST_BYTES, time.monotonic(), 0

    def take(self, data):
        now = time.monotonic()
        self._room = min(BURST_BYTES, self._room + BYTES_PER_S * (now - self._at))
        self._at = now
        if len(data) > self._room:
            if self._left_out == 0:
                emit(f"\n[the model server prints more than {BYTES_PER_S} bytes a second: left out from here]\n".encode())
            self._left_out += len(data)
            return
        if self._left_out > 0:
            emit(f"\n[{self._left_out} bytes left out]\n".encode())
            self._left_out = 0
        self._room -= len(data)
        emit(data)
