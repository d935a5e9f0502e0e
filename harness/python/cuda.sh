#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# cuda.sh BUNDLE [cuda|cpu]: the backend "silken" with a current PyTorch and a GPU, on a machine that has a copy of
# this tree and the folder that bundle.sh has made, and nothing else of Silken. Ends within four minutes. Prints
# one line of JSON (trial.py says what is in it), and on stderr what failed.
# PYTHON names the interpreter (python3).
set -eu
bundle=$(cd "${1:?usage: cuda.sh BUNDLE [cuda|cpu]}" && pwd)
tree=$(cd "$(dirname "$0")/../.." && pwd)
export LD_LIBRARY_PATH_SWITCH="$bundle/lib" SILKEN_LIBRARY="$bundle/libsilken.so.0" SILKEN_ROOT="$tree"
export SILKEN_CACHE="${TMPDIR:-/tmp}/silken-cuda-cache" OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"

# DPDK looks for its drivers in one place, from where it was built
place=$(cat "$bundle/drivers/place")
if [ ! -e "$place" ] && mkdir -p "$place" 2>/dev/null; then
    cp "$bundle"/drivers/*.so* "$place/"
fi
# the program is the object in the bundle: no C compiler is needed
export CC="$bundle/cc"
exec timeout 240 "${PYTHON:-python3}" "$tree/harness/python/trial.py" --bundle "$bundle" --device "${2:-cuda}" --budget 225
