"""The parts of the daemons' output that are not configuration."""

from __future__ import annotations

import re

# Printed by every daemon, or about the process rather than about routing. ``no ip forwarding`` mirrors the
# kernel's switch, which belongs to the data plane.
_NOT_CONFIGURATION = re.compile(
    r"frr version |frr defaults |hostname |domainname |(?:no )?log |(?:no )?service |line vty$|end$|"
    r"(?:no )?ip forwarding$|(?:no )?ipv6 forwarding$|Building configuration|Current configuration"
)


def is_configuration(text: str) -> bool:
    """False for headers, defaults and settings of the process, which every daemon prints."""
    return _NOT_CONFIGURATION.match(text) is None
