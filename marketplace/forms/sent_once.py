"""What forms have in common that are sent once: a hidden key, and what the page showed."""

from django import forms
from django.utils.translation import gettext_lazy as _


class SentOnceForm(forms.Form):
    """A form whose hidden fields are the page's own: a person cannot mend them one by one."""

    key = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def full_clean(self) -> None:
        """Say once, above the form, that its hidden part is missing or was changed."""
        super().full_clean()
        hidden = [field.name for field in self.hidden_fields()]
        broken = [name for name in hidden if name in self.errors]
        for name in broken:
            del self.errors[name]
        if broken:
            self.add_error(None, _("This form is incomplete or was changed: open it again."))
