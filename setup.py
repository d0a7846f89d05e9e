"""Builds the Python package: libgputracker, the extension module over it, and the command that the package brings.

Needs a C compiler and the headers of Python, jansson, SQLite and zlib: tools/install-deps.sh installs them.
Everything else that is to be said of the package is in pyproject.toml.
"""

import concurrent.futures
import os
import pathlib
import re

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).parent
VERSION = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text()).group(1)
FLAGS = ["-std=gnu17", "-O2", "-fvisibility=hidden"]
MACROS = [("_GNU_SOURCE", None), ("GPUT_VERSION", f'"{VERSION}"')]
LIBRARIES = ["jansson", "sqlite3", "z", "m", "dl", "pthread"]


def sources(pattern):
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


class BuildPython(build_py):
    """The packages, and the line that puts their aliases of older packages at the end of the path: a package of that name
    that is installed itself stays the one that is imported."""

    _LINE = "gpu_tracker_aliases.pth"

    def run(self):
        super().run()
        if not self.editable_mode:
            self.copy_file(str(ROOT / "python" / self._LINE), self.build_lib)

    def get_outputs(self, include_bytecode=True):
        return [*super().get_outputs(include_bytecode), os.path.join(self.build_lib, self._LINE)]


class Build(build_ext):
    """The library once, for the module and for the command, with all cores."""

    def build_extension(self, extension):
        library = self._compile(sources("src/*/*.c"), ["include", "src"])
        extension.extra_objects = library
        super().build_extension(extension)
        self._link_command(library)

    def _compile(self, files, folders):
        def compile_one(file):
            return self.compiler.compile(
                [file], output_dir=self.build_temp, macros=MACROS, include_dirs=folders, extra_postargs=FLAGS
            )

        folders = [str(ROOT / folder) for folder in folders]
        for file in files:  # not left to the threads, which would collide in it
            (pathlib.Path(self.build_temp) / file).parent.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return [object_file for made in pool.map(compile_one, files) for object_file in made]

    def _command_path(self):
        return pathlib.Path(self.get_ext_fullpath(self.extensions[0].name)).with_name("gpu-tracker")

    def _link_command(self, library):
        path = self._command_path()
        command = self._compile(sources("cli/*.c"), ["include"])
        self.compiler.link_executable(command + library, path.name, output_dir=str(path.parent), libraries=LIBRARIES)

    def get_outputs(self):
        return [*super().get_outputs(), str(self._command_path())]


setup(
    version=VERSION,
    ext_modules=[
        Extension(
            "gpu_tracker._native",
            sources("python/native/*.c"),
            include_dirs=["include"],
            define_macros=[*MACROS, ("Py_LIMITED_API", "0x030b0000")],
            libraries=LIBRARIES,
            extra_compile_args=FLAGS,
            # Only the module's entry is seen from outside: another copy of the library in the process stays apart.
            extra_link_args=[f"-Wl,--version-script={ROOT / 'python/native/exports.map'}"],
            depends=[*sources("python/native/*.h"), *sources("include/gputracker/*.h")],
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": Build, "build_py": BuildPython},
    # "build" is Meson's.
    options={"bdist_wheel": {"py_limited_api": "cp311"}, "build": {"build_base": "build-python"}},
)
