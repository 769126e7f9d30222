"""Settings of every installation; values come from `environment.py`, never from os.environ."""

import logging
from datetime import timedelta
from typing import Any

from atom.settings.database import database_from_url
from atom.settings.environment import load_environment
from atom.settings.logs import configure_structlog, logging_settings
from atom.settings.mail import mail_from_url

ENV = load_environment()

ATOM_HOME = ENV.atom_home
ATOM_PUBLIC_URL = ENV.public_url
ATOM_GATEWAY_URL = ENV.gateway_url
ATOM_S3_GATEWAY_URL = ENV.s3_gateway_url
ATOM_FRONTEND_DIST = ENV.atom_frontend_dist
ATOM_RUNNER_API_URL = ENV.atom_runner_api_url
ATOM_POD_API_URL = ENV.atom_pod_api_url
ATOM_POD_IMAGE = ENV.atom_pod_image
ATOM_AGENT_IMAGE = ENV.atom_agent_image
ATOM_RUNNER_LOST_AFTER_S = ENV.atom_runner_lost_after_s
ATOM_MAX_LOST_MACHINES = ENV.atom_max_lost_machines
ATOM_GANG_FORMING_S = ENV.atom_gang_forming_s
ATOM_START_WITHOUT_DATA = ENV.atom_start_without_data
ATOM_HOUR_VALUES = ENV.atom_hour_values
ATOM_IMAGE_FETCH_S = ENV.atom_image_fetch_s
ATOM_RUNTIMES_DIR = ENV.runtimes_dir
ATOM_RUNTIME_PIP_OPTIONS = ENV.atom_runtime_pip_options
ATOM_RUNTIME_BUILD_TIMEOUT_S = ENV.atom_runtime_build_timeout_s
ATOM_ENVIRONMENT_KEPT_DAYS = ENV.atom_environment_kept_days
ATOM_ATTEMPT_KEPT_S = ENV.atom_attempt_kept_s
ATOM_LAST_ATTEMPT_KEPT_S = ENV.atom_last_attempt_kept_s
ATOM_STREAM_CACHE_BYTES = ENV.atom_stream_cache_bytes
ATOM_WHOLE_PICTURE_PIXELS = ENV.atom_whole_picture_pixels
ATOM_CACHE_LIMIT_BYTES = ENV.atom_cache_limit_bytes or None
ATOM_SOURCE_ALLOW = [item.strip() for item in ENV.atom_source_allow.split(",") if item.strip()]
ATOM_WEBHOOK_ALLOW = [item.strip() for item in ENV.atom_webhook_allow.split(",") if item.strip()]
ATOM_CLUSTER_NETWORKS = [
    item.strip() for item in ENV.atom_cluster_networks.split(",") if item.strip()
]
ATOM_REGISTRY_NETWORKS = [
    item.strip() for item in ENV.atom_registry_networks.split(",") if item.strip()
]
ATOM_SOURCE_FOLDERS = [item.strip() for item in ENV.atom_source_folders.split(",") if item.strip()]
ATOM_RATE_SIGNED_IN = ENV.atom_rate_signed_in
ATOM_RATE_ANONYMOUS = ENV.atom_rate_anonymous
ATOM_RATE_SIGN_IN_ADDRESS = ENV.atom_rate_sign_in_address
ATOM_RATE_SIGN_IN_NAME = ENV.atom_rate_sign_in_name
ATOM_RATE_SECOND_FACTOR = ENV.atom_rate_second_factor
ATOM_SECOND_FACTOR = ENV.atom_second_factor
ATOM_SHARE_LINKS = ENV.atom_share_links
ATOM_OIDC = ENV.oidc
# Longer than Valkey ever takes when it is well; no request waits longer for its count than this.
ATOM_RATE_TIMEOUT_S = 0.25
# A part that answers later does not answer: load balancers and people wait no longer either.
ATOM_PROBE_WITHIN_S = 3.0
ATOM_METRICS_TOKEN = ENV.atom_metrics_token.get_secret_value()
OTEL_EXPORTER_OTLP_ENDPOINT = ENV.otel_exporter_otlp_endpoint
OTEL_EXPORTER_OTLP_HEADERS = ENV.otel_exporter_otlp_headers.get_secret_value()
OTEL_TRACES_SAMPLER_ARG = ENV.otel_traces_sampler_arg
ATOM_ENCRYPTION_KEY = ENV.atom_encryption_key.get_secret_value()

