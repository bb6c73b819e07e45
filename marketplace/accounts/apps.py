from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """People and organisations: the floor that the other apps stand on."""

    name = "marketplace.accounts"
    label = "accounts"
    verbose_name = "People and organisations"
