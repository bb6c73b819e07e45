from marketplace.accounts.models.organisations import Invitation, Membership, Organisation
from marketplace.accounts.models.records import AuditEntry, ClockOffset, Mail
from marketplace.accounts.models.ssh_keys import SshKey
from marketplace.accounts.models.users import Language, User

__all__ = [
    "AuditEntry",
    "ClockOffset",
    "Invitation",
    "Language",
    "Mail",
    "Membership",
    "Organisation",
    "SshKey",
    "User",
]
