"""Back to a router that has never been started."""

from __future__ import annotations

from appliance.engine import durable
from appliance.firstboot.layout import Layout
from appliance.programs import Programs, must


def factory_reset(layout: Layout, programs: Programs) -> None:
    """Leave the mark, and restart. Raises OSError, ProgramFailed.

    State is removed at the start, before anything has it open; the mark is removed last, so a power cut in
    between does no harm.
    """
    durable.write(layout.factory_reset, b"")
    must(programs, ["systemctl", "reboot"])
