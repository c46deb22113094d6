"""The agent's web application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

from aiohttp import web

from appliance.agent import notify, peers
from appliance.agent.actions_api import ActionsApi
from appliance.agent.benches_api import BenchesApi
from appliance.agent.bodies import MAX_DOCUMENT_BYTES
from appliance.agent.captures_api import CapturesApi
from appliance.agent.configuration_api import ConfigurationApi
from appliance.agent.counters_api import CountersApi
from appliance.agent.health_api import HealthApi
from appliance.agent.logs_api import LogsApi
from appliance.agent.operations import noting
from appliance.agent.problems import problems
from appliance.agent.router import Router
from appliance.agent.samples import Samples
from appliance.agent.state_api import StateApi
from appliance.agent.traces_api import TracesApi
from appliance.agent.upgrade_api import UpgradeApi
from appliance.health.events import EventLog
from appliance.health.watch import HealthWatch
from appliance.upgrade.paths import Paths
from appliance.watching.service_watch import ServiceWatch


def application(
    router: Router,
    allowed_uids: frozenset[int],
    upgrade: UpgradeApi | None = None,
    watch: HealthWatch | None = None,
) -> web.Application:
    """The application that serves ``router`` to these users. It does not start the engine."""
    upgrade = upgrade or UpgradeApi(router.engine, Paths())
    app = web.Application(
        middlewares=[
            noting(router.operations),
            problems,
            peers.only(allowed_uids),
            upgrade.refuse_on_trial(),
        ],
        client_max_size=MAX_DOCUMENT_BYTES,
    )
    samples = Samples(router.dataplane.counters, router.cleared)
    service = ServiceWatch(router, router.engine.foretell)
    watch = watch or HealthWatch(router, EventLog(router.engine.state_dir))
    configuration, state = ConfigurationApi(router.engine, watch), StateApi(router)
    actions, captures, traces = ActionsApi(router), CapturesApi(router), TracesApi(router)
    logs, benches = LogsApi(router), BenchesApi(router)
    counters = CountersApi(samples, router.hits)
    operating = (actions, captures, traces, benches, logs, router.operations)
    for part in (configuration, state, counters, HealthApi(watch), *operating, upgrade):
        app.add_routes(part.routes())
    app.on_shutdown.append(counters.stop)

    async def background(app: web.Application) -> AsyncIterator[None]:  # noqa: ARG001 - aiohttp's signature
        tasks = [
            asyncio.create_task(work)
            for work in (
                samples.run(),
                counters.follow_cleared(router.cleared),
                traces.tidy(),
                benches.tidy(),
                notify.watchdog(),
            )
        ]
        watch.start()
        service.start()
        yield
        await asyncio.to_thread(service.stop)
        await asyncio.to_thread(watch.stop)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        samples.close()
        counters.close()
        actions.close()
        captures.close()
        traces.close()
        benches.close()
        logs.close()
        state.close()
        upgrade.close()
        await asyncio.to_thread(configuration.close)

    app.cleanup_ctx.append(background)
    return app
