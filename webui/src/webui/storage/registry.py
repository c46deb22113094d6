"""Every kind of stored data: each app declares its own in its `retention` module."""

from __future__ import annotations

from webui.accounts.retention import KINDS as ACCOUNTS
from webui.api.retention import KINDS as API
from webui.changes.retention import KINDS as CHANGES
from webui.jobs.retention import KINDS as JOBS
from webui.metrics.retention import KINDS as METRICS
from webui.storage.kind import Kind
from webui.storage.of_django import KINDS as DJANGO

KINDS: tuple[Kind, ...] = (*ACCOUNTS, *CHANGES, *METRICS, *JOBS, *API, *DJANGO)
