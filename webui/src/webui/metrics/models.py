"""The stored data of the counters."""

from __future__ import annotations

from django.db import models


class RollUp(models.Model):
    """Mean rates of one interface over one bucket of time."""

    step_s = models.PositiveIntegerField()
    """Length of the bucket: 10, 60 or 3600 seconds."""
    time = models.PositiveBigIntegerField()
    """Its beginning in Unix seconds, a multiple of the step."""
    interface = models.CharField(max_length=15)
    rx_bps = models.FloatField()
    tx_bps = models.FloatField()
    rx_pps = models.FloatField()
    tx_pps = models.FloatField()
    rx_drops_ps = models.FloatField()
    tx_drops_ps = models.FloatField()

    class Meta:
        ordering = ("time", "interface")
        constraints = [
            models.UniqueConstraint(fields=["step_s", "time", "interface"], name="one_roll_up_of_a_bucket")
        ]

    def __str__(self) -> str:
        return f"{self.interface} {self.time}+{self.step_s}"
