"""Structured logs: one JSON object a line, with the request id and the user bound to it."""

from typing import Any

import structlog

SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
]


def logging_settings(level: str, fmt: str) -> dict[str, Any]:
    """Return Django's LOGGING for a level and a format, `json` or `console`."""
    renderer: Any = structlog.processors.JSONRenderer()
    if fmt == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=False)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    renderer,
                ],
                "foreign_pre_chain": SHARED_PROCESSORS,
            }
        },
        "handlers": {"stdout": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "root": {"handlers": ["stdout"], "level": level},
        "loggers": {
            # Their own handlers would print a second, unstructured line.
            "django": {"handlers": [], "propagate": True, "level": "INFO"},
            "django.server": {"handlers": [], "propagate": True, "level": "INFO"},
            "uvicorn": {"handlers": [], "propagate": True, "level": "INFO"},
            "uvicorn.error": {"handlers": [], "propagate": True, "level": "INFO"},
            # A request's own line is django-structlog's; these repeat it.
            "uvicorn.access": {"handlers": [], "propagate": False},
            "django.request": {"handlers": [], "propagate": True, "level": "ERROR"},
            "django.channels.server": {"handlers": [], "propagate": True, "level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "botocore": {"level": "WARNING"},
        },
    }


def configure_structlog() -> None:
    """Send structlog's events through the standard library's handlers."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED_PROCESSORS,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
