"""The agent as its callers see it: web and command line access the router only through this package."""

from appliance.client import bare_httpx  # noqa: F401 - before what imports httpx
from appliance.client.answers import Answer, CommitAnswer, ConfigAnswer, EditAnswer, PlanAnswer, StatusAnswer
from appliance.client.asynchronous import AsyncAgentClient
from appliance.client.synchronous import AgentClient
from appliance.impact.result import Finding, Result
from appliance.state.commit_options import CommitOptions

__all__ = [
    "AgentClient",
    "Answer",
    "AsyncAgentClient",
    "CommitAnswer",
    "CommitOptions",
    "ConfigAnswer",
    "EditAnswer",
    "Finding",
    "PlanAnswer",
    "Result",
    "StatusAnswer",
]
