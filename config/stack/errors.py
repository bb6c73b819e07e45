"""What can go wrong while the stack starts, in words for the person at the terminal."""


class StackError(Exception):
    """The stack cannot start or go on; the message is one clear line for the terminal."""


class StopRequested(Exception):
    """Somebody asked for the end: Ctrl-C, a termination signal, or a closed terminal."""
