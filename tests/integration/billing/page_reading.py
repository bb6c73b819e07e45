"""How tests find pages of money and read them."""

import re

from django.urls import reverse
from django.utils import translation


def address(name: str, *args, language: str = "en") -> str:
    with translation.override(language):
        return reverse(f"billing:{name}", args=args)


def text_of(response) -> str:
    """The page's words, without tags, spaces joined; narrow spaces stay."""
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return re.sub(r"[ \n]+", " ", words)
