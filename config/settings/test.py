"""Settings of the tests: the owner's connection, since tests create and flush databases."""

import os

from config.env import cache_address, database_from_url, env_str
from config.settings.base import *

DATABASES = {
    "default": database_from_url("MIGRATE_DATABASE_URL")
    | {
        "TEST": {"NAME": env_str("TEST_DATABASE_NAME", default="test_market")},
        "CONN_MAX_AGE": 0,
    },
}
# Test processes share one broker. Each has a database of its own there for what it remembers, and
# the first one stays the sites' that tests start: emptying a cache empties the whole database.
CACHES = {
    "default": CACHES["default"]
    | {
        "LOCATION": cache_address(
            REDIS_URL,
            database=1 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")),
        )
    },
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
