"""
Runs in a stock image of the model server and makes of it a pod like any other (decision 0012): starts the server on
loopback, listens on the pod's one port, and answers as our gateway does (`contract/src/pod/gateway-api.ts`). Standard
library only, Python 3.9 and later, no threads. The last of its parts; `start-command.ts` joins them.
"""

import asyncio
import hashlib
import hmac
import json
import os
import signal
import sys
import time

from exchange import Exchange, Refusal, linger, same
from model_server import ModelServer
from pages import Gate, Page, RecentIds, page_id_of
from printing import log, never_wait
from removal import Removal
from wire import PIECE, Framing, Malformed, listen, read_head, status_of, write_head

# Written by the loader from the schema of the settings: variable -> [field, kind, default or null, provider's variable].
SETTINGS, SETTINGS_VERSION, MODEL_PATHS = {}, 0, []

PREFIX = "PAGEFLEET_POD_"
POD_PORT = 8000
# Seconds. No page is read for longer than the first, whatever its sender allows.
MAX_DEADLINE_S = 900
SIGNAL_GRACE_S, STEP_S, IDLE_S, SAME_ID_S = 10, 2, 75, 2
# Of an answer of the model server, besides its status; the rest belongs to the connection it came on.
PASSED_ON = ("content-type", "content-length", "transfer-encoding", "content-encoding", "cache-control", "retry-after")


def read_settings(env):
    """All that the pod is told, by field, and the names of variables that are not known here (R-042, R-045)."""
    settings = {}
    for variable, (field, kind, default, elsewhere) in SETTINGS.items():
        text = env.get(variable, env.get(elsewhere or variable, default))
        if text is None:
            sys.exit(f"The settings of this pod are wrong: {variable} is missing")
        try:
            settings[field] = text if not isinstance(text, str) else READ[kind](text)
        except ValueError:
            sys.exit(f"The settings of this pod are wrong: {variable} is no {kind}")
    return settings, [name for name in env if name.startswith(PREFIX) and name not in SETTINGS]


READ = {
    **{"string": str, "integer": int, "number": float, "array": json.loads},
    "boolean": lambda text: text.strip().lower() in ("1", "true", "yes", "on"),
}


