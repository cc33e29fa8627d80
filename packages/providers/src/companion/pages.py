"""Which pages are in the pod, and which were here in the last minutes (law L14)."""

import asyncio
import collections
import re
import time

from exchange import Refusal

# As long as a slot can be old, in seconds: no dispatch of a page that was ended can still be on its way after that.
REMEMBER_S = 900
REMEMBER_MAX = 100_000
PAGE_ID = re.compile(r"[A-Za-z0-9._-]{1,120}\Z")


class RecentIds(collections.OrderedDict):
    """Page ids of the last minutes, oldest first."""

    def add(self, page_id):
        self.pop(page_id, None)
        self[page_id] = time.monotonic()
        self.has(page_id)

    def has(self, page_id):
        while self and (len(self) > REMEMBER_MAX or time.monotonic() - next(iter(self.values())) > REMEMBER_S):
            self.popitem(last=False)
        return page_id in self


class Gate:
    """At most `width` run and at most as many wait, in the order in which they came."""

    def __init__(self, width):
        self.width, self.inside, self.running, self._queue = width, 0, 0, collections.deque()

    async def slot(self):
        if self.running < self.width:
            self.running += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.give_back()
            raise

    def give_back(self):
        """The slot goes to the next one that still waits."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self.running -= 1


class Page:
    def __init__(self, page_id):
        loop = asyncio.get_running_loop()
        self.id, self.ended, self.over, self.has_slot = page_id, loop.create_future(), loop.create_future(), False

    def end(self, code, message):
        if not self.ended.done():
            self.ended.set_result(Refusal(code, message))


def page_id_of(text):
    if PAGE_ID.match(text):
        return text
    raise Refusal("bad_request", "x-page-id: expected 1 to 120 of the characters A-Z a-z 0-9 . _ -", param="x-page-id")
