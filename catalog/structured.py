"""What pages tell search engines, in the words of schema.org.

A price stands here only when a quote holds it and the quote is fresh: what a search engine shows
is what a visitor can buy. Addresses are whole, as search engines want them.
"""

from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from html import unescape

from django.conf import settings
from django.templatetags.static import static
from django.utils.html import strip_tags
from django.utils.translation import get_language

from billing.money import MICRO_PER_UNIT
from catalog.models import GpuModel, Quote
from catalog.queries import ONE_GPU, STALE_AFTER

Node = dict[str, object]

PICTURE = "img/social.png"
CENT = Decimal("0.01")
LEASE = "http://purl.org/goodrelations/v1#LeaseOut"
HOUR = "HUR"  # UN/CEFACT's code of an hour


def product(
    *, gpu: GpuModel, path: str, description: str, quotes: Iterable[Quote], now: datetime
) -> Node:
    """Return a GPU model with the offers of its fresh quotes for one GPU; without any, no offer."""
    node: Node = {
        "@type": "Product",
        "@id": full_address(path) + "#product",
        "name": gpu.name,
        "description": description,
        "url": full_address(path),
        "sku": gpu.slug,
        "category": gpu.segment,
        "brand": {"@type": "Brand", "name": gpu.vendor},
        "additionalProperty": [
            _property("memory", str(gpu.memory_gb), "GB"),
            _property("memory bandwidth", str(gpu.bandwidth_gb_per_s), "GB/s"),
        ],
    }
    offers = [_offer(quote, path) for quote in quotes if is_offered(quote=quote, now=now)]
    return {**node, "offers": offers} if offers else node


def is_offered(*, quote: Quote, now: datetime) -> bool:
    """Tell whether a quote is a price at which one GPU can be rented now."""
    is_fresh = now - quote.as_of <= STALE_AFTER
    return quote.gpus == ONE_GPU and quote.price_micro is not None and is_fresh


def faq(items: Iterable[tuple[str, str]]) -> Node | None:
    """Return questions with their answers (HTML is read as text); None when there are none."""
    questions = [
        {
            "@type": "Question",
            "name": question,
            "acceptedAnswer": {"@type": "Answer", "text": _text(answer)},
        }
        for question, answer in items
    ]
    if not questions:
        return None
    return {"@type": "FAQPage", "inLanguage": get_language(), "mainEntity": questions}


def breadcrumbs(items: Iterable[tuple[str, str]]) -> Node:
    """Return the way to a page: (name, path) of each step; the page itself may have no path."""
    steps = []
    for place, (name, path) in enumerate(items, 1):
        step: Node = {"@type": "ListItem", "position": place, "name": name}
        steps.append({**step, "item": full_address(path)} if path else step)
    return {"@type": "BreadcrumbList", "itemListElement": steps}


def article(
    *, title: str, description: str, path: str, published: date | None, reviewed: date
) -> Node:
    """Return a guide as an article of this site."""
    site = {"@type": "Organization", "name": settings.SITE_NAME, "url": full_address("/")}
    node: Node = {
        "@type": "Article",
        "headline": title,
        "description": description,
        "url": full_address(path),
        "inLanguage": get_language(),
        "dateModified": reviewed.isoformat(),
        "image": full_address(static(PICTURE)),
        "author": site,
        "publisher": site,
    }
    return {**node, "datePublished": published.isoformat()} if published else node


def full_address(path: str) -> str:
    return settings.PUBLIC_URL.rstrip("/") + path


def price_text(micro: int) -> str:
    """Return a price as search engines read it: at least two decimals, a point, no rounding."""
    amount = Decimal(micro) / MICRO_PER_UNIT
    cents = amount.quantize(CENT)
    return str(cents) if cents == amount else f"{amount.normalize():f}"


def _offer(quote: Quote, path: str) -> Node:
    """Return an open offer; its price is promised no longer than it counts as fresh."""
    assert quote.price_micro is not None
    price = price_text(quote.price_micro)
    fresh_until = quote.as_of + STALE_AFTER
    return {
        "@type": "Offer",
        "url": f"{full_address(path)}?currency={quote.currency}",
        "price": price,
        "priceCurrency": quote.currency,
        "priceValidUntil": fresh_until.date().isoformat(),
        "validFrom": quote.as_of.isoformat(),
        "validThrough": fresh_until.isoformat(),
        "availability": "https://schema.org/InStock",
        "businessFunction": LEASE,
        "seller": {"@type": "Organization", "name": settings.SITE_NAME},
        "priceSpecification": {
            "@type": "UnitPriceSpecification",
            "price": price,
            "priceCurrency": quote.currency,
            "unitCode": HOUR,
            "valueAddedTaxIncluded": False,
        },
    }


def _property(name: str, value: str, unit: str) -> Node:
    return {"@type": "PropertyValue", "name": name, "value": value, "unitText": unit}


def _text(html: str) -> str:
    return " ".join(unescape(strip_tags(html)).split())
