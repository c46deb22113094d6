"""The person or program behind a request: who it is, where it comes from, and how it came."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal

from django.http import HttpRequest

from webui.accounts.models import User
from webui.accounts.roles import Role
from webui.errors import Forbidden
from webui.http.client_address import client_address

Via = Literal["page", "session", "token", "local"]


@dataclass(frozen=True)
class Actor:
    """The author of an action, for permissions and the audit log."""

    user: User
    address: str
    via: Via
    write: bool = True
    """False for a token whose scope is read."""

    @property
    def router_address(self) -> str | None:
        """The address from which the user reaches the router, in the agent's form; None at the router's
        own console.
        """
        try:
            return None if self.via == "local" else str(ip_address(self.address.partition("%")[0]))
        except ValueError:
            return None

    @property
    def name(self) -> str:
        """The login name."""
        return str(self.user.username)

    def require(self, role: Role) -> None:
        """Raise Forbidden unless the user has `role`."""
        if not self.user.has_role(role):
            raise Forbidden(f"This needs the role {role.value}; {self.name} has {self.user.role}.")


def actor_of(request: HttpRequest, via: Via = "page", write: bool = True) -> Actor:
    """The actor of a request with a signed-in user."""
    if not isinstance(request.user, User):
        raise Forbidden("Sign in first.")
    return Actor(request.user, client_address(request), via, write)
