from marketplace.accounts.models.contact import ContactMessage
from marketplace.accounts.models.legal import (
    ACCEPTED_BY_CUSTOMERS,
    LegalKey,
    LegalText,
    TermsAcceptance,
)
from marketplace.accounts.models.notifications import ALWAYS_SENT, MailKind, NotificationSettings
from marketplace.accounts.models.organisations import Invitation, Membership, Organisation
from marketplace.accounts.models.records import AuditEntry, ClockOffset, Mail
from marketplace.accounts.models.ssh_keys import SshKey
from marketplace.accounts.models.tokens import ApiToken, Scope
from marketplace.accounts.models.users import Language, User

__all__ = [
    "ACCEPTED_BY_CUSTOMERS",
    "ALWAYS_SENT",
    "ApiToken",
    "AuditEntry",
    "ClockOffset",
    "ContactMessage",
    "Invitation",
    "Language",
    "LegalKey",
    "LegalText",
    "Mail",
    "MailKind",
    "Membership",
    "NotificationSettings",
    "Organisation",
    "Scope",
    "SshKey",
    "TermsAcceptance",
    "User",
]
