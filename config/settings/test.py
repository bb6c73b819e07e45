"""Settings of the tests: the owner's connection, since tests create and flush databases."""

import os

from config.env import database_from_url, env_str
from config.settings.base import *

DATABASES = {
    "default": database_from_url("MIGRATE_DATABASE_URL")
    | {
        "TEST": {"NAME": env_str("TEST_DATABASE_NAME", default="test_market")},
        "CONN_MAX_AGE": 0,
    },
}
# Test processes share one broker: what one of them remembers is not the other's state.
CACHES = {
    "default": CACHES["default"]
    | {"KEY_PREFIX": f"test-{os.environ.get('PYTEST_XDIST_WORKER', '')}"},
}
IS_DEMO = True
PROBE_ALLOW_PRIVATE = True
DEBUG = False
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = STORAGES | {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
MAIL_TRANSPORT_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
CELERY_TASK_ALWAYS_EAGER = False
REST_FRAMEWORK = REST_FRAMEWORK | {
    "DEFAULT_THROTTLE_RATES": {"anon": "10000/min", "user": "10000/min"},
}
ACCOUNT_RATE_LIMITS = False
RATE_LIMITS_ARE_ON = False
# What one test's pages kept is no state of the next test.
MARKET_STATE_SECONDS = 0
PUBLIC_PAGE_SECONDS = 0
