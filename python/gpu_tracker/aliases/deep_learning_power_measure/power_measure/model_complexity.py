"""The name that programs of AIPowerMeter import: what a model is made of."""

from gpu_tracker.power import _summary_of


def get_summary(model, input_size=None, device=None):
    """The numbers of parameters and, where torchinfo is installed, of multiply-adds of a forward pass of a torch model:
    `{"total_params": …, "total_mult_adds": …}`. It stays on its device."""
    return _summary_of(model, input_size)
