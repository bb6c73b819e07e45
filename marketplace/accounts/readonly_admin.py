"""Admin pages that show and never change: what the ledger and the exchange have written."""

from typing import TypeVar

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

Row = TypeVar("Row", bound=Model)


class ReadOnlyAdmin(admin.ModelAdmin[Row]):
    """Rows that operations write. Staff read them here and act by the buttons, which call operations."""

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who may press this model's buttons: those who could change the row, were it editable."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Row | None = None) -> bool:
        return False


class ReadOnlyInline(admin.TabularInline[Row, Model]):
    """Rows shown under the row they belong to."""

    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def staff_id_of(request: HttpRequest) -> int:
    """Return who presses the button; the admin lets nobody in without signing in."""
    assert request.user.pk is not None
    return int(request.user.pk)
