from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """The whole's own commands, messages and template tags."""

    name = "config"
    verbose_name = "Project"

    def ready(self) -> None:
        """Make our Celery application the one that every thread of every process sends through."""
        from config.celery import app  # noqa: PLC0415  settings are read now, not before

        app.set_default()
