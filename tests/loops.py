"""Run a coroutine though the thread of the tests may already have a running event loop."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Answer = TypeVar("Answer")


def run_apart(coroutine: Coroutine[Any, Any, Answer]) -> Answer:
    """Run it in a thread of its own: the browser's tests keep a loop in theirs."""
    with ThreadPoolExecutor(max_workers=1) as runner:
        return runner.submit(asyncio.run, coroutine).result()
