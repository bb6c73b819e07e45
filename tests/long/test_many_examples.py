"""The properties of the pure cores once more, with many more examples than a usual run has time for."""

from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from hypothesis import is_hypothesis_test

from tests.unit.billing import test_posting
from tests.unit.book import test_matching_properties
from tests.unit.marketplace import test_early_end, test_rental_time

pytestmark = pytest.mark.long

MODULES = (
    test_matching_properties,
    test_posting,
    test_rental_time,
    test_early_end,
)


def properties(module: ModuleType) -> Iterator[Callable[..., None]]:
    """Yield the module's property tests, those inside its classes too."""
    for thing in vars(module).values():
        if isinstance(thing, type) and thing.__name__.startswith("Test"):
            yield from (
                getattr(thing(), name)
                for name, member in vars(thing).items()
                if is_hypothesis_test(member)
            )
        elif callable(thing) and is_hypothesis_test(thing):
            yield thing


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{module.__name__.rpartition('.')[2]}:{check.__name__}")
        for module in MODULES
        for check in properties(module)
    ],
)
def test_holds_for_many_examples(check):
    check()
