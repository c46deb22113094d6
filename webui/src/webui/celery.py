"""The Celery application: worker and beat where a broker is configured, threads of this process elsewhere."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webui.settings")

SAMPLE_EVERY_S = 10.0
CLEAN_UP_EVERY_S = 900.0

app = Celery("webui")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["webui.jobs"])
app.conf.beat_schedule = {
    # A run that waited too long is of no use: the next one catches up.
    "sample-counters": {
        "task": "webui.jobs.sample_counters",
        "schedule": SAMPLE_EVERY_S,
        "options": {"expires": SAMPLE_EVERY_S},
    },
    "clean-up": {
        "task": "webui.jobs.clean_up",
        "schedule": CLEAN_UP_EVERY_S,
        "options": {"expires": CLEAN_UP_EVERY_S},
    },
}
