"""Settings of production: TLS in front, secure cookies, no default for what must be told."""

from config.env import env_bool, env_int, env_list, env_secret, env_str
from config.settings.base import *

PUBLIC_URL = env_str("PUBLIC_URL")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", default=None)
# A real market has one clock, keeps its mails to itself and looks at no private network.
IS_DEMO = False
PROBE_ALLOW_PRIVATE = False
STRIPE_SECRET_KEY = env_secret("STRIPE_SECRET_KEY")
STRIPE_WEBHOOK_SECRET = env_secret("STRIPE_WEBHOOK_SECRET")
SECURE_SSL_REDIRECT = env_bool("SECURE_SSL_REDIRECT", default=True)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = env_int("SECURE_HSTS_SECONDS", default=31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
