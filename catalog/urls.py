"""Addresses of the public pages; each is translated."""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from catalog.views.gpus import gpu, gpu_list
from catalog.views.home import home
from catalog.views.use_cases import use_case

app_name = "catalog"
urlpatterns = [
    path("", home, name="home"),
    path(_("gpus/"), gpu_list, name="gpu_list"),
    path(_("gpus/<slug:slug>/"), gpu, name="gpu"),
    path(_("use-cases/fine-tuning/"), use_case, {"key": "fine-tuning"}, name="use_case"),
]