class Companion:
    def __init__(self, settings, unknown, api_key, engine_env):
        self.settings, self.unknown = settings, unknown
        self.token = settings.pop("token")
        self.gate, self.pages = Gate(settings["width"]), {}
        self.finished, self.cancelled = RecentIds(), RecentIds()
        self.owner, self.heard_at, self.dead_man_s = settings["clusterId"], time.monotonic(), settings["deadManMs"] / 1000
        self.started_at, self.pages_done, self.stopping = time.monotonic(), 0, False
        self.cpu, self.cpu_percent = (time.monotonic(), time.process_time()), 0.0
        self.removal = Removal(settings, api_key, log) if settings["removal"] == "runpod" else None
        self.warnings = [self.removal.hindrance] if self.removal and self.removal.hindrance else []
        start_s = settings["serverStartMs"] / 1000
        self.engine = ModelServer(settings["serverCommand"], engine_env, start_s, log)
        self.hurry, self.ending, self.gone = asyncio.Event(), None, asyncio.Event()

    async def run(self):
        settings = self.settings
        port = settings["port"] or (0 if settings["portFile"] else POD_PORT)
        # Above anything a pod may be sent, so that no connection is refused for want of room.
        server = await listen(self.converse, settings["host"], port, max(511, 2 * self.gate.width + 1))
        port = server.sockets[0].getsockname()[1]
        if settings["portFile"]:
            with open(settings["portFile"] + ".new", "w", encoding="ascii") as file:
                file.write(str(port))
            os.replace(settings["portFile"] + ".new", settings["portFile"])
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT"):
            loop.add_signal_handler(getattr(signal, name), self.end, name, SIGNAL_GRACE_S)
        loop.add_signal_handler(signal.SIGHUP, lambda: None)
        log("pod_serving", port=port, width=self.gate.width, unknownSettings=self.unknown, warnings=self.warnings)
        watch = asyncio.ensure_future(self.watch_owner())
        await self.gone.wait()
        watch.cancel()
        server.close()
        await self.engine.close()
        log("pod_ended", pagesDone=self.pages_done)

    # ---- its owner

    def hear(self, speaker):
        if speaker != self.owner and time.monotonic() - self.heard_at < self.dead_man_s:
            raise Refusal("wrong_owner", "this pod heard another owner a short time ago")
        self.owner, self.heard_at = speaker, time.monotonic()

    async def watch_owner(self):
        """It must be true twice in a row: a process that was stopped first hears what came in the meantime."""
        silent = 0
        while silent < 2:
            await asyncio.sleep(min(5, self.dead_man_s / 20))
            now, used = time.monotonic(), time.process_time()
            self.cpu_percent = round(100 * (used - self.cpu[1]) / max(0.001, now - self.cpu[0]), 1)
            self.cpu = (now, used)
            if self.gate.inside > 0:
                self.heard_at = now
            silent = silent + 1 if now - self.heard_at >= self.dead_man_s else 0
            if silent == 2 and self.warnings:
                # Ended it would only be started again; as it is, an owner that comes back finds it.
                log("pod_cannot_remove_itself", reason=self.warnings[0])
                silent = 0
        log("dead_man", silentMs=int(1000 * (time.monotonic() - self.heard_at)))
        await self.leave("dead_man", 0)

    def end(self, reason, grace_s):
        """No new pages; what runs may finish within its grace. Called again, it can only shorten what was granted."""
        self.stopping = True
        asyncio.get_running_loop().call_later(grace_s, self.hurry.set)
        if self.ending is None:
            log("pod_ending", reason=reason, running=self.gate.running)
            self.ending = asyncio.ensure_future(self.finish())

    async def leave(self, reason, grace_s):
        """The same for good: the provider is asked to remove the pod before it ends."""
        if self.removal and not self.removal.hindrance:
            self.stopping = True
            await self.until_idle()
            await self.removal.run()
            grace_s = 0
        self.end(reason, grace_s)

    async def finish(self):
        hurry, idle = asyncio.ensure_future(self.hurry.wait()), asyncio.ensure_future(self.until_idle())
        await asyncio.wait({hurry, idle}, return_when=asyncio.FIRST_COMPLETED)
        for page in self.pages.values():
            page.end("stopping", "the pod ended before the page was read")
        await asyncio.wait({idle}, timeout=STEP_S)
        self.gone.set()

    async def until_idle(self):
        while self.pages:
            await asyncio.wait({page.over for page in self.pages.values()})

    # ---- requests

    async def converse(self, reader, writer):
        try:
            while await self.take_request(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
            pass
        except Malformed as error:
            writer.write(b"HTTP/1.1 400 -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            log("request_malformed", reason=str(error))
        finally:
            writer.close()

    async def take_request(self, reader, writer):
        """One request and its answer; whether the connection may carry another one."""
        head = await asyncio.wait_for(read_head(reader), IDLE_S)
        if head is None:
            return False
        exchange = Exchange(*head, reader, writer)
        try:
            await self.route(exchange)
        except Refusal as refusal:
            if exchange.begun:
                # Half an answer must not look like a whole one.
                log("page_cut", requestId=exchange.id, code=refusal.code)
                writer.transport.abort()
                return False
            exchange.keeps = exchange.keeps and exchange.is_small()
            exchange.refuse(refusal)
        if not exchange.is_small():
            await linger(reader, writer)
            return False
        await asyncio.wait_for(exchange.read_body(), IDLE_S)
        await writer.drain()
        return exchange.keeps

    async def route(self, exchange):
        method, path = exchange.method, exchange.path
        if path in ("/healthz", "/health") and method == "GET":
            self.tell_health(exchange)
        elif path in MODEL_PATHS and method == "POST":
            await self.take_page(exchange)
        elif path.startswith("/v1/page/") and method == "DELETE":
            self.require_owner(exchange)
            exchange.answer(200, {"state": await self.cancel(page_id_of(path[len("/v1/page/") :]))})
        elif path == "/v1/shutdown" and method == "POST":
            self.require_owner(exchange)
            if not self.stopping:
                self.stopping = True
                asyncio.ensure_future(self.leave("shutdown", MAX_DEADLINE_S))
            exchange.answer(202, {"stopping": True})
        elif path in ("/healthz", "/health", "/v1/shutdown", *MODEL_PATHS):
            raise Refusal("method_not_allowed", f"{path} does not take {method}")
        else:
            raise Refusal("not_found", f"There is no path {path}.")

    def tell_health(self, exchange):
        nonce, headers = exchange.headers.get("x-pagefleet-nonce", ""), []
        if 0 < len(nonce) <= 200:
            headers.append(("x-pagefleet-pod-proof", self.proof("pod", nonce)))
            if same(exchange.headers.get("x-pagefleet-owner-proof", ""), self.proof("owner", nonce)):
                self.heard_at = time.monotonic()
        if self.is_bearer(exchange):
            self.heard_at = time.monotonic()
        settings, engine, gate = self.settings, self.engine, self.gate
        health = {
            **{"v": 1, "podId": settings["podId"], "engine": engine.state, "engineName": settings["engine"]},
            **({"engineFault": engine.fault} if engine.fault else {}),
            **{"engineVersion": engine.version, "width": gate.width, "inflight": gate.running},
            **{"waiting": gate.inside - gate.running, "pagesDone": self.pages_done},
            **{"uptimeMs": int(1000 * (time.monotonic() - self.started_at)), "cpuPercent": self.cpu_percent},
            **{"rssBytes": resident_bytes()},
            **{"settings": {**settings, "serverEnv": [line.split("=")[0] for line in settings["serverEnv"]]}},
            **{"settingsVersion": SETTINGS_VERSION, "unknownSettings": self.unknown},
            **({"warnings": self.warnings} if self.warnings else {}),
            "configHash": settings["configHash"],
        }
        exchange.answer(200, health, headers)

    def proof(self, side, nonce):
        return hmac.new(self.token.encode(), f"{side}:{nonce}".encode(), hashlib.sha256).hexdigest()

    def is_bearer(self, exchange):
        return same(exchange.headers.get("authorization", ""), f"Bearer {self.token}")

    def require_bearer(self, exchange):
        if not self.is_bearer(exchange):
            raise Refusal("unauthorized", "the bearer token is missing or wrong")

    def require_owner(self, exchange):
        """The token is proof enough, unless another owner is named."""
        self.require_bearer(exchange)
        if "x-owner" in exchange.headers:
            self.hear(exchange.headers["x-owner"])
        self.heard_at = time.monotonic()

    # ---- pages

    async def take_page(self, exchange):
        """The life of one request to the model server. Whatever happens, its place and slot are given back."""
        page, deadline_s = await self.admit(exchange)
        work = asyncio.ensure_future(self.pass_on(exchange, page))
        gone = asyncio.ensure_future(exchange.reader.gone.wait())
        try:
            await asyncio.wait({work, gone, page.ended}, timeout=deadline_s, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                work.cancel()
                await asyncio.wait({work})
                if page.ended.done():
                    raise page.ended.result()
                if gone.done():
                    raise Refusal("client_gone", "the sender hung up")
                raise Refusal("page_deadline", f"the page was not read within {int(deadline_s * 1000)} ms")
            work.result()
            self.heard_at = time.monotonic()
        finally:
            gone.cancel()
            self.gate.inside -= 1
            if page.has_slot:
                self.gate.give_back()
            del self.pages[page.id]
            self.finished.add(page.id)
            page.over.set_result(None)

    async def admit(self, exchange):
        """Decided from the headers alone, before a byte of the body is read."""
        self.require_bearer(exchange)
        headers, most = exchange.headers, 2 * self.settings["maxPageBytes"]
        page_id = page_id_of(headers.get("x-page-id", ""))
        if not headers.get("x-owner"):
            raise Refusal("bad_request", "header x-owner is missing", param="x-owner")
        deadline = headers.get("x-page-deadline-ms", str(MAX_DEADLINE_S * 1000))
        if not deadline.isdecimal():
            raise Refusal("bad_request", "x-page-deadline-ms: expected whole milliseconds", param="x-page-deadline-ms")
        self.hear(headers["x-owner"])
        if self.stopping:
            raise Refusal("stopping", "this pod takes no more pages")
        if exchange.unread < 0:
            raise Refusal("bad_request", "expected a body of a stated content-length", param="content-length")
        if exchange.unread == 0:
            raise Refusal("empty_body", "the request carries no body")
        if exchange.unread > most:
            raise Refusal("payload_too_large", f"the request is larger than {most} bytes", maxBytes=most)
        if self.engine.state == "dead":
            raise Refusal("engine_not_ready", "the model server is dead and will be started again")
        before = self.pages.get(page_id)
        if before:
            # Its sender may have given it up a moment ago and ask again.
            await asyncio.wait({before.over}, timeout=SAME_ID_S)
        if page_id in self.pages or self.cancelled.has(page_id):
            raise Refusal("conflict", "this page is in the pod now, or was ended by its sender")
        if self.gate.inside >= 2 * self.gate.width:
            raise Refusal("pod_full", "this pod runs and holds as many pages as its width allows", retryAfterSeconds=1)
        self.gate.inside += 1
        page = self.pages[page_id] = Page(page_id)
        return page, min(int(deadline) / 1000, MAX_DEADLINE_S)

    async def pass_on(self, exchange, page):
        body = await exchange.read_body()
        await self.gate.slot()
        page.has_slot = True
        await self.engine.until_started()
        try:
            if self.engine.state == "dead":
                raise ConnectionError("it is dead")
            reader, writer = await asyncio.open_connection("127.0.0.1", self.engine.port, limit=4 * PIECE)
        except OSError as error:
            raise Refusal("engine_not_ready", f"the model server cannot be reached: {error}")
        try:
            kept = [(name, exchange.headers[name]) for name in ("content-type", "accept") if name in exchange.headers]
            head = [("host", "127.0.0.1"), ("content-length", len(body)), ("connection", "close"), *kept]
            writer.write(write_head(f"POST {exchange.path} HTTP/1.1", head) + body)
            del body
            await writer.drain()
            if await self.tunnel(reader, exchange) < 300:
                self.pages_done += 1
        except (OSError, Malformed, ValueError, asyncio.IncompleteReadError) as error:
            if exchange.reader.gone.is_set():
                raise Refusal("client_gone", "the sender hung up")
            raise Refusal("engine_failed", f"the model server broke off: {type(error).__name__}")
        finally:
            # Its hang-up is what ends a reading in the model server.
            writer.transport.abort()

    async def tunnel(self, reader, exchange):
        answer = await read_head(reader)
        if answer is None:
            raise ConnectionError
        status, framing, client = status_of(answer[0]), Framing(answer[1]), exchange.writer
        kept = [(name, answer[1][name]) for name in PASSED_ON if name in answer[1]]
        exchange.write(status, [*kept, ("x-request-id", exchange.id)])
        while not framing.done:
            data = await reader.read(PIECE)
            if not data:
                raise ConnectionError
            framing.feed(data)
            client.write(data)
            await client.drain()
        return status

    async def cancel(self, page_id):
        """No reading of this id runs when it answers, or starts later: a DELETE that overtakes its POST still wins."""
        known = page_id in self.pages or self.finished.has(page_id) or self.cancelled.has(page_id)
        self.cancelled.add(page_id)
        page = self.pages.get(page_id)
        if page:
            page.end("client_gone", "the page was ended by its sender")
            await asyncio.wait({page.over})
        return "over" if known else "unknown"


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def main():
    never_wait()
    settings, unknown = read_settings(os.environ)
    api_key = os.environ.get("RUNPOD_API_KEY", "")
    # Neither the token nor the provider's key is told to the model server.
    plain = {k: v for k, v in os.environ.items() if not k.startswith(PREFIX) and k != "RUNPOD_API_KEY"}
    told = dict(line.split("=", 1) for line in settings["serverEnv"])
    await Companion(settings, unknown, api_key, {**plain, **told}).run()


if __name__ == "__main__":
    asyncio.run(main())
