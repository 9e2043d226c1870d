"""Django's settings: embedded by default, PostgreSQL and Redis when their addresses are given."""

from __future__ import annotations

from pathlib import Path

from csp.constants import NONE, SELF

from config import databases, env, logs, secrets

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = (BASE_DIR / env.text("DATA_DIR")).resolve()
DEBUG = env.flag("DEBUG")
SECRET_KEY = secrets.secret_key(env.text("SECRET_KEY"), DATA_DIR)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
BASE_URL = env.text("BASE_URL")
REDIS_URL = env.text("REDIS_URL")
LOG_ORIGIN = env.text("LOG_ORIGIN")
LOG_KEY_DIR = Path(env.text("LOG_KEY_DIR") or DATA_DIR / "keys")
TRACE_URL = env.address_with("TRACE_URL", "trace_id")
INGEST_QUOTA_PER_MINUTE = env.number("INGEST_QUOTA_PER_MINUTE")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "servestatic.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "csp",
    "ninja",
    "kit",
    "access",
    "ledger",
    "jobs",
    "events",
    "config",
]
MIDDLEWARE = [
    "kit.http.RequestIdMiddleware",
    "kit.http.ProblemMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "kit.http.HeadMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.shell.shell",
            ],
            "builtins": [
                "kit.templatetags.ui",
                "django_htmx.templatetags.django_htmx",
            ],
        },
    },
]

DATABASES = {"default": databases.database(env.text("DATABASE_URL"), DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
if REDIS_URL:
    CACHES["default"] = {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
    }

AUTH_USER_MODEL = "access.User"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
LOGIN_URL = "/login"
SESSION_ENGINE = "access.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = BASE_URL.startswith("https:")
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE
CSRF_COOKIE_HTTPONLY = False
CSRF_TRUSTED_ORIGINS = [BASE_URL] if BASE_URL else []
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    },
}

logs.configure()
LOGGING = logs.LOGGING

LANGUAGE_CODE = "en"
TIME_ZONE = env.text("TIME_ZONE")
USE_TZ = True
USE_I18N = False
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
FILE_UPLOAD_HANDLERS = [
    "kit.http.uploads.BoundedUpload",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]
