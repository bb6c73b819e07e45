from django.apps import AppConfig


class ProjectConfig(AppConfig):
    """The whole's own commands, messages and template tags."""

    name = "config"
    verbose_name = "Project"
