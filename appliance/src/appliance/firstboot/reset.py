"""The operator's own acts on what the first boot decided: start over, or take a seed again."""

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


def seed_again(layout: Layout) -> None:
    """Apply the seed at the next boot, whatever was applied before; for that boot only. Raises OSError.

    The mark is in a folder that only root may write to.
    """
    durable.write(layout.seed_again, b"")
