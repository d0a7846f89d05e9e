"""The name that programs of AIPowerMeter import: what a model is made of."""

from __future__ import annotations

from gpu_tracker.power import _summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def get_summary(model: Any, input_size: Any = None, device: Any = None) -> dict[str, Any]:
    """The numbers of parameters and, where torchinfo is installed, of multiply-adds of a forward pass of a torch model:
    `{"total_params": …, "total_mult_adds": …}`. It stays on its device."""
    return _summary_of(model, input_size)
