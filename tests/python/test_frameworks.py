"""Adapters to frameworks, on fakes that write down what is asked of them."""

import contextlib
import sys
import types
from unittest import mock

import package
from gpu_tracker._frameworks import Frameworks


class Calls(list):
    """calls.to(name, value): a function that notes its name and gives `value`."""

    def to(self, name, value=None):
        def function(*arguments, **_):
            self.append(name)
            return value

        return function


def fake(**names):
    return types.SimpleNamespace(**names)


class FrameworksTest(package.PackageTest):
    def setUp(self):
        super().setUp()
        self.calls = Calls()
        self.frameworks = Frameworks()

    def present(self, **modules):
        """Only these frameworks are there."""
        others = {name: None for name in ("torch", "tensorflow", "jax", "cupy") if name not in modules}
        return mock.patch.dict(sys.modules, others | modules)

    def torch(self, available=True):
        calls = self.calls
        tensor = fake(cuda=calls.to("context"))
        return fake(
            ones=calls.to("ones", tensor),
            cuda=fake(
                is_available=calls.to("is_available", available),
                is_initialized=lambda: "context" in calls,
                empty_cache=calls.to("empty_cache"),
            ),
        )

    def test_none_is_imported(self):
        with self.present():
            self.frameworks.preload()
            self.frameworks.release()
            self.assertIsNone(sys.modules["torch"])

    def test_torch(self):
        with self.present(torch=self.torch()):
            self.frameworks.release()
            self.assertEqual(self.calls, [])  # no context yet: nothing is cached, and CUDA is not started to see that
            self.frameworks.preload()
            self.frameworks.preload()
            self.assertEqual(self.calls, ["is_available", "ones", "context"])
            self.frameworks.release()
            self.frameworks.release()
            self.assertEqual(self.calls, ["is_available", "ones", "context", "empty_cache", "empty_cache"])

    def test_torch_without_a_gpu(self):
        with self.present(torch=self.torch(available=False)):
            self.frameworks.preload()
            self.frameworks.release()
        self.assertEqual(self.calls, ["is_available"])

    def test_tensorflow(self):
        for gpus, expected in ([], []), (["GPU:0"], ["device", "ones"]):
            self.calls.clear()
            tensorflow = fake(
                config=fake(list_physical_devices=lambda kind: gpus),
                device=self.calls.to("device", contextlib.nullcontext()),
                ones=self.calls.to("ones"),
            )
            with self.present(tensorflow=tensorflow):
                frameworks = Frameworks()
                frameworks.preload()
                frameworks.release()
            self.assertEqual(self.calls, expected)

    def test_jax_keeps_what_it_compiled(self):
        jax = fake(devices=self.calls.to("devices"), clear_caches=self.calls.to("clear_caches"))
        with self.present(jax=jax):
            self.frameworks.preload()
            self.frameworks.release()
        self.assertEqual(self.calls, ["devices"])

    def test_cupy(self):
        cupy = fake(
            zeros=self.calls.to("zeros"),
            cuda=fake(driver=fake(ctxGetCurrent=lambda: "zeros" in self.calls)),
            get_default_memory_pool=lambda: fake(free_all_blocks=self.calls.to("free")),
            get_default_pinned_memory_pool=lambda: fake(free_all_blocks=self.calls.to("free pinned")),
        )
        with self.present(cupy=cupy):
            self.frameworks.release()
            self.assertEqual(self.calls, [])  # no context yet
            self.frameworks.preload()
            self.frameworks.release()
        self.assertEqual(self.calls, ["zeros", "free", "free pinned"])

    def test_one_that_fails_does_not_keep_the_others_from_it(self):
        def broken(*_):
            raise RuntimeError("no driver")

        cupy = fake(zeros=broken, get_default_memory_pool=broken, get_default_pinned_memory_pool=broken)
        with self.present(cupy=cupy, torch=self.torch(), jax=fake()):
            self.frameworks.preload()
            self.frameworks.release()
        self.assertEqual(self.calls, ["is_available", "ones", "context", "empty_cache"])


if __name__ == "__main__":
    package.main()
