"""Follows the things that were still worse when a watch ended."""

from __future__ import annotations

from appliance.state.watch import WatchReport
from appliance.watching.judgement import Judgement

_LOOKS = 2
"""This many looks in a row have to find everything as before."""


class Aftermath:
    """Continues the judgement of a watch that is over. Later worsenings are not the commit's."""

    def __init__(self, report: WatchReport, judgement: Judgement, ended_boot_s: float) -> None:
        self.revision, self.judgement, self.ended_boot_s = report.revision, judgement, ended_boot_s
        self._then = frozenset((one.rule, one.object) for one in report.counted)
        self._has_unlisted = bool(report.left_off)
        self._still = self._then
        self._good_looks = 0

    def seen(self, now_s: float) -> bool:
        """After a look: whether everything is as before now. An unreadable measure stays as it was."""
        standing = {(one.rule, one.object) for one in self.judgement.standing(now_s) if not one.asked_for}
        unread = {(rule, name) for rule, name in self._then if rule in self.judgement.unread}
        self._still = frozenset((standing if self._has_unlisted else standing & self._then) | unread)
        self._good_looks = 0 if self._still else self._good_looks + 1
        return self._good_looks >= _LOOKS

    def of(self, report: WatchReport) -> WatchReport:
        """The report of its revision, with only what is still worse, if anything is."""
        if report.revision != self.revision or not self._still:
            return report
        left = tuple(one for one in report.worsenings if (one.rule, one.object) in self._still)
        return report.model_copy(update={"worsenings": left})
