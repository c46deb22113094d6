"""The stored data about users."""

from webui.accounts.models.audit_entry import AuditEntry
from webui.accounts.models.audit_horizon import AuditHorizon
from webui.accounts.models.token import ApiToken
from webui.accounts.models.user import User

__all__ = ["ApiToken", "AuditEntry", "AuditHorizon", "User"]
