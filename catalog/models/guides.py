"""Guides: articles that staff write, one text for each language."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override


class Guide(models.Model):
    """A subject that has a text in one language or several, and the cards it speaks of."""

    key = models.SlugField(
        _("key"),
        max_length=60,
        unique=True,
        help_text=_("Names the guide here; no reader sees it."),
    )
    position = models.PositiveSmallIntegerField(
        _("position"), default=100, help_text=_("The list of guides begins with the lowest.")
    )
    use_case = models.SlugField(
        _("use case"),
        max_length=40,
        blank=True,
        help_text=_("The use-case page the guide leads on to, such as fine-tuning."),
    )
    cards = models.ManyToManyField(
        "catalog.GpuModel",
        blank=True,
        related_name="guides",
        verbose_name=_("related cards"),
        help_text=_("Shown under the text with their prices of the moment."),
    )

    class Meta:
        verbose_name = _("guide")
        verbose_name_plural = _("guides")

    def __str__(self) -> str:
        return self.key


class GuideTextQuerySet(models.QuerySet["GuideText"]):
    def published(self) -> "GuideTextQuerySet":
        return self.filter(state=GuideText.State.PUBLISHED)


class GuideText(models.Model):
    """A guide in one language. It is written for its readers, not translated word for word.

    ``loaded_digest`` is the fingerprint of the text as the project's files gave it: while it still
    fits the row, nobody has edited the row, and a newer file may replace it.
    """

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        PUBLISHED = "published", _("Published")

    guide = models.ForeignKey(
        Guide, on_delete=models.CASCADE, related_name="texts", verbose_name=_("guide")
    )
    language = models.CharField(_("language"), max_length=5, choices=settings.LANGUAGES)
    slug = models.SlugField(
        _("slug"), max_length=80, help_text=_("The last part of the page’s address.")
    )
    title = models.CharField(_("title"), max_length=120)
    short_title = models.CharField(
        _("short title"), max_length=44, help_text=_("For the browser’s tab and the path above.")
    )
    description = models.CharField(
        _("description"), max_length=170, help_text=_("One sentence for search results and lists.")
    )
    body = models.TextField(
        _("text"),
        max_length=60_000,
        help_text=_("Markdown with tables. Parts begin with ##; HTML is shown as it is typed."),
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.DRAFT)
    published_on = models.DateField(_("published on"), null=True, blank=True)
    reviewed_on = models.DateField(
        _("reviewed on"), help_text=_("The day somebody last checked every figure.")
    )
    loaded_digest = models.CharField(max_length=64, blank=True, editable=False)

    objects = GuideTextQuerySet.as_manager()

    class Meta:
        verbose_name = _("guide text")
        verbose_name_plural = _("guide texts")
        constraints = [
            models.UniqueConstraint(
                fields=["guide", "language"],
                name="catalog_guide_text_one_per_language",
                violation_error_message=_("This guide already has a text in this language."),
            ),
            models.UniqueConstraint(
                fields=["language", "slug"],
                name="catalog_guide_text_slug_free",
                violation_error_message=_("Another guide in this language has this slug."),
            ),
            models.CheckConstraint(
                condition=Q(language__in=[code for code, _name in settings.LANGUAGES]),
                name="catalog_guide_text_language_known",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "published"]),
                name="catalog_guide_text_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="published") | Q(published_on__isnull=False),
                name="catalog_guide_text_published_has_day",
                violation_error_message=_("A published text has the day of its publication."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.short_title} ({self.language}, {self.pk})"

    def get_absolute_url(self) -> str:
        """Return the page's path in the text's own language."""
        with override(self.language):
            return reverse("catalog:guide", kwargs={"slug": self.slug})

    @property
    def is_published(self) -> bool:
        return self.state == self.State.PUBLISHED
