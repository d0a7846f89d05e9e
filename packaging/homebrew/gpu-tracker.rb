class GpuTracker < Formula
  desc "What a program really used: RAM, CPU, GPU, energy and time"
  homepage "https://gpu-tracker.invalid"
  url "https://gpu-tracker.invalid/gpu-tracker-1.0.0.tar.gz"
  # sha256: of a published archive
  license "MIT"

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "jansson"
  depends_on :linux
  depends_on "sqlite" # opened when it is needed, as are curl, pcre2, zstd, isa-l, snappy, cairo and pango where they are installed
  depends_on "zlib"

  def install
    system "meson", "setup", "build", "-Dtests=false", "-Dpython=disabled", *std_meson_args
    system "meson", "compile", "-C", "build", "--verbose"
    system "meson", "install", "-C", "build", "--no-rebuild", "--tags", "runtime,devel,man"
  end

  test do
    system bin/"gpu-tracker", "run", "-o", "usage.json", "--", "true"
    assert_match '"exit_status": 0', (testpath/"usage.json").read
  end
end
