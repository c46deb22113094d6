"""The frame of every page: the router's state, the user's changes, the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.http import HttpRequest

from appliance.errors import MillraceError
from appliance.state.commits import CommitUnderWay
from appliance.state.watch import WatchReport
from webui import router_state
from webui.changes import services as changes
from webui.ui import commits, navigation, watches
from webui.ui.signed_in import user_of

OF_DEFAULT_VRF = frozenset({"dashboard"})
"""Pages that show only the routing of the default VRF; other pages can be asked for any VRF."""
_NAME_S = 3600
_STALE_S = 150.0
"""The agent checks every few seconds, and checks things that are slow to read a minute later."""


@dataclass(frozen=True)
class Shell:
    """The frame of one page. While the agent is unavailable, `agent_up` is false and the rest is the last
    known state.
    """

    hostname: str
    agent_up: bool
    dataplane: str
    revision: int | None
    health: dict[str, Any]
    alarms: dict[str, Any]
    """``counts`` by severity, ``worst``, ``looked_s_ago`` and ``unchecked``, from the agent's status."""
    drift: list[str]
    damage: list[str]
    waiting: list[str]
    pending: dict[str, Any] | None
    watch: WatchReport | None
    commits: tuple[CommitUnderWay, ...]
    """Commits under way, the running one first."""
    change_count: int
    role: str
    navigation: tuple[navigation.ShownGroup, ...]
    vrfs: int = 0
    """The number of running VRFs besides the default one, where the page shows only that one."""
    polled: bool = False

    @property
    def drift_count(self) -> int:
        """The number of drift steps."""
        return len(self.drift)

    @property
    def unhealthy(self) -> list[str]:
        """Names of the parts with problems."""
        return [name for name, state in self.health.items() if not is_well(state)]

    @property
    def alarm_count(self) -> int:
        """The number of current alarms."""
        return sum(self.alarms.get("counts", {}).values())

    @property
    def looked_at(self) -> bool:
        """Whether the router's health was checked recently; otherwise it is unknown."""
        ago_s = self.alarms.get("looked_s_ago")
        return ago_s is not None and ago_s < _STALE_S

    @property
    def unchecked(self) -> dict[str, str]:
        """Checks that could not be made, with the reason."""
        return dict(self.alarms.get("unchecked") or {})

    @property
    def healthy(self) -> bool:
        """Whether everything was checked recently, and there is no alarm."""
        return self.looked_at and not (self.alarm_count or self.unchecked or self.unhealthy)

    @property
    def severe(self) -> bool:
        """Whether the worst alarm is one that stops traffic."""
        return self.alarms.get("worst") in ("critical", "major")

    @property
    def health_word(self) -> str:
        """Health for the header: ``healthy``, ``2 major``, ``1 critical, 3 minor, 2 warnings``."""
        counts = self.alarms.get("counts") or {}
        if counts:
            return ", ".join(_counted(count, severity) for severity, count in counts.items())
        if self.unhealthy:
            return "degraded"
        if not self.looked_at:
            return "not checked yet" if self.alarms.get("looked_s_ago") is None else "not checked"
        return "not all checked" if self.unchecked else "healthy"

    @property
    def health_text(self) -> str:
        """Health in a sentence."""
        said = []
        if self.alarm_count:
            said.append("1 active alarm" if self.alarm_count == 1 else f"{self.alarm_count} active alarms")
        if self.unhealthy:
            said.append("Not well: " + ", ".join(self.unhealthy))
        if self.unchecked:
            said.append("Cannot be checked now: " + ", ".join(self.unchecked))
        if not self.looked_at:
            said.append("The router's health has not been checked recently")
        return "; ".join(said) or "All checks were made; no active alarms"


def _counted(count: int, severity: str) -> str:
    return f"{count} {severity}{'s' if severity == 'warning' and count != 1 else ''}"


def is_well(state: Any) -> bool:
    """Whether a part's state, in any of the forms that the agent reports, means that it works."""
    if isinstance(state, dict):
        if "ok" in state:
            return bool(state["ok"])
        return is_well(state.get("state", state.get("status", True)))
    if isinstance(state, bool):
        return state
    if state is None:
        return True
    return str(state).lower() in {"ok", "up", "running", "healthy", "good", "ready", "not used", "off"}


def shell_of(request: HttpRequest, section: str = "", *, polled: bool = False) -> Shell:
    """The frame for this user. Never raises: an outage is shown on the page."""
    user = user_of(request)
    status = router_state.status()
    known = status or {}
    return Shell(
        hostname=_hostname(known),
        agent_up=status is not None,
        dataplane=_word(known.get("dataplane")),
        revision=known.get("revision"),
        health=_health(known),
        alarms=dict(known.get("alarms") or {}),
        drift=[_drift_line(step) for step in known.get("drift") or ()],
        damage=[str(sentence) for sentence in known.get("damage") or ()],
        waiting=[str(name) for name in known.get("waiting") or ()],
        pending=known.get("pending_confirm"),
        watch=watches.current(),
        commits=commits.under_way(),
        change_count=_change_count(user),
        role=str(user.role),
        navigation=navigation.shown(section, user),
        vrfs=_vrfs(known) if section in OF_DEFAULT_VRF else 0,
        polled=polled,
    )


def _health(status: dict[str, Any]) -> dict[str, Any]:
    health = status.get("health")
    return health if isinstance(health, dict) else {}


def _drift_line(step: Any) -> str:
    return str(step.get("summary", step)) if isinstance(step, dict) else str(step)


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("driver") or value.get("name") or "")
    return str(value or "")


def _vrfs(status: dict[str, Any]) -> int:
    key = f"ui.vrfs.{status.get('digest')}"
    count: int | None = cache.get(key)
    if count is None:
        try:
            count = len(changes.running().document.get("vrfs") or {})
        except MillraceError:
            return 0
        cache.set(key, count, _NAME_S)
    return count


def _hostname(status: dict[str, Any]) -> str:
    digest = status.get("digest")
    name: str | None = cache.get(f"ui.hostname.{digest}") if digest else cache.get("ui.hostname.last")
    if name is None and digest:
        try:
            name = str(changes.running().document.get("system", {}).get("hostname", "millrace"))
        except MillraceError:
            return "millrace"
        cache.set(f"ui.hostname.{digest}", name, _NAME_S)
        cache.set("ui.hostname.last", name, None)
    return name or "millrace"


def _change_count(user: Any) -> int:
    change = changes.current(user)
    if change is None:
        return 0
    key = f"ui.changes.{change.id}.{change.version}"
    count: int | None = cache.get(key)
    if count is None:
        try:
            count = len(changes.diff(change))
        except MillraceError:
            return 0
        cache.set(key, count, _NAME_S)
    return count
