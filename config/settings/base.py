"""Settings shared by every environment. Values come from the environment; no secret has a default here."""

from pathlib import Path

import django_stubs_ext
from celery.schedules import schedule
from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from config.env import (
    cache_address,
    database_from_url,
    env_bool,
    env_int,
    env_list,
    env_secret,
    env_str,
)

# Django's generic classes take their types in brackets at run time too: ModelAdmin[Bid].
django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parents[2]

SECRET_KEY = env_secret("SECRET_KEY")
DEBUG = False
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", default="localhost,127.0.0.1")
PUBLIC_URL = env_str("PUBLIC_URL", default="http://127.0.0.1:8000")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")

# The merchant: an invoice is refused while one of these is empty.
SITE_NAME = env_str("SITE_NAME", default="GPU Bourse")
SELLER_PROGRAMME_NAME = env_str("SELLER_PROGRAMME_NAME", default="GPU Bourse Network")
MERCHANT_NAME = env_str("MERCHANT_NAME", default="")
MERCHANT_ADDRESS = env_str("MERCHANT_ADDRESS", default="")
MERCHANT_COUNTRY = env_str("MERCHANT_COUNTRY", default="FR")
MERCHANT_VAT_ID = env_str("MERCHANT_VAT_ID", default="")
MERCHANT_SIREN = env_str("MERCHANT_SIREN", default="")
# Where messages to the staff are told of; they are kept in the administration in any case.
CONTACT_EMAIL = env_str("CONTACT_EMAIL", default="")

# True in demo and tests only: clock offsets, the demo's mail page, delivery to this machine.
IS_DEMO = env_bool("IS_DEMO", default=False)

INSTALLED_APPS = [
    "config",
    "marketplace.accounts",
    "billing",
    "catalog",
    "marketplace",
    "config.admin.MarketAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.sitemaps",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "django_filters",
    "django_htmx",
    "django_prometheus",
    "knox",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "config.middleware.ReadableRequestMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "marketplace.accounts.middleware.DeviceMiddleware",
    "marketplace.accounts.middleware.ViewerMiddleware",
    "marketplace.accounts.middleware.TooOftenMiddleware",
    "config.middleware.MethodPageMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

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
                "django.template.context_processors.i18n",
                "config.context_processors.site",
            ],
        },
    },
]

DATABASES = {"default": database_from_url("DATABASE_URL")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env_secret("REDIS_URL")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": cache_address(REDIS_URL),
        "KEY_PREFIX": env_str("CACHE_KEY_PREFIX", default="gpubourse"),
    },
}

# --- people -----------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "marketplace:dashboard"
LOGOUT_REDIRECT_URL = "catalog:home"
ACCOUNT_ADAPTER = "marketplace.accounts.adapter.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_FORMS = {
    "signup": "marketplace.accounts.forms.SignupForm",
    "login": "marketplace.accounts.forms.LoginForm",
    "reauthenticate": "marketplace.accounts.forms.ConfirmForm",
    "reset_password": "marketplace.accounts.forms.ForgottenPasswordForm",
    "add_email": "marketplace.accounts.forms.NewAddressForm",
    "change_password": "marketplace.accounts.forms.ChangePasswordForm",
    "reset_password_from_key": "marketplace.accounts.forms.ResetPasswordForm",
}
ACCOUNT_USER_DISPLAY = "marketplace.accounts.adapter.display_name"
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
ACCOUNT_PASSWORD_RESET_BY_CODE_ENABLED = True
# As long as the code that confirms an address: pages and mails say 15 minutes.
ACCOUNT_PASSWORD_RESET_BY_CODE_TIMEOUT = 15 * 60
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
ACCOUNT_SESSION_REMEMBER = True
# Proxies in front that are ours: rate limits by address look behind them, and no further.
ALLAUTH_TRUSTED_PROXY_COUNT = env_int("TRUSTED_PROXY_COUNT", default=0)
MFA_ADAPTER = "marketplace.accounts.adapter.MfaAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {"add_webauthn": "marketplace.accounts.forms.AddPasskeyForm"}
MFA_TOTP_TOLERANCE = 1
# Who adds to the copy of a person's data, and who may have something against closing an account.
DATA_EXPORTERS = ["billing.own_data.own_data", "marketplace.queries.own_data.own_data"]
CLOSURE_CHECKS = ["billing.closure.obstacles", "marketplace.queries.closure.obstacles"]
# The address is the login; what is unique is its lower case (accounts_user_email_once).
SILENCED_SYSTEM_CHECKS = ["auth.W004"]

