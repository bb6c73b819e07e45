"""Settings of `make demo` and of development: everything real, on this machine."""

from config.env import env_bool
from config.settings.base import *

DEBUG = env_bool("DEBUG", default=False)
IS_DEMO = env_bool("IS_DEMO", default=True)
PROBE_ALLOW_PRIVATE = env_bool("PROBE_ALLOW_PRIVATE", default=True)
MAIL_TRANSPORT_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
# Compressing every file takes half a minute and would spare nobody anything on this machine.
STORAGES = STORAGES | {
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage",
    },
}
# Browsers allow passkeys on http://localhost; everywhere else they need HTTPS.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