SECRET_KEY = ENV.atom_secret_key.get_secret_value()
DEBUG = False
ALLOWED_HOSTS = [host.strip() for host in ENV.atom_allowed_hosts.split(",") if host.strip()]
CSRF_TRUSTED_ORIGINS = [ATOM_PUBLIC_URL]

# --- applications -----------------------------------------------------------------------------

ATOM_APPS = [
    "atom.core",
    "atom.accounts",
    "atom.clusters",
    "atom.webhooks",
    "atom.notifications",
    "atom.datasets",
    "atom.cache",
    "atom.jobs",
    "atom.models_registry",
    "atom.cleaning",
    "atom.labeling",
    "atom.mlflow_api",
]

INSTALLED_APPS = [
    # Before the admin, whose templates it replaces.
    "unfold.apps.BasicAppConfig",
    "atom.web.apps.OperatorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "channels",
    "django_structlog",
    *ATOM_APPS,
    "atom.web.apps.WebConfig",
]

MIDDLEWARE = [
    "atom.core.metrics.MeasureRequests",
    "atom.core.tracing.TraceRequests",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "atom.accounts.middleware.NoteSession",
    "atom.core.middleware.LogRequests",
    "atom.core.middleware.RefuseNul",
    "atom.accounts.middleware.LimitRequests",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

CSRF_FAILURE_VIEW = "atom.core.problems.csrf_failure"
ROOT_URLCONF = "atom.urls"
ASGI_APPLICATION = "atom.asgi.application"
# The largest body that is read. Large things go to the object store; the largest bodies here are
# batches of annotations.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 << 20
# Every API path ends in a slash; a redirect would lose the body of a POST.
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- state ------------------------------------------------------------------------------------

DATABASES = {
    "default": database_from_url(
        ENV.database_url.get_secret_value(),
        ENV.atom_database_pool_size,
        ENV.atom_database_kept_s,
        ENV.atom_database_patience_s,
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = ENV.redis_url.get_secret_value()
CACHES: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "cache",
    }
}
CHANNEL_LAYERS: dict[str, dict[str, Any]] = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": "live"},
    }
}

S3_ENDPOINT_URL = ENV.s3_endpoint_url
S3_PUBLIC_ENDPOINT_URL = ENV.s3_public_endpoint_url or ENV.s3_endpoint_url
S3_ACCESS_KEY_ID = ENV.s3_access_key_id
S3_SECRET_ACCESS_KEY = ENV.s3_secret_access_key.get_secret_value()
S3_BUCKET = ENV.s3_bucket
S3_REGION = ENV.s3_region
ATOM_STORE_PATIENCE_S = ENV.atom_store_patience_s
ATOM_DIRECT_UPLOADS = ENV.atom_direct_uploads

# --- garbage ----------------------------------------------------------------------------------

GARBAGE_APPLY = ENV.atom_garbage_apply
GARBAGE_GRACE_DAYS = ENV.atom_garbage_grace_days
GARBAGE_UNDO_DAYS = ENV.atom_garbage_undo_days
# Where a test wants the process to die: atom/core/crash_points.py.
CRASH_POINT = ""

# --- people -----------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
_PASSWORD_VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": name}
    for name in (
        f"{_PASSWORD_VALIDATION}.UserAttributeSimilarityValidator",
        f"{_PASSWORD_VALIDATION}.MinimumLengthValidator",
        f"{_PASSWORD_VALIDATION}.CommonPasswordValidator",
        f"{_PASSWORD_VALIDATION}.NumericPasswordValidator",
        "atom.accounts.password_rules.VariedPasswordValidator",
    )
]
SESSION_ENGINE = "atom.accounts.sessions"
SESSION_COOKIE_NAME = "atom_session"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
CSRF_COOKIE_SAMESITE = "Lax"
LOGIN_URL = "/login"
# A link to set a new password; an administrator may hand it over by other ways than mail.
PASSWORD_RESET_TIMEOUT = int(timedelta(days=1).total_seconds())

