"""Settings of production: what must be told, and what cannot be switched on."""

import json
import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.env import cache_address, env_bool, env_int, env_secret, env_str

TOLD = {
    "PATH": os.environ["PATH"],
    "DJANGO_SETTINGS_MODULE": "config.settings.prod",
    "SECRET_KEY": "a-made-up-key-of-sufficient-length-for-the-check-0123456789",
    "PUBLIC_URL": "https://market.example",
    "ALLOWED_HOSTS": "market.example",
    "DATABASE_URL": "postgresql://app@/market?host=/nowhere",
    "REDIS_URL": "redis://localhost:1/0",
    "STRIPE_SECRET_KEY": "sk_test_check",
    "STRIPE_WEBHOOK_SECRET": "whsec_check",
}
SHOW = """
import json, sys
from django.conf import settings
print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:]}, default=str))
"""


def production(*names: str, **changes: str | None):
    """Return settings of production by name, as a process of its own reads them."""
    told = {name: value for name, value in (TOLD | changes).items() if value is not None}
    return subprocess.run(
        [sys.executable, "-c", SHOW, *names], env=told, capture_output=True, text=True, check=False
    )


def settings_of(*names: str, **changes: str | None) -> dict[str, object]:
    done = production(*names, **changes)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class TestProduction:
    def test_keeps_cookies_and_visitors_on_https(self):
        expected = {
            "DEBUG": False,
            "SESSION_COOKIE_SECURE": True,
            "SESSION_COOKIE_HTTPONLY": True,
            "SESSION_COOKIE_SAMESITE": "Lax",
            "CSRF_COOKIE_SECURE": True,
            "SECURE_SSL_REDIRECT": True,
            "SECURE_HSTS_SECONDS": 31_536_000,
            "SECURE_HSTS_INCLUDE_SUBDOMAINS": True,
            "SECURE_CONTENT_TYPE_NOSNIFF": True,
            "SECURE_REFERRER_POLICY": "same-origin",
            "X_FRAME_OPTIONS": "DENY",
        }

        assert settings_of(*expected) == expected

    def test_is_never_a_demo_whatever_the_environment_says(self):
        switched = {"IS_DEMO": "true", "PROBE_ALLOW_PRIVATE": "true", "DEBUG": "true"}

        assert settings_of(*switched, **switched) == dict.fromkeys(switched, False)

    def test_has_no_inline_script_or_style_in_its_policy(self):
        policy = settings_of("CONTENT_SECURITY_POLICY")["CONTENT_SECURITY_POLICY"]

        assert "unsafe" not in json.dumps(policy)

    @pytest.mark.parametrize(
        "name",
        [
            "SECRET_KEY",
            "PUBLIC_URL",
            "ALLOWED_HOSTS",
            "DATABASE_URL",
            "REDIS_URL",
            "STRIPE_SECRET_KEY",
            "STRIPE_WEBHOOK_SECRET",
        ],
    )
    def test_does_not_start_without_what_must_be_told(self, name):
        for value in (None, "", "  "):
            done = production("DEBUG", **{name: value})
            assert done.returncode != 0
            assert f"Set the environment variable {name}" in done.stderr


class TestReading:
    def test_an_empty_value_of_what_has_a_default_is_empty(self, monkeypatch):
        monkeypatch.setenv("METRICS_TOKEN", "")

        assert env_str("METRICS_TOKEN", default="x") == ""

    def test_a_secret_may_be_a_file(self, monkeypatch, tmp_path):
        (tmp_path / "secret").write_text("told\n")
        monkeypatch.setenv("A_SECRET_FILE", str(tmp_path / "secret"))

        assert env_secret("A_SECRET") == "told"

    def test_an_empty_file_holds_no_secret(self, monkeypatch, tmp_path):
        (tmp_path / "secret").write_text("\n")
        monkeypatch.setenv("A_SECRET_FILE", str(tmp_path / "secret"))

        with pytest.raises(ImproperlyConfigured, match="A_SECRET_FILE"):
            env_secret("A_SECRET")

    def test_malformed_values_are_told_by_name(self, monkeypatch):
        monkeypatch.setenv("A_SWITCH", "perhaps")
        monkeypatch.setenv("A_NUMBER", "many")

        with pytest.raises(ImproperlyConfigured, match="A_SWITCH must be true or false"):
            env_bool("A_SWITCH", default=False)
        with pytest.raises(ImproperlyConfigured, match="A_NUMBER must be a whole number"):
            env_int("A_NUMBER", default=1)


@pytest.mark.parametrize(
    ("broker", "cache"),
    [
        ("redis://broker:6379/0", "redis://broker:6379/0"),
        ("redis+socket:///run/valkey.sock", "unix:///run/valkey.sock"),
        ("redis+socket:///run/valkey.sock?virtual_host=1", "unix:///run/valkey.sock?db=1"),
    ],
)
def test_the_cache_uses_the_brokers_own_database(broker: str, cache: str) -> None:
    assert cache_address(broker) == cache


@pytest.mark.parametrize(
    ("broker", "cache"),
    [
        ("redis://broker:6379/0", "redis://broker:6379/2"),
        ("rediss://broker:6379?ssl_cert_reqs=none", "rediss://broker:6379/2?ssl_cert_reqs=none"),
        ("redis+socket:///run/valkey.sock", "unix:///run/valkey.sock?db=2"),
        ("redis+socket:///run/valkey.sock?virtual_host=1", "unix:///run/valkey.sock?db=2"),
    ],
)
def test_the_cache_may_use_another_database_of_the_broker(broker: str, cache: str) -> None:
    assert cache_address(broker, database=2) == cache
