"""The base of every refusal that a person can mend."""

from django.utils.functional import Promise


class Refusal(Exception):
    """A request that was refused and changed nothing.

    ``field`` names the input to mend, ``message`` says in the reader's language what is wrong and
    the way out.
    """

    def __init__(self, field: str, message: str | Promise) -> None:
        super().__init__(field, message)
        self.field = field
        self.message = message

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"
