"""Load the GPU models of the sizing table, and the guides of the project."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.operations.gpus import load_gpu_models
from catalog.operations.guides import load_guides


class Command(BaseCommand):
    """Create or refresh the catalogue. Safe to repeat; what staff edited stays."""

    help = "Create or refresh the GPU models from the sizing table, and the project's guides."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        self.stdout.write(f"{load_gpu_models()} GPU models")
        guides = load_guides()
        self.stdout.write(
            f"{guides.created} guide texts created, {guides.refreshed} refreshed,"
            f" {guides.unchanged} unchanged"
        )
        for name in guides.kept:
            self.stdout.write(f"{name}: left as staff edited it")
