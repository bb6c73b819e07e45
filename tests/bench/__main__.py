"""``python -m tests.bench [--only ledger]``: measure, in a database made for it and dropped after."""

import argparse
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# Each module has ``run() -> Iterator[Result]``; it may assume an empty, migrated database.
PARTS = {
    "ledger": "tests.bench.ledger",
    "pages": "tests.bench.pages",
    "sizing": "tests.bench.sizing",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), help="run one part")
    chosen = parser.parse_args().only
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
    os.environ.setdefault("SECRET_KEY", "only-for-measuring-0123456789-0123456789-0123456789")
    os.environ["TEST_DATABASE_NAME"] = f"bench_{os.getpid()}"
    import django

    django.setup()
    for name in [chosen] if chosen else sorted(PARTS):
        with bench_database():
            for result in importlib.import_module(PARTS[name]).run():
                sys.stdout.write(f"{result.line()}\n")
                sys.stdout.flush()
    return 0


@contextmanager
def bench_database() -> Iterator[None]:
    from django.db import connection

    from marketplace.operations.reference import ensure_reference_rows

    before = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        ensure_reference_rows()
        yield
    finally:
        connection.creation.destroy_test_db(before, verbosity=0)


if __name__ == "__main__":
    sys.exit(main())
