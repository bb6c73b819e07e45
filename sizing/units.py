"""Units of memory and of model size.

Makers print decimal gigabytes; drivers report binary ones. Sizes are bytes inside and
decimal gigabytes on pages, so 24 GB is 24 x 10**9 bytes here.
"""

GB = 10**9
GIB = 2**30
MIB = 2**20
BILLION = 10**9
