"""Guides: the list, one guide, and the preview that staff look at before they publish."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import get_language, override
from django.views.decorators.http import require_safe

from catalog.content.guide_figures import pieces_of
from catalog.content.use_cases import use_case_keys, use_case_text
from catalog.forms import chosen_currency
from catalog.models import GuideText
from catalog.queries import STALE_AFTER, gpu_rows, oldest_as_of
from catalog.queries_guides import (
    cards_of_guide,
    find_text,
    listed_guides,
    missing_languages,
    published_twins,
    reading_minutes,
    twin_by_slug,
)
from catalog.structured import article
from marketplace.accounts import clock
from marketplace.accounts.markdown import headings
from marketplace.accounts.markdown import render as render_markdown
from marketplace.accounts.public_pages import public_page

CONTENTS_LEVEL = 2  # The table of contents names the parts, not what is inside them.


@require_safe
@public_page
def guides(request: HttpRequest) -> HttpResponse:
    """List every guide; one that is not written in this language yet says so."""
    rows = listed_guides(language=_language(), with_drafts=_is_staff(request))
    return render(request, "catalog/guides.html", {"rows": rows})


@require_safe
@public_page
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a guide. The slug of another language leads to this language's page."""
    text = find_text(language=_language(), slug=slug)
    if text is None:
        twin = twin_by_slug(language=_language(), slug=slug)
        if twin is None:
            raise Http404
        return HttpResponseRedirect(twin.get_absolute_url())
    if not (text.is_published or _is_staff(request)):
        raise Http404
    return _page(request, text, is_preview=False)


@require_safe
def guide_preview(request: HttpRequest, pk: int) -> HttpResponse:
    """Show staff a text as its readers will see it, in its own language."""
    if not _is_staff(request):
        raise Http404
    text = get_object_or_404(GuideText.objects.select_related("guide"), pk=pk)
    with override(text.language):
        return _page(request, text, is_preview=True)


def _page(request: HttpRequest, text: GuideText, *, is_preview: bool) -> HttpResponse:
    choice = chosen_currency(request.GET)
    twins = published_twins(text=text)
    rows = gpu_rows(gpus=cards_of_guide(guide=text.guide), currency=choice.currency)
    as_of = oldest_as_of(rows)
    now = clock.now()
    context = {
        "text": text,
        "pieces": pieces_of(render_markdown(text.body)),
        "contents": [h for h in headings(text.body) if h.level == CONTENTS_LEVEL],
        "minutes": reading_minutes(text.body),
        "is_preview": is_preview,
        "twins": twins,
        "missing": missing_languages(text=text, twins=twins),
        "page_in": {other.language: other.get_absolute_url() for other in (text, *twins.values())},
        "page_instead": _lists(),
        "use_case": _use_case(text),
        "choice": choice,
        "rows": rows,
        "as_of": as_of,
        "is_stale": as_of is not None and now - as_of > STALE_AFTER,
        "now": now,
        "structured": None if is_preview else _structured(text),
    }
    status = 400 if choice.refused else 200
    return render(request, "catalog/guide.html", context, status=status)


def _structured(text: GuideText) -> dict[str, object]:
    return article(
        title=text.title,
        description=text.description,
        path=text.get_absolute_url(),
        published=text.published_on,
        reviewed=text.reviewed_on,
    )


def _use_case(text: GuideText) -> dict[str, str] | None:
    """Return the use case that the guide leads on to, when it has a page."""
    key = text.guide.use_case
    if key not in use_case_keys():
        return None
    page = use_case_text(
        key=key,
        language=_language(),
        site=settings.SITE_NAME,
        programme=settings.SELLER_PROGRAMME_NAME,
    )
    return {"key": key, "title": page.short_title}


def _lists() -> dict[str, str]:
    """Return the list of guides in every language: where a missing text sends its reader."""
    paths = {}
    for code, _name in settings.LANGUAGES:
        with override(code):
            paths[code] = reverse("catalog:guides")
    return paths


def _language() -> str:
    return get_language() or settings.LANGUAGE_CODE


def _is_staff(request: HttpRequest) -> bool:
    user = request.user
    return user.is_active and user.is_staff
