"""The lab's questions to the agent: whether it answers, and the first commit."""

import time
from pathlib import Path
from typing import Any

from appliance.client import AgentClient, CommitOptions
from appliance.errors import AgentUnavailable, MillraceError, RouterUnavailable
from lab.errors import LabError, NotReady

_POLL_S = 0.3


class RouterAgent:
    """The agent behind `socket`."""

    def __init__(self, socket: Path) -> None:
        self._client = AgentClient(socket)

    def problem(self) -> str | None:
        """None when the agent answers, otherwise the error from it or its socket."""
        try:
            self._client.status()
        except MillraceError as error:
            return str(error)
        return None

    def wait(self, timeout_s: float) -> None:
        """Wait until it answers; raises NotReady."""
        deadline = time.monotonic() + timeout_s
        while (seen := self.problem()) is not None:
            if time.monotonic() > deadline:
                raise NotReady(f"the agent does not answer after {timeout_s:g} s: {seen}")
            time.sleep(_POLL_S)

    def revision(self) -> int:
        """The running revision, 0 before the first commit. Raises LabError when the agent does not answer."""
        try:
            return self._client.status().revision
        except MillraceError as error:
            raise LabError(f"the agent: {error}") from error

    def commit(self, document: dict[str, Any], comment: str, timeout_s: float) -> int:
        """Commit as soon as VPP and FRR are up; returns the revision. Raises LabError."""
        deadline = time.monotonic() + timeout_s
        while True:
            options = CommitOptions(author="lab", comment=comment)
            try:
                return int(self._client.commit(document, options)["revision"])
            except (RouterUnavailable, AgentUnavailable) as error:
                if time.monotonic() > deadline:
                    raise NotReady(f"the first commit, after {timeout_s:g} s: {error}") from error
            except MillraceError as error:
                raise LabError(f"the first commit: {error}") from error
            time.sleep(_POLL_S)
