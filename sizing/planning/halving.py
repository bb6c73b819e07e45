"""The largest whole number that passes, found by halving."""

from collections.abc import Callable


def largest_passing(passes: Callable[[int], bool], *, most: int) -> int:
    """Return the largest of 1 to ``most`` that passes, 0 if none does; what passes does so below."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if passes(middle):
            low = middle
        else:
            high = middle - 1
    return low
