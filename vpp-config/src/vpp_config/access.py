"""What applying a step may use: VPP's calls, and which index VPP gave to which of our names.

An instance serves one connection (generation). Where a name is not known the tables are read once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from vpp_config.client import Reply, VppClient, request
from vpp_config.dumps import Dumps
from vpp_config.errors import ObjectMissing, VppError
from vpp_config.objects.acl_rule import AclRule


class Access:
    """Names of ours -> indexes of VPP, and the calls that use them."""

    def __init__(
        self,
        client: VppClient,
        prefix: str,
        generation: int,
        before_acl_change: Callable[[], None],
    ) -> None:
        self.prefix = prefix
        self.generation = generation
        self._client = client
        self._before_acl_change = before_acl_change
        self._interfaces: dict[str, int] = {}
        self._acls: dict[str, tuple[int, tuple[AclRule, ...]]] = {}

    def learn(self, dumps: Dumps) -> None:
        """Take over all names of an observation."""
        self._interfaces = {name: index for index, name in dumps.names.items()}
        self._acls = {name: (details.acl_index, tuple(details.r)) for name, details in dumps.acls.items()}

    def call(self, name: str, /, **fields: Any) -> Reply:
        """One call on this connection and no later one. Raises ``VppApiError``, ``VppUnavailable``."""
        answer = self._client.pipeline([request(name, **fields)], generation=self.generation)[0]
        if isinstance(answer, VppError):
            raise answer
        return answer

    def wait_for_netlink(self) -> None:
        """Give linux_nl the time to hear what Linux did to its routes."""
        time.sleep(self._client.netlink_settle_s)

    def supports(self, name: str) -> bool:
        """Whether this VPP has the call."""
        return self._client.supports(name)

    def before_acl_change(self) -> None:
        """Told before an access list's rules are replaced, which resets their hit counters."""
        self._before_acl_change()

    # -- interfaces

    def knows_interface(self, name: str) -> bool:
        """Whether an interface of ours has that name."""
        return name in self._interfaces

    def index_of(self, name: str) -> int:
        """VPP's index of our interface. Raises ``ObjectMissing``."""
        try:
            return self._interfaces[name]
        except KeyError:
            raise ObjectMissing(f"VPP has no interface {name}") from None

    def index_by_vpp_name(self, vpp_name: str) -> int | None:
        """VPP's index of an interface that VPP calls so."""
        rows: list[Reply] = self.call("sw_interface_dump", sw_if_index=0xFFFFFFFF)
        return next((row.sw_if_index for row in rows if row.interface_name == vpp_name), None)

    def remember_interface(self, name: str, index: int) -> None:
        """An interface was made."""
        self._interfaces[name] = index

    def forget_interface(self, name: str) -> None:
        """An interface was removed."""
        self._interfaces.pop(name, None)

    def interface_names(self) -> dict[int, str]:
        """VPP's index -> our name."""
        return {index: name for name, index in self._interfaces.items()}

    # -- access lists

    def knows_acl(self, name: str) -> bool:
        """Whether an access list of ours has that name."""
        return name in self._acls

    def acl_index(self, name: str) -> int:
        """VPP's index of our access list, or of ``#<index>``. Raises ``ObjectMissing``."""
        if name.startswith("#"):
            return int(name[1:])
        try:
            return self._acls[name][0]
        except KeyError:
            raise ObjectMissing(f"VPP has no access list {name}") from None

    def remember_acl(self, name: str, index: int, rules: tuple[AclRule, ...]) -> None:
        """An access list was made or replaced."""
        self._acls[name] = (index, rules)

    def forget_acl(self, name: str) -> None:
        """An access list was removed."""
        self._acls.pop(name, None)

    def acls(self) -> dict[str, tuple[int, tuple[AclRule, ...]]]:
        """Our name -> VPP's index and the rules."""
        return dict(self._acls)
