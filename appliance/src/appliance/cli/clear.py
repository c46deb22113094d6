"""``clear``: actions on sessions, without a commit."""

from __future__ import annotations

from appliance.actions import ACTIONS
from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.cli.questions import told_by_field
from appliance.client import AgentClient

USAGE = f"clear {' | '.join(action.usage for action in ACTIONS)}"


def clear(agent: AgentClient, author: str, words: list[str]) -> Output:
    """Find the action that these words name, and carry it out."""
    for action in ACTIONS:
        given = action.words(words)
        if given is None:
            continue
        with told_by_field():
            question = action.asked(given)
        answer = agent.act(action, question, author=author)
        return Output(answer.model_dump(mode="json"), "\n".join(map(text.clean, answer.done)))
    raise CommandError(USAGE)