# --- language and time ------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("fr", _("French"))]
LOCALE_PATHS = [BASE_DIR / "config" / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- static files -----------------------------------------------------------------------------
STATIC_URL = "/static/"
STATIC_ROOT = Path(env_str("STATIC_ROOT", default=str(BASE_DIR / "staticfiles")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# --- security ---------------------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    },
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
# Forms are small: anything larger is refused before it is parsed.
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200

# How often one organisation may do a thing; off in tests alone.
RATE_LIMITS_ARE_ON = True

# --- speed: what pages keep for a moment -------------------------------------------------------
# A change of the market's state reaches every page within this time, even when its forgetting
# was lost.
MARKET_STATE_SECONDS = 2
# Visitors' pages are kept this long at most: the ages on them are off by no more. 0 keeps none.
PUBLIC_PAGE_SECONDS = 10

# --- mail: rows first, a task sends them --------------------------------------------------------
EMAIL_BACKEND = "marketplace.accounts.mail.RowBackend"
MAIL_TRANSPORT_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
DEFAULT_FROM_EMAIL = env_str("DEFAULT_FROM_EMAIL", default="GPU Bourse <no-reply@localhost>")
EMAIL_HOST = env_str("EMAIL_HOST", default="localhost")
EMAIL_PORT = env_int("EMAIL_PORT", default=25)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env_secret("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", default=False)
EMAIL_TIMEOUT = 10

# --- money ------------------------------------------------------------------------------------
STRIPE_SECRET_KEY = env_secret("STRIPE_SECRET_KEY", default="")
STRIPE_WEBHOOK_SECRET = env_secret("STRIPE_WEBHOOK_SECRET", default="")
STRIPE_API_BASE = env_str("STRIPE_API_BASE", default="") or None
STRIPE_LIVEMODE = env_bool("STRIPE_LIVEMODE", default=False)
PLATFORM_FEE_BPS = env_int("PLATFORM_FEE_BPS", default=1000)
BREAK_FEE_BPS = env_int("BREAK_FEE_BPS", default=1000)
FX_MARGIN_BPS = env_int("FX_MARGIN_BPS", default=100)
TOP_UP_MIN_MINOR = 10_00
TOP_UP_MAX_MINOR = 5_000_00

# --- delivery ---------------------------------------------------------------------------------
PROBE_ALLOW_PRIVATE = env_bool("PROBE_ALLOW_PRIVATE", default=False)
DEMO_SSH_HOST = env_str("DEMO_SSH_HOST", default="127.0.0.1")
DEMO_SSH_PORT = env_int("DEMO_SSH_PORT", default=0)
DEMO_SSH_FINGERPRINT = env_str("DEMO_SSH_FINGERPRINT", default="")

# --- Celery: a message is only a bell; the rows are the work ---------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "billing"
CELERY_TIMEZONE = "UTC"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Longer than any task's time limit, or a running task is handed out twice.
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 300}
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_SOFT_TIME_LIMIT = 100
CELERY_TASK_ROUTES = {
    "marketplace.tasks.match_shards": {"queue": "matching"},
    "marketplace.tasks.sweep_rentals": {"queue": "billing"},
    "marketplace.tasks.charge_hours": {"queue": "billing"},
    "marketplace.tasks.probe_rentals": {"queue": "delivery"},
    "marketplace.tasks.tell_of_matches": {"queue": "mail"},
    "marketplace.tasks.tell_of_times": {"queue": "mail"},
    "marketplace.tasks.forget_old_keys": {"queue": "mail"},
    "billing.tasks.*": {"queue": "billing"},
    "marketplace.accounts.tasks.*": {"queue": "mail"},
}
CELERY_BEAT_SCHEDULE = {
    "match-shards": {"task": "marketplace.tasks.match_shards", "schedule": schedule(3.0)},
    "sweep-rentals": {"task": "marketplace.tasks.sweep_rentals", "schedule": schedule(5.0)},
    "charge-hours": {"task": "marketplace.tasks.charge_hours", "schedule": schedule(5.0)},
    "probe-rentals": {"task": "marketplace.tasks.probe_rentals", "schedule": schedule(5.0)},
    "apply-stripe-events": {"task": "billing.tasks.apply_stripe_events", "schedule": schedule(5.0)},
    "sweep-top-ups": {"task": "billing.tasks.sweep_top_ups", "schedule": schedule(60.0)},
    "tell-of-matches": {"task": "marketplace.tasks.tell_of_matches", "schedule": schedule(5.0)},
    "tell-of-times": {"task": "marketplace.tasks.tell_of_times", "schedule": schedule(10.0)},
    "send-mails": {"task": "marketplace.accounts.tasks.send_mails", "schedule": schedule(5.0)},
    "forget-old-devices": {
        "task": "marketplace.accounts.tasks.forget_old_sessions",
        "schedule": schedule(86_400.0),
    },
    "forget-old-keys": {
        "task": "marketplace.tasks.forget_old_keys",
        "schedule": schedule(86_400.0),
    },
}

# --- API --------------------------------------------------------------------------------------
KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105  the name of a model
# Knox's migrations would make a table for its own model although ours stands in its place.
MIGRATION_MODULES = {"knox": None}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "marketplace.accounts.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["marketplace.accounts.api.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.drf.problem_response",
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "rest_framework.throttling.UserRateThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {"anon": "120/min", "user": "300/min"},
    # As many as are ours: what stands before them in the header, the client wrote itself.
    "NUM_PROXIES": ALLAUTH_TRUSTED_PROXY_COUNT,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "gpubourse API",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {"FitVerdictEnum": "catalog.api.use_cases.VERDICTS"},
}

# --- metrics: shown to who knows the token; none while it is empty ------------------------------
METRICS_TOKEN = env_secret("METRICS_TOKEN", default="")

# --- logs: structured, without personal data ---------------------------------------------------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "config.logs.JsonFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
    "root": {"handlers": ["stderr"], "level": env_str("LOG_LEVEL", default="INFO")},
    # It would note every call and its address, which holds the payment's number.
    "loggers": {"stripe": {"level": "WARNING"}},
}