_MAIL = mail_from_url(ENV.atom_email_url.get_secret_value())
ATOM_SENDS_MAIL = bool(_MAIL.host)
EMAIL_BACKEND = _MAIL.backend
EMAIL_HOST, EMAIL_PORT, EMAIL_TIMEOUT = _MAIL.host, _MAIL.port, _MAIL.timeout_s
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.use_tls, _MAIL.use_ssl
DEFAULT_FROM_EMAIL = ENV.atom_email_from

UNFOLD = {
    "SITE_TITLE": "Atom",
    "SITE_HEADER": "Atom",
    "SITE_URL": "/",
    "SITE_SYMBOL": "database",
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": True,
    "SIDEBAR": {"show_search": True, "show_all_applications": True},
}

# --- language and time ------------------------------------------------------------------------

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# --- static files (the portal itself is served by atom.web.portal) ------------------------------

STATIC_URL = "/static/"
STATIC_ROOT = ATOM_HOME / "static"

# --- REST -------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "atom.accounts.authentication.TokenAuthentication",
        "atom.accounts.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["atom.core.bodies.JSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "atom.core.problems.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Atom",
    "DESCRIPTION": "The REST API of an Atom installation. Errors are problem+json (RFC 9457).",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "atom.core.schema.add_problem_responses",
        "atom.core.examples.add_examples",
    ],
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "RoleEnum": "atom.accounts.models.ROLES",
        "LevelEnum": "atom.core.health_checks.LEVELS",
        "MailChoiceEnum": "atom.notifications.events.MAIL_CHOICES",
        "ClusterKindEnum": ["local", "kubernetes"],
        "ClusterStateEnum": ["draining", "ready", "registering", "removed", "unreachable"],
        "UploadKindEnum": ["pack", "changes", "labels"],
        "ArtifactKindEnum": ["output", "checkpoint", "model"],
        "RunFailureCodeEnum": "atom.jobs.failures.engines.failure_codes.FAILURE_CODES",
        "RunStateEnum": "atom.jobs.states.RUN_STATE_CHOICES",
        "RetentionKindEnum": ["all", "last", "days"],
        "SideChangeEnum": ["added", "changed", "removed"],
        "OperationEnum": ["push", "merge", "revert", "cherry_pick", "edit"],
        "CommitStateEnum": [
            "building",
            "cancelled",
            "conflict",
            "failed",
            "pending",
            "published",
        ],
        "CleaningStateEnum": [
            "cancelled",
            "comparing",
            "failed",
            "measuring",
            "pending",
            "ready",
        ],
        "FindingKindEnum": [
            "unreadable",
            "too_large",
            "exact_duplicate",
            "near_duplicate",
            "leak",
            "tiny",
            "dark",
            "blurred",
        ],
        "DeliveryStateEnum": ["delivered", "failed", "pending"],
        "IssueStateEnum": ["open", "resolved"],
        "YoloLabelTaskEnum": ["detect", "segment", "pose", "obb"],
        "LabelTransferStateEnum": [
            "cancelled",
            "confirmed",
            "done",
            "failed",
            "inspecting",
            "pending",
            "waiting",
            "working",
        ],
        "SlotHeldStateEnum": ["leased", "returned"],
        "RuntimeStateEnum": ["building", "failed", "pending", "ready"],
    },
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

# --- tasks (read by atom/celery.py with the prefix CELERY_) -------------------------------------

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# No default for the soft limit: Celery refuses to send a task whose own hard limit is lower.
CELERY_TASK_TIME_LIMIT = 1800
# An unacknowledged message comes back after this; it must outlast the longest task.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 2000,
    "global_keyprefix": "tasks:",
    "queue_order_strategy": "priority",
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 1.2
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1000
# A pool process that has once grown by half (a large version, say) makes way for a new one. The
# memory that it shares with the worker counts, 220 MB; a pack of 128 MiB takes 30 to 45 MB.
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 300_000
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True
# The schedule is code (see atom/celery.py); this file only remembers when a task last ran.
CELERY_BEAT_SCHEDULE_FILENAME = str(ATOM_HOME / "run" / "beat-schedule")

# --- logs -------------------------------------------------------------------------------------

LOGGING = logging_settings(ENV.atom_log_level, ENV.atom_log_format)
DJANGO_STRUCTLOG_CELERY_ENABLED = True
# One line a request, when it has been answered.
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG
configure_structlog()
