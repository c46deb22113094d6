"""Logs of the router's parts, read through its agent: the web half reads no log files."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from appliance.state.logs import LogPage, LogQuery
from webui.accounts import audit
from webui.accounts.actor import Actor
from webui.accounts.roles import Role
from webui.agent import agent

_MOST = 4096


class Following:
    """The ends of pages that users were given, in bounded memory.

    Lines behind the end of a page whose reading is in the audit log belong to that reading: who follows asks
    every few seconds. A cursor that this user was not given, for the same question, starts a new one.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._given: OrderedDict[bytes, None] = OrderedDict()
        self._lock = threading.Lock()

    def is_known(self, user: str, query: LogQuery) -> bool:
        """Whether `query` goes on from a page that this user has."""
        with self._lock:
            return _key(user, query, query.after or "") in self._given

    def note(self, user: str, query: LogQuery, newest: str) -> None:
        """This user was given a page that ends there."""
        key = _key(user, query, newest)
        with self._lock:
            self._given[key] = None
            self._given.move_to_end(key)
            while len(self._given) > self._most:
                self._given.popitem(last=False)


def _key(user: str, query: LogQuery, cursor: str) -> bytes:
    question = query.model_copy(update={"after": cursor, "before": None, "limit": 1})
    return hashlib.blake2b(f"{user}\n{question.model_dump_json()}".encode(), digest_size=16).digest()


following = Following()
"""Those of this process, which serves all requests."""


def page(actor: Actor, query: LogQuery) -> LogPage:
    """Lines that match. Raises ValidationFailed, RouterUnavailable."""
    actor.require(Role.OPERATOR)
    found = agent().logs(query)
    if query.after is None or not following.is_known(actor.name, query):
        where = " before a page" if query.before is not None else ""
        audit.record(actor, "logs.read", (query.part or "all") + where)
    following.note(actor.name, query, found.newest)
    return found
