"""Load the GPU models of the sizing table."""

from typing import Any

from django.core.management.base import BaseCommand

from catalog.operations.gpus import load_gpu_models


class Command(BaseCommand):
    """Create or refresh the catalogue. Safe to repeat."""

    help = "Create or refresh the GPU models from the sizing table."

    def handle(self, *_arguments: Any, **_options: Any) -> None:
        self.stdout.write(f"{load_gpu_models()} GPU models")
