"""The imports of the web half's parent when it forks: all that its worker needs, and no command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_CODE = """
import json, os, sys
import django
django.setup()
from webui.celery import app
from webui.processes import parts
parts.preload()
shared = set(sys.modules)
os.environ["CELERY_SKIP_CHECKS"] = "1"
app.Worker(loglevel="INFO", pool="threads", concurrency=1)
print(json.dumps({"shared": sorted(shared), "later": sorted(set(sys.modules) - shared)}))
"""


def test_the_worker_finds_in_its_parent_all_that_it_is_made_of(tmp_path: Path) -> None:
    # Nobody listens there: neither the imports nor the making of a worker connect.
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "webui.settings",
        "MILLRACE_STATE_DIR": str(tmp_path),
        "DATABASE_URL": "postgresql://nobody@%2Fnowhere/none",
        "REDIS_URL": "unix:///nowhere/redis.sock",
        "CELERY_BROKER_URL": "redis+socket:///nowhere/redis.sock",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CODE],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["later"] == []
    assert not {"celery.bin", "click_repl", "prompt_toolkit"} & set(found["shared"])
