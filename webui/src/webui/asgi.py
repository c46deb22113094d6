"""The application that uvicorn serves: Django behind a body limit and trusted proxies, and the embedded
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

    from webui.http.body_allowance import check_sender, most_bytes
    from webui.http.body_limit import BodyLimit
    from webui.http.handler import LaneHandler
    from webui.http.lifespan import Lifespan

    served: Any = BodyLimit(LaneHandler(), most_bytes, check_sender)
    if settings.TRUSTED_PROXIES:
        served = ProxyHeadersMiddleware(served, trusted_hosts=settings.TRUSTED_PROXIES)
    return Lifespan(served)


application = _application()
