"""Tell whether the process is alive, and whether it can serve."""

from django.core.cache import cache
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError


@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """Answer as long as the process runs."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 503 with the part that fails: database, migrations or broker."""
    checks = {"database": _database_answers(), "broker": _broker_answers()}
    checks["migrations"] = checks["database"] and _is_migrated()
    is_ready = all(checks.values())
    return JsonResponse(
        {"status": "ok" if is_ready else "failing", "checks": checks},
        status=200 if is_ready else 503,
    )


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _is_migrated() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def _broker_answers() -> bool:
    try:
        cache.get("health")
    except RedisError:
        return False
    return True
