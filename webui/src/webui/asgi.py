"""What uvicorn serves: Django behind a limit on bodies and trusted proxies, and the embedded scheduler."""

from __future__ import annotations

import os
from typing import Any

from django.core.asgi import get_asgi_application
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webui.settings")


def _application() -> Any:
    django_application: Any = get_asgi_application()

    # These need Django to be set up.
    from django.conf import settings

    from webui.http.body_allowance import check_sender, most_bytes
    from webui.http.body_limit import BodyLimit
    from webui.http.lifespan import Lifespan

    served: Any = BodyLimit(django_application, most_bytes, check_sender)
    if settings.TRUSTED_PROXIES:
        served = ProxyHeadersMiddleware(served, trusted_hosts=settings.TRUSTED_PROXIES)
    return Lifespan(served)


application = _application()
