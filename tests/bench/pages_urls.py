"""The site's addresses, and two bare views on the same server to compare its pages with."""

from django.conf.urls.i18n import i18n_patterns
from django.http import HttpRequest, HttpResponse
from django.template import Context, Engine
from django.urls import path

from catalog.models import GpuModel
from config.urls import handler400, handler404
from config.urls import urlpatterns as pages_of_the_site

ROWS = 20
TABLE = Engine().from_string(
    "<!doctype html><html lang=en><title>Table</title><h1>Table</h1><table>"
    "{% for gpu in rows %}<tr><th>{{ gpu.name }}</th><td>{{ gpu.vendor }}</td>"
    "<td>{{ gpu.architecture }}</td><td>{{ gpu.memory_gb }}</td>"
    "<td>{{ gpu.bandwidth_gb_per_s }}</td></tr>{% endfor %}</table></html>"
)


def nothing(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


def table(request: HttpRequest) -> HttpResponse:
    """Render a template of twenty rows from one query."""
    rows = GpuModel.objects.order_by("name", "id")[:ROWS]
    return HttpResponse(TABLE.render(Context({"rows": rows})))


__all__ = ["handler400", "handler404", "urlpatterns"]

# In a language, as every page is; looked for before every page.
bare = i18n_patterns(path("bare/nothing", nothing), path("bare/table", table))
urlpatterns = [*pages_of_the_site[:-1], *bare, pages_of_the_site[-1]]
