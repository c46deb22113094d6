"""Start and end of the web process."""

from __future__ import annotations

import asyncio

from django.conf import settings

from webui.accounts.sign_in_tally import tally
from webui.http.body_limit import Application, Receive, Scope, Send
from webui.jobs.scheduler import Scheduler


class Lifespan:
    """Runs the tasks of the serving process: the count of failed sign-ins and the scheduler."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, or the lifetime of the process."""
        if scope["type"] != "lifespan":
            await self._application(scope, receive, send)
            return
        scheduler = None if settings.CELERY_BROKER_URL else Scheduler()
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                tally.start()
                if scheduler is not None:
                    scheduler.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                if scheduler is not None:
                    scheduler.stop()
                await asyncio.to_thread(tally.stop)
                await send({"type": "lifespan.shutdown.complete"})
                return
