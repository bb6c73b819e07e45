"""The Celery application. Messages are bells; the schedule and queues are in the settings."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

app = Celery("gpubourse")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["billing", "marketplace", "marketplace.accounts"])
# Tells the status page which sweeps run.
app.autodiscover_tasks(["marketplace"], related_name="heartbeats")
