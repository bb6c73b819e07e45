"""What a visitor of an address that does not exist may have looked for."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from django.conf import settings
from django.db.utils import Error as DatabaseError
from django.urls import NoReverseMatch, Resolver404, ResolverMatch, resolve, reverse
from django.utils.translation import override

from catalog.models import GpuModel

# Enough for the variants of one card; more would be a guess.
MOST_CARDS = 4
# Below this likeness two names are different cards, not one mistyped.
LIKENESS = 0.72
# A name that holds the whole word: then the merely alike are noise.
EXACT = 1.0
# Longer words are no name of a card, and comparing them takes time.
LONGEST_WORD = 60
LANGUAGE = re.compile(r"[a-z]{2}(-[a-z]{2,4})?", re.IGNORECASE)
# A card's name has a letter and a digit: rtx-4090, h100, l40s.
CARD_WORD = re.compile(r"(?=.*[a-z])(?=.*\d)[a-z0-9 _.+-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LostPage:
    """Ways on: the same page in our languages by code, and cards of a similar name."""

    unknown_language: str
    pages: tuple[tuple[str, str], ...]
    cards: tuple[GpuModel, ...]


def ways_on(*, path: str, language: str) -> LostPage:
    """Return what may have been meant by ``path``, for a reader of ``language``. One query at most."""
    first, _, rest = path.lstrip("/").partition("/")
    known = [code for code, _name in settings.LANGUAGES]
    is_unknown = first.lower() not in known and LANGUAGE.fullmatch(first) is not None
    if first not in known and not is_unknown:
        rest = path.lstrip("/")
    word = _card_word(rest)
    cards = _cards(word)
    pages = {} if _is_mistyped(word, cards) else _pages(rest, languages=known)
    if not is_unknown:
        pages = {code: url for code, url in pages.items() if code == language and url != path}
    elif not pages:
        pages = {code: f"/{code}/" for code in known}
    return LostPage(
        unknown_language=first if is_unknown else "",
        pages=tuple(sorted(pages.items())),
        cards=tuple(cards),
    )


def _is_mistyped(word: str, cards: Iterable[GpuModel]) -> bool:
    """Say whether an address names a card that there is not: its page exists in no language."""
    return bool(word) and word not in {card.slug for card in cards}


def _pages(rest: str, *, languages: Iterable[str]) -> dict[str, str]:
    """Return the page that ``rest`` names in one of our languages, in each of them."""
    codes = list(languages)
    for source in codes:
        found = _resolved(f"/{source}/{rest}", language=source)
        if found is not None:
            return {code: url for code in codes if (url := _address(found, language=code))}
    return {}


def _resolved(path: str, *, language: str) -> ResolverMatch | None:
    with override(language):
        try:
            return resolve(path)
        except Resolver404:
            return None


def _address(found: ResolverMatch, *, language: str) -> str:
    with override(language):
        try:
            return reverse(found.view_name, args=found.args, kwargs=found.kwargs)
        except NoReverseMatch:
            return ""


def _card_word(rest: str) -> str:
    """Return the last part of the address that looks like a card's name, or nothing."""
    words = [word for word in rest.split("/") if len(word) <= LONGEST_WORD]
    return next((word for word in reversed(words) if CARD_WORD.fullmatch(word)), "")


def _cards(word: str) -> list[GpuModel]:
    """Return the listed models whose name is like the word, the most alike first."""
    wanted = _bare(word)
    if not wanted:
        return []
    try:
        listed = list(GpuModel.objects.filter(is_listed=True).order_by("slug"))
    except DatabaseError:
        return []
    ranked = [
        (max(_likeness(wanted, card.slug), _likeness(wanted, card.name)), card) for card in listed
    ]
    best = max((likeness for likeness, _card in ranked), default=0)
    least = EXACT if best == EXACT else LIKENESS
    alike = [(likeness, card) for likeness, card in ranked if likeness >= least]
    return [card for _likeness, card in sorted(alike, key=lambda pair: -pair[0])][:MOST_CARDS]


def _likeness(wanted: str, name: str) -> float:
    """Return 1 for a name that holds the word, less the more letters differ."""
    bare = _bare(name)
    return EXACT if wanted in bare else SequenceMatcher(None, wanted, bare).ratio()


def _bare(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())
