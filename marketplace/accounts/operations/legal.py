"""Load the legal texts, and keep who accepted which version."""

from collections.abc import Mapping
from datetime import date, datetime

from django.db import transaction

from marketplace.accounts.legal_files import legal_files
from marketplace.accounts.models import LegalText, TermsAcceptance
from marketplace.accounts.queries import legal_versions, terms_to_accept


class TermsChanged(Exception):
    """What the person accepted is no longer what is in force: show it again."""


def load_legal_texts(*, now: datetime) -> None:
    """Add the versions of the project's files that are not there yet; safe to repeat.

    A version that is there already stays as staff left it.
    """
    LegalText.objects.bulk_create(
        [
            LegalText(
                key=file.key,
                language=file.language,
                version=file.version,
                title=file.title,
                body=file.body,
                state=LegalText.State.PUBLISHED,
                loaded_at=now,
            )
            for file in legal_files()
        ],
        ignore_conflicts=True,
    )


@transaction.atomic
def accept_terms(
    *, user_id: int, shown: Mapping[str, date] | None, language: str, now: datetime
) -> None:
    """Keep a person's consent to every text in force that they have not accepted yet.

    ``shown`` holds the versions that they saw; without it, those in force now.

    Raises
    ------
    TermsChanged
        Another version came into force meanwhile; nothing is kept.
    """
    asked = terms_to_accept(user_id=user_id)
    if shown is not None and asked != shown:
        raise TermsChanged
    TermsAcceptance.objects.bulk_create(
        [
            TermsAcceptance(
                user_id=user_id, key=key, version=version, language=language, accepted_at=now
            )
            for key, version in asked.items()
        ],
        ignore_conflicts=True,
    )


def accept_text(*, user_id: int, key: str, language: str, now: datetime) -> None:
    """Keep a person's consent to one text in force, such as the sellers' when they apply."""
    versions = legal_versions(key=key, language=language)
    if versions:
        TermsAcceptance.objects.get_or_create(
            user_id=user_id,
            key=key,
            version=versions[0].version,
            defaults={"language": language, "accepted_at": now},
        )
