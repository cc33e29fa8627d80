"""The pod's way out of its provider's account (R-044): a process that merely exits is started again and billed on."""

import asyncio
import json
import time
from urllib.parse import quote

from wire import Malformed, fetch

API_URL, GRAPHQL_URL = "https://api.runpod.io/v2", "https://api.runpod.io/graphql"
# Seconds
ANSWER_S, FIRST_REMOVAL_PAUSE_S, LONGEST_REMOVAL_PAUSE_S = 30, 2, 60
# What was accepted so often and left us running is asked for the other way as well.
TRUSTED_ROUNDS = 3


class Removal:
    """Asks until the provider says that the pod is gone, or ends it in the meantime. The key is never logged."""

    def __init__(self, settings, api_key, log):
        self.hindrance = None if api_key else "RUNPOD_API_KEY is not set, so the pod cannot remove itself"
        # Without a user agent the provider's edge answers 403.
        self._headers = [("authorization", f"Bearer {api_key}"), ("user-agent", "pagefleet-pod/1")]
        self._pod_id, self._log = settings["podId"], log
        self._rest_url = (settings["apiUrl"] or API_URL).rstrip("/")
        self._graphql_url = settings["graphqlUrl"] or GRAPHQL_URL
        self._quiet_until = {}

    async def run(self):
        pause_s, turn = FIRST_REMOVAL_PAUSE_S, 1
        while not await self._is_gone(turn):
            await asyncio.sleep(pause_s)
            pause_s, turn = min(2 * pause_s, LONGEST_REMOVAL_PAUSE_S), turn + 1
        self._log("pod_removed")

    async def _is_gone(self, turn):
        rest = await self._ask_rest()
        if rest == "asked" and turn <= TRUSTED_ROUNDS:
            self._log("pod_removal_asked", round=turn, rest=rest)
            return False
        graphql = await self._ask_graphql()
        self._log("pod_removal_asked", round=turn, rest=rest, graphql=graphql)
        # A 404 may also be that of a wrong base URL, so the other API must have had its say.
        return rest == "gone" and graphql != "unheard"

    async def _ask_rest(self):
        status, _ = await self._call("DELETE", f"{self._rest_url}/pods/{quote(self._pod_id, safe='')}")
        if status in (404, 410):
            return "gone"
        return "unheard" if status is None else "asked" if status < 300 else "refused"

    async def _ask_graphql(self):
        query = f"mutation {{ podTerminate(input: {{ podId: {json.dumps(self._pod_id)} }}) }}"
        status, answer = await self._call("POST", self._graphql_url, json.dumps({"query": query}).encode())
        if status is None or status >= 300:
            return "unheard" if status is None else "refused"
        try:
            errors = json.loads(answer).get("errors") or []
            codes = [(error.get("extensions") or {}).get("code") for error in errors]
        except (ValueError, AttributeError):
            return "unheard"
        if not codes:
            return "asked"
        # It may mean anything, and the pod with its key may be gone or not.
        return "unheard" if "INTERNAL_SERVER_ERROR" in codes else "refused"

    async def _call(self, method, url, body=b""):
        """Status and body; None for what says nothing. Nothing is sent before the time that was named last (R-062)."""
        if time.monotonic() < self._quiet_until.get(url, 0):
            return None, b""
        headers = [*self._headers, ("content-type", "application/json")] if body else self._headers
        try:
            status, got, answer = await fetch(method, url, ANSWER_S, headers, body)
        except (OSError, Malformed, ValueError, asyncio.TimeoutError):
            return None, b""
        if status == 429:
            after = got.get("retry-after", "")
            self._quiet_until[url] = time.monotonic() + (int(after) if after.isdecimal() else 0)
        return (None, b"") if status == 429 or status >= 500 else (status, answer)
