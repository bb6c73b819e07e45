"""What search engines are told to read: every public page, in every language it exists in."""

from datetime import date
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.contrib.sitemaps.views import sitemap as read_sitemap
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from catalog.content.use_cases import use_case_keys
from catalog.models import GpuModel, Guide
from catalog.queries import listed_gpus
from config.templatetags.languages import DEFAULT_LANGUAGE
from marketplace.accounts.models.legal import LegalKey

Named = tuple[str, dict[str, str]]

# Pages of one kind each, by the names of their routes.
PAGES = (
    "catalog:home",
    "catalog:gpu_list",
    "catalog:calculator",
    "catalog:accuracy",
    "catalog:figures",
    "catalog:use_cases",
    "catalog:guides",
    "marketplace:market",
    "marketplace:rule",
    "marketplace:method",
    "marketplace:sell",
    "marketplace:status",
    "api_page",
)


class PublicSitemap(Sitemap[Any]):
    """Pages with their translations, at the site's public address."""

    i18n = True
    alternates = True
    protocol = None

    def get_domain(self, site: object = None) -> str:
        return urlsplit(settings.PUBLIC_URL).netloc

    def get_protocol(self, protocol: str | None = None) -> str:
        return urlsplit(settings.PUBLIC_URL).scheme

    def get_urls(
        self, page: int | str = 1, site: Any = None, protocol: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the pages; readers of other languages are sent where the pages send them."""
        urls = super().get_urls(page=page, site=site, protocol=protocol)
        for url in urls:
            alternates = url["alternates"]
            default = next(
                (a for a in alternates if a["lang_code"] == DEFAULT_LANGUAGE), alternates[0]
            )
            alternates.append({**default, "lang_code": "x-default"})
        return urls


class PageSitemap(PublicSitemap):
    def items(self) -> list[Named]:
        use_cases = [("catalog:use_case", {"key": key}) for key in use_case_keys()]
        legal = [("accounts:legal", {"key": key}) for key in LegalKey.values]
        return [*((name, {}) for name in PAGES), *use_cases, *legal]

    def location(self, item: Named) -> str:
        name, arguments = item
        return reverse(name, kwargs=arguments)


class GpuSitemap(PublicSitemap):
    """Each model's page, and its market."""

    def items(self) -> list[tuple[str, GpuModel]]:
        names = ("catalog:gpu", "marketplace:market_gpu")
        return [(name, gpu) for gpu in listed_gpus() for name in names]

    def location(self, item: tuple[str, GpuModel]) -> str:
        name, gpu = item
        return reverse(name, kwargs={"slug": gpu.slug})


class GuideSitemap(PublicSitemap):
    """Guides, only in the languages whose text is published."""

    def items(self) -> list[Guide]:
        guides = Guide.objects.prefetch_related("texts").order_by("position", "key")
        return [guide for guide in guides if self.get_languages_for_item(guide)]

    def get_languages_for_item(self, item: Guide) -> list[str]:
        return sorted(text.language for text in item.texts.all() if text.is_published)

    def location(self, item: Guide) -> str:
        """Return the path of the text in the language that is asked for now."""
        wanted = get_language()
        return next(text.get_absolute_url() for text in item.texts.all() if text.language == wanted)

    def lastmod(self, item: Guide) -> date:
        return max(text.reviewed_on for text in item.texts.all() if text.is_published)


SITEMAPS: dict[str, type[Sitemap[Any]] | Sitemap[Any]] = {
    "pages": PageSitemap,
    "gpus": GpuSitemap,
    "guides": GuideSitemap,
}


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """List every public page with its translations."""
    return read_sitemap(request, sitemaps=SITEMAPS)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Tell search engines where to look; a demo's prices are nobody's to find."""
    root = settings.PUBLIC_URL.rstrip("/")
    if settings.IS_DEMO:
        lines = ["User-agent: *", "Disallow: /"]
    else:
        closed = [f"Disallow: /{code}/admin/" for code, _name in settings.LANGUAGES]
        lines = [
            "User-agent: *",
            *closed,
            "Disallow: /webhooks/",
            "",
            f"Sitemap: {root}/sitemap.xml",
        ]
    return HttpResponse("\n".join(lines) + "\n", content_type="text/plain; charset=utf-8")
