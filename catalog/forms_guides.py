"""The form in which staff write a guide."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.content.guide_figures import FIGURES, unknown_figures
from catalog.models import GuideText
from marketplace.accounts import clock


class GuideTextForm(forms.ModelForm[GuideText]):
    """Tells at its own field what is wrong; a text is published on the day it is set so."""

    class Meta:
        model = GuideText
        fields = (
            "guide",
            "language",
            "slug",
            "title",
            "short_title",
            "description",
            "body",
            "state",
            "published_on",
            "reviewed_on",
        )

    def clean_body(self) -> str:
        """Return the text with plain line ends, as files have them; browsers send others."""
        body = str(self.cleaned_data["body"]).replace("\r\n", "\n").strip() + "\n"
        unknown = unknown_figures(body)
        if unknown:
            raise forms.ValidationError(
                _("No figure is called “%(name)s”. There are: %(known)s."),
                params={"name": unknown[0], "known": ", ".join(FIGURES)},
            )
        return body

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("slug") and self._taken(slug=values["slug"]):
            self.add_error("slug", _("Another guide in this language has this slug."))
        if values.get("guide") and self._taken(guide=values["guide"]):
            self.add_error("language", _("This guide already has a text in this language."))
        if values.get("state") == GuideText.State.PUBLISHED and not values.get("published_on"):
            values["published_on"] = clock.now().date()
        return values

    def _taken(self, **values: object) -> bool:
        language = self.cleaned_data.get("language")
        others = GuideText.objects.exclude(pk=self.instance.pk)
        return others.filter(language=language, **values).exists()
