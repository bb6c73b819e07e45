"""People and organisations in the administration. What is a record is read only."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from marketplace.accounts.models import (
    ApiToken,
    AuditEntry,
    ContactMessage,
    LegalText,
    Mail,
    Membership,
    Organisation,
    TermsAcceptance,
    User,
)
from marketplace.accounts.readonly_admin import ReadOnlyAdmin, ReadOnlyInline


class MembershipInline(ReadOnlyInline[Membership]):
    """Members are changed by owners, with consent; staff read."""

    model = Membership
    fields = ["user_email", "role", "created_at"]
    readonly_fields = ["user_email", "role", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Membership]:
        return super().get_queryset(request).select_related("user").order_by("id")

    @admin.display(description=_("e-mail address"))
    def user_email(self, membership: Membership) -> str:
        return membership.user.email


@admin.register(User)
class UserAdmin(admin.ModelAdmin[User]):
    """Staff may rename, switch off and give rights; address, password and factors are the person's."""

    list_display = ["email", "name", "language", "is_staff", "is_active", "joined_at"]
    list_filter = ["is_staff", "is_active", "language"]
    search_fields = ["email", "name"]
    ordering = ["-id"]
    fields = [
        "email",
        "name",
        "language",
        "time_zone",
        "is_active",
        "is_staff",
        "is_superuser",
        "groups",
        "last_login",
        "joined_at",
    ]
    readonly_fields = ["email", "last_login", "joined_at"]
    filter_horizontal = ["groups"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


@admin.register(Organisation)
class OrganisationAdmin(admin.ModelAdmin[Organisation]):
    list_display = ["name", "kind", "is_frozen", "created_at"]
    list_filter = ["kind", "is_frozen"]
    search_fields = ["name", "memberships__user__email"]
    ordering = ["-id"]
    fields = ["name", "kind", "personal_of", "is_frozen", "created_at"]
    readonly_fields = ["kind", "personal_of", "created_at"]
    inlines = [MembershipInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Organisation | None = None) -> bool:
        return False


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin[Membership]):
    list_display = ["organisation", "user", "role", "created_at"]
    list_filter = ["role"]
    list_select_related = ["organisation", "user"]
    search_fields = ["organisation__name", "user__email"]
    ordering = ["-id"]


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin[AuditEntry]):
    list_display = [
        "occurred_at",
        "action",
        "object_type",
        "object_id",
        "actor",
        "organisation",
    ]
    list_filter = ["action", "object_type"]
    list_select_related = ["actor", "organisation"]
    search_fields = ["=object_id", "action", "actor__email", "organisation__name"]
    ordering = ["-id"]


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin[Mail]):
    """Bodies carry codes that sign people in: they are not shown."""

    list_display = ["created_at", "to_address", "subject", "sent_at", "attempts", "error"]
    list_filter = [("sent_at", admin.EmptyFieldListFilter)]
    search_fields = ["to_address"]
    ordering = ["-id"]
    fields = [
        "to_address",
        "subject",
        "created_at",
        "sent_at",
        "attempts",
        "next_attempt_at",
        "error",
    ]


@admin.register(LegalText)
class LegalTextAdmin(admin.ModelAdmin[LegalText]):
    """A change of meaning is a new version: save as new, under a later date."""

    list_display = ["key", "language", "version", "state", "title"]
    list_filter = ["key", "language", "state"]
    search_fields = ["title", "body"]
    ordering = ["key", "language", "-version"]
    save_as = True

    def has_delete_permission(self, request: HttpRequest, obj: LegalText | None = None) -> bool:
        return False


@admin.register(TermsAcceptance)
class TermsAcceptanceAdmin(ReadOnlyAdmin[TermsAcceptance]):
    list_display = ["accepted_at", "user", "key", "version", "language"]
    list_filter = ["key", "version"]
    list_select_related = ["user"]
    search_fields = ["user__email"]
    ordering = ["-id"]


@admin.register(ContactMessage)
class ContactMessageAdmin(admin.ModelAdmin[ContactMessage]):
    """Messages to the staff. Staff note what they answered, and change nothing of what was said."""

    list_display = ["created_at", "topic", "email", "state", "abuse_address"]
    list_filter = ["state", "topic", "language"]
    list_select_related = ["user"]
    search_fields = ["email", "name", "message", "abuse_address"]
    ordering = ["-id"]
    readonly_fields = [
        "topic",
        "name",
        "email",
        "user",
        "language",
        "created_at",
        "message",
        "abuse_address",
        "evidence",
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(
        self, request: HttpRequest, obj: ContactMessage | None = None
    ) -> bool:
        return False


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin[ApiToken]):
    """Tokens by their beginning; the hash is shown to nobody."""

    list_display = ["token_key", "name", "user", "organisation", "last_used_at", "expiry"]
    list_select_related = ["user", "organisation"]
    search_fields = ["=token_key", "name", "user__email", "organisation__name"]
    ordering = ["-id"]
    fields = [
        "token_key",
        "name",
        "user",
        "organisation",
        "scopes",
        "created",
        "last_used_at",
        "expiry",
    ]
