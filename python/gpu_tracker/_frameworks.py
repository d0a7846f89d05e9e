"""Frameworks that keep GPU RAM for themselves: giving back what they only cache, and loading their context before it would
be charged to somebody. One small adapter each; only those that the program has imported are ever touched."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    class _Adapter(Protocol):
        module: str

        def preload(self, module: Any, /) -> None: ...
        def release(self, module: Any, /) -> None: ...


class _Torch:
    module = "torch"

    def preload(self, torch: Any) -> None:
        if torch.cuda.is_available():
            torch.ones((1, 1)).cuda()

    def release(self, torch: Any) -> None:
        # Not is_available(): that starts CUDA, and a program that starts it before it forks cannot use it in its children.
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()


class _TensorFlow:
    module = "tensorflow"

    def preload(self, tensorflow: Any) -> None:
        if tensorflow.config.list_physical_devices("GPU"):
            with tensorflow.device("GPU:0"):
                tensorflow.ones((1, 1))

    def release(self, tensorflow: Any) -> None:
        pass  # it has no way to give its cache back


class _Jax:
    module = "jax"

    def preload(self, jax: Any) -> None:
        jax.devices()

    def release(self, jax: Any) -> None:
        pass  # what it reserved it keeps; arrays go with their last reference; its other caches hold compiled functions


class _CuPy:
    module = "cupy"

    def preload(self, cupy: Any) -> None:
        cupy.zeros(1)

    def release(self, cupy: Any) -> None:
        # No context, nothing cached, and the pool would start CUDA. (Before CUDA has started, this raises.)
        if not cupy.cuda.driver.ctxGetCurrent():
            return
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.get_default_pinned_memory_pool().free_all_blocks()


_ADAPTERS: tuple[_Adapter, ...] = (_Torch(), _TensorFlow(), _Jax(), _CuPy())


class Frameworks:
    """Those of this process. Who has loaded what is remembered: a context is loaded once."""

    def __init__(self) -> None:
        self._loaded: set[str] = set()

    def _present(self) -> Iterator[tuple[_Adapter, Any]]:
        for adapter in _ADAPTERS:
            module = sys.modules.get(adapter.module)
            if module is not None:
                yield adapter, module

    def preload(self) -> None:
        """Loads the context of each that is there and was not loaded yet."""
        for adapter, module in self._present():
            if adapter.module not in self._loaded:
                self._loaded.add(adapter.module)
                _try(adapter.preload, module)

    def release(self) -> None:
        """Gives back what is only cached."""
        for adapter, module in self._present():
            _try(adapter.release, module)


def _try(function: Callable[[Any], None], module: Any) -> None:
    """A framework that is half imported or has no GPU costs nothing but its own part."""
    try:
        function(module)
    except Exception:
        pass
