"""Addresses of the public pages; each is translated."""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from catalog.views.accuracy import accuracy, figures
from catalog.views.calculator import calculator
from catalog.views.compare import compare, compare_csv
from catalog.views.gpu_list import gpu_list, gpu_list_csv
from catalog.views.gpus import gpu
from catalog.views.guides import guide, guide_preview, guides
from catalog.views.home import home
from catalog.views.use_cases import use_case, use_cases

app_name = "catalog"
urlpatterns = [
    path("", home, name="home"),
    path(_("gpus/"), gpu_list, name="gpu_list"),
    path(_("gpus/export.csv"), gpu_list_csv, name="gpu_list_csv"),
    path(_("gpus/compare/"), compare, name="compare"),
    path(_("gpus/compare/export.csv"), compare_csv, name="compare_csv"),
    path(_("gpus/<slug:slug>/"), gpu, name="gpu"),
    path(_("calculator/"), calculator, name="calculator"),
    path(_("calculator/accuracy/"), accuracy, name="accuracy"),
    path(_("calculator/figures/"), figures, name="figures"),
    path(_("use-cases/"), use_cases, name="use_cases"),
    path(_("use-cases/llm-training/"), use_case, {"key": "llm-training"}, name="use_case"),
    path(_("use-cases/llm-inference/"), use_case, {"key": "llm-inference"}, name="use_case"),
    path(_("use-cases/image-video/"), use_case, {"key": "image-video"}, name="use_case"),
    path(_("use-cases/rendering/"), use_case, {"key": "rendering"}, name="use_case"),
    path(_("use-cases/scientific/"), use_case, {"key": "scientific"}, name="use_case"),
    # The last of a name answers where no key is given.
    path(_("use-cases/fine-tuning/"), use_case, {"key": "fine-tuning"}, name="use_case"),
    path("guides/", guides, name="guides"),
    path("guides/<slug:slug>/", guide, name="guide"),
    path("guides/<int:pk>/preview/", guide_preview, name="guide_preview"),
]
