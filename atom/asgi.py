"""The web process: one ASGI application for HTTP and WebSocket."""

import gc
import os
from typing import Any, cast

from asgiref.typing import ASGI3Application

from atom.web.django_handler import get_django_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "atom.settings.development")
# First: it loads the applications that the imports below need.
django_application = get_django_application()

from celery.signals import before_task_publish  # noqa: E402
from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path  # noqa: E402

from atom.core import tracing  # noqa: E402
from atom.mlflow_api.upload import ArtifactUploads  # noqa: E402
from atom.web.body_limit import BodyLimit  # noqa: E402
from atom.web.composition import modules_of_apps  # noqa: E402
from atom.web.lifespan import LifespanApplication  # noqa: E402
from atom.web.long_poll import LongPoll  # noqa: E402
from atom.web.media_proxy import MediaProxy  # noqa: E402
from atom.web.portal import Portal, StaticFiles  # noqa: E402
from atom.web.router import HttpApplication, PrefixRouter  # noqa: E402
from atom.web.security_headers import SecurityHeaders  # noqa: E402
from atom.web.websockets import SameOrigin, SecondFactorFirst, close_unknown  # noqa: E402
from atom_sdk.block_pandas import leave_pandas_out  # noqa: E402

DJANGO_PREFIXES = ("/api/", "/admin/", "/healthz", "/readyz", "/metrics")


def _websocket_application() -> ASGI3Application:
    patterns: list[Any] = [
        pattern for module in modules_of_apps("routing") for pattern in module.websocket_urlpatterns
    ]
    # Django types a route as a view; here it is an ASGI application.
    patterns.append(re_path(r"", cast(Any, close_unknown)))
    routes = URLRouter(patterns)
    signed_in = AuthMiddlewareStack(SecondFactorFirst(cast(ASGI3Application, routes)))
    guarded = SameOrigin(signed_in, settings.CSRF_TRUSTED_ORIGINS)
    return cast(ASGI3Application, guarded)


def strict_transport_security() -> str:
    """Return what Django tells of TLS, for the answers that are not Django's."""
    seconds = settings.SECURE_HSTS_SECONDS
    below = "; includeSubDomains" if settings.SECURE_HSTS_INCLUDE_SUBDOMAINS else ""
    return f"max-age={seconds}{below}" if seconds else ""


limited_django = BodyLimit(
    cast(HttpApplication, django_application), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
)
media_proxy = MediaProxy(settings.ATOM_GATEWAY_URL)
by_path = PrefixRouter(
    {
        ("/api/mlflow/",): ArtifactUploads(limited_django),
        DJANGO_PREFIXES: LongPoll(limited_django),
        ("/media/",): media_proxy,
        ("/static/",): StaticFiles(settings.STATIC_ROOT, prefix="static", refresh=settings.DEBUG),
    },
    default=Portal(settings.ATOM_FRONTEND_DIST, refresh=settings.DEBUG),
)

application = LifespanApplication(
    ProtocolTypeRouter(
        {
            "http": SecurityHeaders(by_path, strict_transport_security()),
            "websocket": _websocket_application(),
        }
    ),
    on_shutdown=[media_proxy.aclose],
)


def program() -> LifespanApplication:
    """Return the application for a process that does nothing else (`uvicorn --factory`)."""
    leave_pandas_out()
    tracing.begin("web")
    before_task_publish.connect(tracing.send_along)
    # Loaded modules stay for ever. Searching them for garbage would stop all requests for a fifth
    # of a second each time.
    gc.collect()
    gc.freeze()
    return application
