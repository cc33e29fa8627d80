"""The model server of the pod as a child process (R-040, law L16)."""

import asyncio
import base64
import ctypes
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time
import zlib

from printing import ServerLog
from wire import Malformed, fetch

# Seconds. A missed probe of the first length gets one of the second.
PROBE_S, LONG_PROBE_S = 3, 15
LOOK_S, TICK_S = 5, 0.1
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1, 60
TERM_S, SHORT_TERM_S = 10, 2
# So many answers of `/health` in a row that say 5xx are the server's own word that it is lost.
SICK_ANSWERS = 3
# Starts that fail for a reason of which nothing is known, until it is told as a fault of the settings.
FAILED_STARTS = 3
LOG_BYTES, TAIL_CHARS, TAIL_LINES = 64 * 1024, 1500, 12
OUT_OF_MEMORY = re.compile(
    r"out of memory|no available memory for the cache|larger than the available kv cache"
    r"|less than desired gpu memory|tokens that can be stored in kv cache",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(r"TOKEN|KEY|SECRET|PASSW", re.IGNORECASE)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class StartFailed(Exception):
    pass


class ModelServer:
    """One process at most: `starting`, `ready`, `busy` or `dead`; a dead one is ended whole before the next one starts."""

    def __init__(self, command, env, start_s, log):
        self.state, self.fault, self.version, self.port = "starting", None, "", 0
        self._command, self._env, self._start_s, self._log = command, env, start_s, log
        self._process = None
        self._output, self._server_log = b"", ServerLog()
        self._failures = 0
        self._turned = asyncio.Event()
        self._prctl = _find_prctl()
        # Orphans of a server that died come to us, so that its end can be seen and its zombies go.
        self._prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._kept = asyncio.ensure_future(self._keep())

    async def until_started(self):
        """Returns when a start is over, well or not; starts nothing."""
        while self.state == "starting":
            await self._turned.wait()

    async def close(self):
        self._kept.cancel()
        await asyncio.wait({self._kept})
        await self._end_group(SHORT_TERM_S)

    def _become(self, state):
        if state == self.state:
            return
        self.state = state
        turned, self._turned = self._turned, asyncio.Event()
        turned.set()
        self._log("engine_" + state, fault=self.fault)

    async def _keep(self):
        pause = FIRST_PAUSE_S
        while True:
            self._become("starting")
            stood = False
            try:
                await self._start()
                stood = True
                self.fault, self._failures = None, 0
                self._become("ready")
                await self._attend()
            except Exception as error:
                reason = str(error)
                if not stood:
                    self._failures += 1
                    self.fault = self._fault_of(reason)
                self._log("engine_failed", reason=reason, stood=stood)
            self._become("dead")
            await self._end_group(TERM_S)
            pause = FIRST_PAUSE_S if stood else min(2 * pause, LONGEST_PAUSE_S)
            await asyncio.sleep(pause)

    async def _start(self):
        end_s = time.monotonic() + self._start_s
        self._spawn()
        while await self._probe_alive(PROBE_S) != 200:
            self._check(end_s)
            await asyncio.sleep(TICK_S)
        reading = asyncio.ensure_future(self._read_first_page(max(1, end_s - time.monotonic())))
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=TICK_S)
                self._check(end_s)
            await reading
        except (OSError, Malformed, ValueError, LookupError, TypeError, asyncio.TimeoutError) as error:
            raise StartFailed(f"the first page was not read: {type(error).__name__} {error}")
        finally:
            reading.add_done_callback(lambda task: task.cancelled() or task.exception())
            reading.cancel()

    def _spawn(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        parent, prctl = os.getpid(), self._prctl

        def die_with_parent():
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        self._output = b""
        ours, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*self._command, "--host", "127.0.0.1", "--port", str(self.port)],
                **{"stdin": subprocess.DEVNULL, "stdout": theirs, "stderr": theirs, "env": self._env},
                **{"start_new_session": True, "preexec_fn": die_with_parent},
            )
        except OSError as error:
            os.close(ours)
            raise StartFailed(f"{self._command[0]} cannot be run: {error}")
        finally:
            os.close(theirs)
        self._log("engine_started", enginePid=self._process.pid, enginePort=self.port)
        os.set_blocking(ours, False)
        asyncio.get_running_loop().add_reader(ours, self._take_output, ours)

    def _take_output(self, pipe):
        """Its log goes on to ours, where the provider shows it; the end of it is kept to say why a start failed."""
        try:
            data = os.read(pipe, 64 * 1024)
        except BlockingIOError:
            return
        if not data:
            asyncio.get_running_loop().remove_reader(pipe)
            os.close(pipe)
            return
        self._output = (self._output + data)[-LOG_BYTES:]
        self._server_log.take(data)

    def _check(self, end_s):
        code = self._exit_code()
        if code is not None:
            raise StartFailed(f"it ended with {code} before it served")
        if time.monotonic() > end_s:
            raise StartFailed(f"it did not serve within {self._start_s:g} s")

    def _exit_code(self):
        code = None if self._process is None else self._process.poll()
        while hasattr(os, "waitid"):
            try:
                found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                break
            if found is None or (self._process is not None and found.si_pid == self._process.pid):
                break
            os.waitpid(found.si_pid, 0)
        return code

    async def _attend(self):
        """Until the process has ended or calls itself lost. One that is slow is busy, whatever it costs (law L16)."""
        sick, next_s = 0, time.monotonic() + LOOK_S
        while sick < SICK_ANSWERS:
            if self._exit_code() is not None:
                raise StartFailed(f"it ended with {self._exit_code()}")
            await asyncio.sleep(TICK_S)
            if time.monotonic() < next_s:
                continue
            status = await self._probe_alive(PROBE_S)
            if status is None:
                status = await self._probe_alive(LONG_PROBE_S)
            sick = sick + 1 if status is not None and status >= 500 else 0
            self._become("ready" if status is not None else "busy")
            next_s = time.monotonic() + LOOK_S
        raise StartFailed("its /health says that it is lost")

    async def _probe_alive(self, seconds):
        """As `_probe`; it is over at once when the process ends."""
        probe = asyncio.ensure_future(self._probe(seconds))
        try:
            while not probe.done() and self._exit_code() is None:
                await asyncio.wait({probe}, timeout=TICK_S)
            return probe.result() if probe.done() else None
        finally:
            probe.cancel()

    async def _probe(self, seconds):
        try:
            return (await fetch("GET", self._url("/health"), seconds))[0]
        except (OSError, Malformed, ValueError, asyncio.TimeoutError):
            return None

    async def _read_first_page(self, seconds):
        """Ready means that it reads: one small picture of our own, one token of a reply."""
        models = json.loads((await fetch("GET", self._url("/v1/models"), LONG_PROBE_S))[2])
        picture = "data:image/png;base64," + base64.b64encode(first_picture()).decode()
        content = [{"type": "image_url", "image_url": {"url": picture}}, {"type": "text", "text": "Read."}]
        body = {"model": models["data"][0]["id"], "max_tokens": 1, "messages": [{"role": "user", "content": content}]}
        headers = [("content-type", "application/json")]
        path = self._url("/v1/chat/completions")
        status, _, answer = await fetch("POST", path, seconds, headers, json.dumps(body).encode())
        if status != 200:
            raise ValueError(f"HTTP {status}: {answer[:300].decode('utf-8', 'replace')}")
        status, _, answer = await fetch("GET", self._url("/version"), LONG_PROBE_S)
        said = json.loads(answer) if status == 200 else {}
        self.version = str(said.get("version", "")) if isinstance(said, dict) else ""

    def _url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def _fault_of(self, reason):
        """Why starting it again does not help, in the words of its log; None while it may."""
        text = self._output.decode("utf-8", "replace")
        is_lasting = self._failures >= FAILED_STARTS or self._process is None or self._process.poll() == 2
        if not (OUT_OF_MEMORY.search(text) or is_lasting):
            return None
        for name, value in os.environ.items():
            if SECRET_NAME.search(name) and len(value) >= 6:
                text = text.replace(value, "***")
        text = re.sub(r"(--api-key[= ]\s*)\S+|\b(hf_|sk-|rpa_)\w+", r"\1***", text)
        tail = "\n".join(text.strip().splitlines()[-TAIL_LINES:])[-TAIL_CHARS:]
        return f"the model server does not start: {reason}\n{tail}".strip()

    async def _end_group(self, seconds):
        """Asked first, then killed; returns when no process of its group is left."""
        if self._process is None:
            return
        group = self._process.pid
        for sent, patience in ((signal.SIGTERM, seconds), (signal.SIGKILL, float("inf"))):
            _signal_group(group, sent)
            # One that was stopped has to run to hear it.
            _signal_group(group, signal.SIGCONT)
            end_s = time.monotonic() + patience
            while time.monotonic() < end_s:
                self._exit_code()
                if not _signal_group(group, 0):
                    self._process = None
                    return
                await asyncio.sleep(0.02)


def _signal_group(group, number):
    try:
        os.killpg(group, number)
        return True
    except (ProcessLookupError, PermissionError):
        return False


def _find_prctl():
    """Linux's; elsewhere a stand-in that does nothing."""
    call = getattr(ctypes.CDLL(None), "prctl", None)
    return (lambda option, value: call(option, int(value), 0, 0, 0)) if call else (lambda option, value: 0)


def first_picture():
    """A white PNG of 448 × 112 pixels with a dark bar: the smallest honest page that every engine takes."""
    white, bar = b"\0" + b"\xff" * 448, b"\0" + b"\xff" * 64 + b"\x20" * 320 + b"\xff" * 64
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = white * 48 + bar * 16 + white * 48
    head = struct.pack(">IIBBBBB", 448, 112, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
