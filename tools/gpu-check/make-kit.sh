#!/bin/sh
# Packs what holds gpu-tracker against a real NVIDIA GPU into one folder that needs nothing else: make-kit.sh PORTABLE-FOLDER KIT-FOLDER
# The first is what tools/portable/build.sh made, for x86_64-linux-gnu.2.17. On the machine with the GPU: KIT-FOLDER/run [-o FOLDER]
set -eu
portable=$(cd "$1" && pwd) kit=$2
here=$(cd "$(dirname "$0")" && pwd)
build="$portable/x86_64-linux-gnu.2.17/build"
max_kib=40960

# What the compiler of tools/portable wants to know.
export PORTABLE_PYTHON="$portable/python/bin/python" PORTABLE_TARGET=x86_64-linux-gnu.2.17 PATH="$portable/python/bin:$PATH"
ninja -C "$build" tools/gpu-check/gpu-check tools/gpu-check/gpu-load
rm -rf "$kit"
mkdir -p "$kit/python"
cp "$build/gpu-tracker" "$build/tools/gpu-check/gpu-check" "$build/tools/gpu-check/gpu-load" "$here/gpu_check.py" "$here/gpu_check_torch.py" "$kit"
for wheel in "$portable"/dist/gputracker-*-manylinux_2_17_x86_64.whl; do
    python3 -m zipfile -e "$wheel" "$kit/python"
done
cat >"$kit/run" <<'RUN'
#!/bin/sh
# Compares gpu-tracker with this machine's NVIDIA GPU, changes no setting of it, and writes gpu-check.md and gpu-check.json.
here=$(cd "$(dirname "$0")" && pwd)
# Where containers have the driver's libraries.
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/nvidia/lib64:/usr/lib/wsl/lib"
export PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}"
python=$(command -v python3) && set -- --python "$python" "$@"
exec "$here/gpu-check" "$@"
RUN
chmod +x "$kit/run"
size_kib=$(du -sk "$kit" | cut -f1)
[ "$size_kib" -le "$max_kib" ] || { echo "make-kit.sh: $kit has $size_kib KiB, more than $max_kib" >&2; exit 1; }
echo "$kit: $size_kib KiB. On the machine with the GPU: $kit/run -o results"
