"""One module per command of ``python -m sizing``.

Each has ``add_parser(subparsers)``, which ends in ``set_defaults(run=run)``, and
``run(options) -> int``, which writes the answer and returns the exit status.
"""
