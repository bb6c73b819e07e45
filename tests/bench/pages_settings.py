"""Settings of the measured server: the tests' database, everything else as a real site has it."""

from config.settings.test import *

ROOT_URLCONF = "tests.bench.pages_urls"
PUBLIC_PAGE_SECONDS = 10
MARKET_STATE_SECONDS = 2
RATE_LIMITS_ARE_ON = True
ALLOWED_HOSTS = ["127.0.0.1"]
DATABASES = {"default": DATABASES["default"] | {"CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True}}
LOGGING = LOGGING | {"root": {"handlers": ["stderr"], "level": "ERROR"}}
