# Copyright gpu-tracker maintainers. SPDX-License-Identifier: MIT

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class GpuTracker(MesonPackage):
    """What a program really used: RAM, CPU, GPU, energy and time."""

    homepage = "https://gpu-tracker.invalid"
    url = "https://gpu-tracker.invalid/gpu-tracker-1.0.0.tar.gz"

    license("MIT")

    # spack checksum gpu-tracker adds the checksum of a published archive; spack dev-build gpu-tracker@1.0.0 needs none.
    version("1.0.0")

    variant("training", default=True, description="Analyze training profiles")
    variant("plots", default=True, description="Plots as PDF and PNG")

    depends_on("c", type="build")
    depends_on("meson@0.61:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("zlib-api")
    # Opened when they are needed; the rpath of the command finds them.
    depends_on("sqlite")
    depends_on("zstd")
    depends_on("pcre2")
    depends_on("curl")
    depends_on("snappy")
    depends_on("cairo+pdf+png", when="+plots")
    depends_on("pango", when="+plots")

    def meson_args(self):
        training = "true" if self.spec.satisfies("+training") else "false"
        return ["-Dtests=false", "-Dpython=disabled", "-Db_lto=true", f"-Dtraining={training}"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.join("gpu-tracker"))("run", "--", "true")
