"""Bring the project's guides into the database, beside what staff write there."""

import hashlib
from dataclasses import dataclass

from django.db import transaction

from catalog.content.guide_files import GuideFile, GuideTextFile, guide_files
from catalog.models import GpuModel, Guide, GuideText
from marketplace.accounts.public_pages import pages_changed

# What a file gives. Whether a text is shown, and since when, staff decide.
FROM_FILE = ("slug", "title", "short_title", "description", "body", "reviewed_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedGuides:
    """What became of the texts of the files."""

    created: int = 0
    refreshed: int = 0
    unchanged: int = 0
    kept: tuple[str, ...] = ()  # edited by staff, or in the way of one of their slugs


@transaction.atomic
def load_guides() -> LoadedGuides:
    """Create the guides of the files, and refresh the texts that nobody has edited since.

    Safe to repeat. A text that staff changed, took back to draft or wrote themselves stays as it
    is: each row remembers the fingerprint of the file it came from, and only a row that still
    fits it is replaced. Cards and order of a known guide are staff's.
    """
    counts = {"created": 0, "refreshed": 0, "unchanged": 0}
    kept: list[str] = []
    for file in guide_files():
        guide = _guide(file)
        for text in file.texts:
            outcome = _load_text(guide, text)
            if outcome == "kept":
                kept.append(f"{text.language}/{file.key}")
            else:
                counts[outcome] += 1
    pages_changed()
    return LoadedGuides(**counts, kept=tuple(kept))


def digest_of(text: GuideText | GuideTextFile) -> str:
    """Return the fingerprint of what a file gives."""
    values = "\x00".join(str(getattr(text, name)) for name in FROM_FILE)
    return hashlib.sha256(values.encode()).hexdigest()


def _guide(file: GuideFile) -> Guide:
    guide, is_new = Guide.objects.get_or_create(
        key=file.key, defaults={"position": file.position, "use_case": file.use_case}
    )
    if is_new:
        guide.cards.set(GpuModel.objects.filter(slug__in=file.cards))
    return guide


def _load_text(guide: Guide, file: GuideTextFile) -> str:
    digest = digest_of(file)
    row = GuideText.objects.filter(guide=guide, language=file.language).first()
    if row is not None and row.loaded_digest == digest:
        return "unchanged"
    if row is not None and row.loaded_digest != digest_of(row):
        return "kept"
    with_slug = GuideText.objects.filter(language=file.language, slug=file.slug)
    if with_slug.exclude(guide=guide).exists():
        return "kept"
    values = {name: getattr(file, name) for name in FROM_FILE} | {"loaded_digest": digest}
    if row is not None:
        GuideText.objects.filter(pk=row.pk).update(**values)
        return "refreshed"
    GuideText.objects.create(
        guide=guide,
        language=file.language,
        state=GuideText.State.PUBLISHED,
        published_on=file.published_on,
        **values,
    )
    return "created"
