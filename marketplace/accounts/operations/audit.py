"""Write the audit log."""

from collections.abc import Mapping
from datetime import datetime

from marketplace.accounts.models import AuditEntry


def record_act(  # noqa: PLR0913  an entry has these seven facts
    *,
    actor_id: int | None,
    organisation_id: int | None,
    action: str,
    object_type: str,
    object_id: int | str,
    now: datetime,
    details: Mapping[str, object] | None = None,
) -> None:
    """Add one entry, inside the transaction of the act that it tells of.

    ``details`` holds numbers and codes only: no name, address or secret.
    """
    AuditEntry.objects.create(
        actor_id=actor_id,
        organisation_id=organisation_id,
        action=action,
        object_type=object_type,
        object_id=str(object_id),
        occurred_at=now,
        details=dict(details or {}),
    )
