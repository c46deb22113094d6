"""The only writer of roll-ups. It reads what the agent kept since the last run: a missed run loses
nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict

from appliance.errors import MillraceError
from appliance.state.counter_selection import Selection
from webui.agent import agent
from webui.metrics.models import RollUp
from webui.metrics.rates import COLUMNS, SOURCES, Rates, bucket, mean

_log = logging.getLogger(__name__)
_one_at_a_time = threading.Lock()

STEPS_S = (10, 60, 3600)
KEPT_S = {10: 6 * 3600, 60: 3 * 24 * 3600, 3600: 35 * 24 * 3600}
"""How long roll-ups of each step are kept."""
AGENT_KEEPS_S = 300
_COUNTERS = Selection(frozenset(counter for counter, _ in SOURCES.values()))
"""The counters requested from the agent: those that the columns are derived from."""


def sample(now_s: float | None = None) -> int:
    """Store the buckets that are now complete; returns how many rows. A second run stores none twice."""
    now = time.time() if now_s is None else now_s
    with _one_at_a_time:
        try:
            stored = _from_agent(now)
        except MillraceError as error:
            _log.warning("no counters: %s", error)
            return 0
        for step, finer in ((60, 10), (3600, 60)):
            stored += _from_finer(step, finer, now)
        return stored


def forget_old(now_s: float | None = None) -> int:
    """Remove roll-ups older than their retention; returns how many."""
    now = time.time() if now_s is None else now_s
    return sum(
        RollUp.objects.filter(step_s=step, time__lt=int(now - kept)).delete()[0]
        for step, kept in KEPT_S.items()
    )


def _from_agent(now: float) -> int:
    step = 10
    since = max(_last(step) + step, int(now) - AGENT_KEEPS_S)
    since += -since % step
    if since + step > now - 1:
        return 0
    samples = sorted(
        agent().counters_history(min(AGENT_KEEPS_S, int(now) - since + 5), _COUNTERS),
        key=lambda one: float(one["time"]),
    )
    if not samples:
        return 0
    newest = float(samples[-1]["time"])
    rows = [
        RollUp(step_s=step, time=start, interface=name[:15], **rates)
        for start in range(since, int(newest) - step + 2, step)
        for name, rates in bucket(samples, start, step).items()
    ]
    RollUp.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _from_finer(step: int, finer: int, now: float) -> int:
    end = int(now) // step * step
    since = max(_last(step) + step, end - KEPT_S[finer])
    # The finer rows of the last bucket have to exist first, so wait for one of their buckets.
    if _last(finer) + finer < end:
        end -= step
    rows = [
        RollUp(step_s=step, time=start, interface=name, **rates)
        for (start, name), rates in grouped(step, finer, since, end).items()
    ]
    RollUp.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def grouped(
    step: int, finer: int, since: int, end: int, only: frozenset[str] | None = None
) -> dict[tuple[int, str], Rates]:
    """Means over buckets of `step` from rows of the finer step with ``since <= time < end``."""
    buckets: dict[tuple[int, str], list[Rates]] = defaultdict(list)
    rows = RollUp.objects.filter(step_s=finer, time__gte=since, time__lt=end)
    if only is not None:
        rows = rows.filter(interface__in=only)
    for row in rows.values("time", "interface", *COLUMNS):
        buckets[int(row["time"]) // step * step, str(row["interface"])].append(
            {name: row[name] for name in COLUMNS}
        )
    return {key: mean(found) for key, found in buckets.items()}


def _last(step: int) -> int:
    return RollUp.objects.filter(step_s=step).order_by("-time").values_list("time", flat=True).first() or 0
