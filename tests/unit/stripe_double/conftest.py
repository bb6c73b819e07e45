"""A double of one's own for each test, and Stripe's SDK pointed at it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.stripe_double_fixture import DoubleHandle, running_double
from tests.unit.stripe_double.orders import sdk_client


@pytest.fixture
def double() -> Iterator[DoubleHandle]:
    with running_double() as handle:
        yield handle


@pytest.fixture
def client(double: DoubleHandle) -> Any:
    return sdk_client(double)
