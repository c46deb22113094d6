"""``clear``: what is done to sessions without a commit."""

from __future__ import annotations

from pydantic import ValidationError

from appliance.actions import ACTIONS
from appliance.cli import text
from appliance.cli.errors import CommandError
from appliance.cli.output import Output
from appliance.client import AgentClient
from appliance.config.problem_text import message_of

USAGE = f"clear {' | '.join(action.usage for action in ACTIONS)}"


def clear(agent: AgentClient, author: str, words: list[str]) -> Output:
    """Find the action these words mean, and have it done."""
    for action in ACTIONS:
        given = action.words(words)
        if given is None:
            continue
        try:
            question = action.asked(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(token) for token in first["loc"][:1])
            raise CommandError(f"{place}: {message_of(first)}" if place else message_of(first)) from None
        answer = agent.act(action, question, author=author)
        return Output(answer.model_dump(mode="json"), "\n".join(map(text.clean, answer.done)))
    raise CommandError(USAGE)
