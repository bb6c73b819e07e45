"""What the guides' pages read: texts in the reader's language, and where the other ones are."""

from dataclasses import dataclass

from django.conf import settings

from catalog.models import GpuModel, Guide, GuideText
from marketplace.accounts.markdown import plain

WORDS_PER_MINUTE = 200  # Slow enough for tables and figures.


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedGuide:
    """A guide as the list shows it: its text here, or where it can be read instead."""

    text: GuideText
    minutes: int
    is_in_language: bool


def listed_guides(*, language: str, with_drafts: bool) -> list[ListedGuide]:
    """Return every guide once, in the order of the list. One query.

    Where ``language`` has no text to show, a published one in another language stands in.
    """
    texts = GuideText.objects.select_related("guide").order_by(
        "guide__position", "guide__key", "language"
    )
    chosen: dict[int, GuideText] = {}
    for text in texts:
        if not (text.is_published or (with_drafts and text.language == language)):
            continue
        if text.language == language or text.guide_id not in chosen:
            chosen[text.guide_id] = text
    return [
        ListedGuide(
            text=text,
            minutes=reading_minutes(text.body),
            is_in_language=text.language == language,
        )
        for text in chosen.values()
    ]


def find_text(*, language: str, slug: str) -> GuideText | None:
    """Return the text at an address, drafts included."""
    texts = GuideText.objects.select_related("guide")
    return texts.filter(language=language, slug=slug).first()


def twin_by_slug(*, language: str, slug: str) -> GuideText | None:
    """Return the published text in ``language`` of the guide that has ``slug`` in another one."""
    twins = GuideText.objects.published().filter(
        language=language,
        guide__texts__slug=slug,
        guide__texts__state=GuideText.State.PUBLISHED,
    )
    return twins.order_by("pk").first()


def published_twins(*, text: GuideText) -> dict[str, GuideText]:
    """Return the published texts of a guide in the other languages, by language."""
    others = GuideText.objects.published().filter(guide=text.guide_id).exclude(pk=text.pk)
    return {other.language: other for other in others.order_by("language")}


def missing_languages(*, text: GuideText, twins: dict[str, GuideText]) -> list[str]:
    """Return the languages of the site that cannot be read yet."""
    found = {text.language, *twins}
    return [code for code, _name in settings.LANGUAGES if code not in found]


def cards_of_guide(*, guide: Guide) -> list[GpuModel]:
    """Return the listed cards of a guide, smallest memory first."""
    return list(
        guide.cards.filter(is_listed=True).order_by("memory_gb", "bandwidth_gb_per_s", "slug")
    )


def reading_minutes(body: str) -> int:
    """Return how long a text takes, rounded up: nobody minds finishing early."""
    return max(1, -(-len(plain(body).split()) // WORDS_PER_MINUTE))
