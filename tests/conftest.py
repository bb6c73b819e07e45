"""What every test may use: the flush that append-only tables allow, reference rows, the browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.db.backends.base.operations import BaseDatabaseOperations
from django.utils.translation import override
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

pytest_plugins = ["tests.stripe_double_fixture"]

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile(
    "ci",
    max_examples=500,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", max_examples=2_000, deadline=None)
settings.register_profile("night", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Playwright's synchronous API keeps an event loop in the thread that also asks the database.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# Tests of these folders share one site, or one machine's ports: one process runs all of a folder.
ONE_PROCESS_FOLDERS = ("tests/browser/", "tests/stack/")

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class FolderScheduling(LoadScopeScheduling):
    """Hand tests out one by one, those of a shared folder together.

    The groups of pytest-xdist 3.8 are lost on pytest 9.2, which no longer reads a test's name
    where xdist writes the group.
    """

    def _split_scope(self, nodeid: str) -> str:
        folders = (folder for folder in ONE_PROCESS_FOLDERS if nodeid.startswith(folder))
        return next(folders, nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    return FolderScheduling(config, log)


def _flush_append_only(self: BaseDatabaseOperations, sql_list: list[str]) -> None:
    """Empty the tables as a replica would: append-only triggers refuse everybody else.

    The same transaction puts the reference rows back, without which nothing works.
    """
    with transaction.atomic(
        using=self.connection.alias, savepoint=self.connection.features.can_rollback_ddl
    ):
        with self.connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            for sql in sql_list:
                cursor.execute(sql)
            cursor.execute("SET LOCAL session_replication_role = origin")
        from marketplace.operations.reference import ensure_reference_rows

        ensure_reference_rows()


@pytest.fixture(scope="session", autouse=True)
def _flushable_append_only_tables() -> Iterator[None]:
    from django.db.backends.postgresql.operations import DatabaseOperations

    original = DatabaseOperations.execute_sql_flush
    DatabaseOperations.execute_sql_flush = _flush_append_only
    yield
    DatabaseOperations.execute_sql_flush = original


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker) -> None:
    """Give the new test database its reference rows, as `migrate` does for a real one."""
    from marketplace.operations.reference import ensure_reference_rows

    with django_db_blocker.unblock():
        ensure_reference_rows()


@pytest.fixture(autouse=True)
def _english_first() -> Iterator[None]:
    """Forget the language that an earlier test's request left behind."""
    with override("en"):
        yield


@pytest.fixture(autouse=True)
def _mails_are_rows(settings: object) -> None:
    """Keep the site's own mail backend, which Django's test runner replaces."""
    settings.EMAIL_BACKEND = "marketplace.accounts.mail.RowBackend"


@pytest.fixture
def own_cache(settings: object, request: pytest.FixtureRequest) -> None:
    """Give the test a cache that it alone sees: Django keeps one of memory for a whole process."""
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
            "LOCATION": request.node.nodeid,
        }
    }
    from marketplace.accounts import public_pages

    public_pages._memory.clear()


@pytest.fixture
def check_deferred_rules() -> Iterator[None]:
    """Fire the deferred constraints at the end of a test that rolls back."""
    yield
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def find_browser() -> str | None:
    """Return the path of a browser: $BROWSER, else the first one installed."""
    named = os.environ.get("BROWSER")
    if named:
        return named
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, object]) -> dict[str, object]:
    path = find_browser()
    if path is None:
        message = "No browser: install Debian's chromium, or name one in BROWSER."
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    arguments = [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")
    return browser_type_launch_args | {"executable_path": path, "args": arguments}


@pytest.fixture(scope="session")
def project_root() -> Path:
    return Path(__file__).resolve().parents[1]
