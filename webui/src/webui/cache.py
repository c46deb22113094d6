"""The shared cache, used as a cache only: without Redis every value is read again, and nothing waits or
fails.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

ANSWER_S = 0.5
"""Redis answers within a millisecond on this machine."""
_APART_S = 2.0
_TELL_EVERY_S = 10.0
_log = logging.getLogger(__name__)


class _Away:
    """Whether Redis failed within the last seconds; if so, it is not asked."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._told_at: float | None = None

    def __bool__(self) -> bool:
        with self._lock:
            return self._clock() < self._until

    def begin(self, error: Exception) -> None:
        with self._lock:
            now = self._clock()
            self._until = now + _APART_S
            if self._told_at is not None and now - self._told_at < _TELL_EVERY_S:
                return
            self._told_at = now
        _log.error("Redis does not answer, and the pages do without: %s", str(error)[:500])


_away = _Away()


class _Forgetful:
    """Django's client; where Redis fails, each method returns its result for a missing key."""

    def __init__(self, client: RedisCacheClient) -> None:
        self._client = client

    def get(self, key: str, default: Any) -> Any:
        """The value, or `default`."""
        return self._ask(lambda: self._client.get(key, default), default)

    def get_many(self, keys: Any) -> Any:
        """The values that exist."""
        return self._ask(lambda: self._client.get_many(keys), {})

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._client, name)
        return lambda *arguments: self._ask(lambda: method(*arguments), False)

    def _ask(self, ask: Callable[[], Any], otherwise: Any) -> Any:
        if _away:
            return otherwise
        try:
            return ask()
        except RedisError as error:
            _away.begin(error)
            return otherwise


class SharedCache(RedisCache):
    """Redis with a short wait; see the module."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        waits = {"socket_timeout": ANSWER_S, "socket_connect_timeout": ANSWER_S}
        options = {**waits, "retry": Retry(NoBackoff(), 0), **params.get("OPTIONS", {})}
        self._client = _Forgetful(RedisCacheClient([server], **options))

    @property
    def _cache(self) -> Any:
        return self._client
