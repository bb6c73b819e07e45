"""Typed readers of the environment. A missing or malformed value refuses to start, with its name."""

import os
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})


def env_str(name: str, *, default: str | None = None) -> str:
    """Return the text of ``name``; without a default an unset or empty one refuses to start."""
    value = os.environ.get(name)
    if default is not None:
        return default if value is None else value
    if value is None or not value.strip():
        raise ImproperlyConfigured(
            f"Set the environment variable {name}; .env.example explains it."
        )
    return value


def env_secret(name: str, *, default: str | None = None) -> str:
    """Return a secret from ``name``, or from the file that ``name``_FILE points to."""
    path = os.environ.get(f"{name}_FILE")
    if path is None:
        return env_str(name, default=default)
    try:
        secret = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{name}_FILE names a file that cannot be read: {error.strerror}."
        ) from error
    if default is None and not secret:
        raise ImproperlyConfigured(f"{name}_FILE names a file that is empty.")
    return secret


def env_bool(name: str, *, default: bool) -> bool:
    value = env_str(name, default=str(default)).strip().lower()
    if value in TRUE_WORDS:
        return True
    if value in FALSE_WORDS:
        return False
    raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}.")


def env_int(name: str, *, default: int) -> int:
    value = env_str(name, default=str(default)).strip()
    try:
        return int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from error


def env_list(name: str, *, default: str | None = "") -> list[str]:
    return [part.strip() for part in env_str(name, default=default).split(",") if part.strip()]


def database_from_url(name: str, *, default: str | None = None) -> dict[str, object]:
    """Return Django's settings for the PostgreSQL address in ``name``; ``?host=`` is honoured."""
    url = urlsplit(env_secret(name, default=default))
    if url.scheme not in {"postgresql", "postgres"} or not url.path.strip("/"):
        raise ImproperlyConfigured(
            f"{name} must look like postgresql://user:password@host:5432/database; "
            "PostgreSQL is the only database of this project."
        )
    query = parse_qs(url.query)
    return {
        "ENGINE": "django_prometheus.db.backends.postgresql",
        "NAME": unquote(url.path.strip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": query["host"][0] if "host" in query else (url.hostname or ""),
        "PORT": query["port"][0] if "port" in query else str(url.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


def cache_address(redis_url: str, *, database: int | None = None) -> str:
    """Return the form that Django's cache wants of a broker's address.

    A Unix socket is ``unix://``, not ``redis+socket://``, and its database ``db``, not Celery's
    ``virtual_host``: a connection refuses a name that it does not know. ``database`` names another
    of the server's databases than the address does.
    """
    socket = redis_url.removeprefix("redis+socket://")
    is_socket = socket != redis_url
    if database is None:
        return "unix://" + socket.replace("virtual_host=", "db=", 1) if is_socket else redis_url
    if is_socket:
        return f"unix://{socket.partition('?')[0]}?db={database}"
    return urlsplit(redis_url)._replace(path=f"/{database}").geturl()
