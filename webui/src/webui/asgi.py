"""The application that uvicorn serves: Django behind limits on bodies and trusted proxies, and the embedded
scheduler.
"""

from __future__ import annotations

import os
from typing import Any

import django
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webui.settings")


def _application() -> Any:
    django.setup(set_prefix=False)

    # These imports need Django to be set up.
    from django.conf import settings

    from webui.http.body_allowance import most_bytes
    from webui.http.body_limit import BodyLimit
    from webui.http.callers import callers
    from webui.http.handler import LaneHandler
    from webui.http.intake import Intake
    from webui.http.lifespan import Lifespan

    handler = LaneHandler()
    served: Any = Intake(BodyLimit(handler, most_bytes, handler.sender_refusal), callers.of)
    if settings.TRUSTED_PROXIES:
        served = ProxyHeadersMiddleware(served, trusted_hosts=settings.TRUSTED_PROXIES)
    return Lifespan(served)


application = _application()
