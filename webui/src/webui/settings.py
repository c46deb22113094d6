"""Django's settings. What a deployment may choose comes from the environment:

MILLRACE_STATE_DIR       directory for the secret key, the embedded database and collected static files
MILLRACE_STATIC_DIR      static files collected when the image was built; unset, `prepare` collects them
MILLRACE_AGENT_SOCKET    the agent's Unix socket
DATABASE_URL             PostgreSQL; unset, SQLite in the state directory
REDIS_URL                cache shared by web and worker; unset, each process has its own
CELERY_BROKER_URL        broker of the worker; unset, jobs run in this process
MILLRACE_ALLOWED_HOSTS   host names the page is reached by, comma separated; unset means any
MILLRACE_TRUSTED_PROXIES addresses whose X-Forwarded-For and -Proto are believed, or * behind a Unix socket
MILLRACE_PLAIN_HTTP      1 lets cookies travel without TLS: tests only
MILLRACE_TOKEN_REQUESTS_PER_MINUTE  limit of one API token; 3000 when unset
MILLRACE_SYSLOG          syslog socket or host:port that gets the audit log
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import dj_database_url

from webui.logging_config import logging_config
from webui.state_directory import secret_key, state_directory

STATE_DIR = state_directory()
SECRET_KEY = secret_key(STATE_DIR)
DEBUG = False
AGENT_SOCKET = os.environ.get("MILLRACE_AGENT_SOCKET", "/run/millrace/agent.sock")
_PLAIN_HTTP = os.environ.get("MILLRACE_PLAIN_HTTP") == "1"

# Nothing is built from the Host header, and the session cookie belongs to one host. Any name may reach the
# page, because the management address often comes from DHCP.
ALLOWED_HOSTS = [host for host in os.environ.get("MILLRACE_ALLOWED_HOSTS", "*").split(",") if host]
TRUSTED_PROXIES = [proxy for proxy in os.environ.get("MILLRACE_TRUSTED_PROXIES", "").split(",") if proxy]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "ninja",
    "webui.accounts",
    "webui.changes",
    "webui.metrics",
    "webui.jobs",
    "webui.api",
    "webui.ui",
]

MIDDLEWARE = [
    "webui.http.security_headers.SecurityHeadersMiddleware",
    "webui.http.api_problems.ApiProblemsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "webui.http.static_files.StaticFilesMiddleware",
    "webui.http.plain_text.PlainTextMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "webui.urls"
APPEND_SLASH = False
ASGI_APPLICATION = "webui.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "webui.context.router",
            ]
        },
    }
]


_CONNECT_TIMEOUT_S = 2
"""A server that accepts a connection and then stays silent counts as unavailable."""


def _databases() -> dict[str, Any]:
    if url := os.environ.get("DATABASE_URL"):
        # The lanes' threads are few and permanent (webui.http.handler), and each keeps its connection.
        database = dj_database_url.parse(
            url, engine="webui.postgresql", conn_max_age=600, conn_health_checks=True
        )
        options = {"connect_timeout": _CONNECT_TIMEOUT_S, **database.get("OPTIONS", {})}
        return {"default": {**database, "OPTIONS": options}}
    return {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": STATE_DIR / "webui.sqlite3" if STATE_DIR else ":memory:",
            "OPTIONS": {
                "timeout": 15,
                "transaction_mode": "IMMEDIATE",
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
            },
        }
    }


DATABASES = _databases()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES: dict[str, Any] = {
    "default": {"BACKEND": "webui.cache.SharedCache", "LOCATION": os.environ["REDIS_URL"]}
    if os.environ.get("REDIS_URL")
    # It holds the counters of attempts: more entries than anybody can evict within a minute.
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}},
    # Local to this process: a count for every request must not go through a socket.
    "counts": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "counts",
        "OPTIONS": {"MAX_ENTRIES": 20_000},
    },
}

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "webui.accounts.password_hasher.ApplianceArgon2Hasher",
    # An installer's hash for the first sign-in; Argon2 takes over from there.
    "webui.accounts.crypt_hasher.CryptPasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
     "OPTIONS": {"user_attributes": ("username",)}},
]  # fmt: skip
LOGIN_URL = "ui:login"
LOGIN_REDIRECT_URL = "ui:dashboard"
LOGOUT_REDIRECT_URL = "ui:login"

# One user from one address: an attacker elsewhere cannot lock the operator out.
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 6
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_HTTP_RESPONSE_CODE = 429
AXES_LOCKOUT_TEMPLATE = "ui/lockout.html"
AXES_CLIENT_IP_CALLABLE = "webui.http.client_address.client_source"
# A browser that signed in before is not locked out by guesses of others behind its address.
AXES_WHITELIST_CALLABLE = "webui.accounts.sign_in_gate.is_known_device"
# The audit log records the logins; a second log would only grow.
AXES_DISABLE_ACCESS_LOG = True
AXES_SENSITIVE_PARAMETERS: list[str] = ["password"]
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

SESSION_COOKIE_SECURE = not _PLAIN_HTTP
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
SESSION_EXPIRE_AT_BROWSER_CLOSE = True
CSRF_COOKIE_SECURE = not _PLAIN_HTTP
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "webui.http.error_pages.csrf_failure"
SECURE_SSL_REDIRECT = not _PLAIN_HTTP
SECURE_HSTS_SECONDS = 0 if _PLAIN_HTTP else 365 * 24 * 3600
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# A document of 100,000 routes is some 15 MB.
DATA_UPLOAD_MAX_MEMORY_SIZE = 32 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
# A file stays in memory, like any other body: a document may hold secrets, which must not be on a disk.
FILE_UPLOAD_MAX_MEMORY_SIZE = DATA_UPLOAD_MAX_MEMORY_SIZE

STATIC_URL = "/static/"
STATIC_BUILT = bool(os.environ.get("MILLRACE_STATIC_DIR"))
STATIC_ROOT = STATE_DIR / "static" if STATE_DIR else None
if STATIC_BUILT:
    STATIC_ROOT = Path(os.environ["MILLRACE_STATIC_DIR"])
elif STATIC_ROOT:
    STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [Path(__file__).resolve().parent / "static"]
COLLECTING = os.environ.get("MILLRACE_COLLECTING") == "1"
"""True in a command that prepares the web half before it starts: such a command serves nobody."""
_COLLECTED = STATIC_ROOT is not None and (STATIC_ROOT / "staticfiles.json").exists()
STORAGES: dict[str, Any] = {
    "staticfiles": {
        # Until collectstatic has run, files are served from their source folders, without hashed names.
        "BACKEND": "webui.http.static_files.HashedStaticFilesStorage"
        if _COLLECTED or COLLECTING
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    }
}
WHITENOISE_USE_FINDERS = not _COLLECTED
WHITENOISE_AUTOREFRESH = False
WHITENOISE_KEEP_ONLY_HASHED_FILES = False

TIME_ZONE = "UTC"
USE_TZ = True
LANGUAGE_CODE = "en"
USE_I18N = False

LOGGING = logging_config(os.environ.get("MILLRACE_SYSLOG"))

CELERY_BROKER_URL = os.environ.get("CELERY_BROKER_URL")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
# A killed worker loses only the tasks that it had begun.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

TOKEN_REQUESTS_PER_MINUTE = int(os.environ.get("MILLRACE_TOKEN_REQUESTS_PER_MINUTE", "3000"))
TOKEN_FAILURES_PER_MINUTE = 30
