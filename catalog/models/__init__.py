from catalog.models.gpus import GpuModel
from catalog.models.quotes import Quote

__all__ = ["GpuModel", "Quote"]
