"""The whole site map. Pages carry their language; the API, health and metrics do not."""

from django.conf.urls.i18n import i18n_patterns
from django.contrib import admin
from django.urls import include, path
from django.utils.translation import gettext_lazy as _
from drf_spectacular.views import SpectacularAPIView

from config import health
from config.api_page import ApiDocs, api_page
from config.gallery.views import gallery
from config.metrics import metrics
from config.sitemaps import robots, sitemap

handler400 = "config.errors.bad_request"
handler403 = "config.errors.permission_denied"
handler404 = "config.errors.page_not_found"
handler500 = "config.errors.server_error"

urlpatterns = [
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("metrics", metrics, name="metrics"),
    path("sitemap.xml", sitemap, name="sitemap"),
    path("robots.txt", robots, name="robots"),
    path("webhooks/", include("billing.webhook_urls")),
    path("api/v1/", include("marketplace.accounts.api.urls")),
    path("api/v1/", include("catalog.api.urls")),
    path("api/v1/", include("marketplace.api.urls")),
    path("api/v1/docs/", ApiDocs.as_view(url_name="api-schema"), name="api-docs"),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="api-schema"),
]
urlpatterns += i18n_patterns(
    # First what is asked for most: an address is looked for from the top.
    path("", include("catalog.urls")),
    path("admin/", admin.site.urls),
    path("api/", api_page, name="api_page"),
    path(_("components/"), gallery, name="gallery"),
    path("", include("marketplace.accounts.urls")),
    path("", include("billing.urls")),
    path("", include("marketplace.urls")),
)
