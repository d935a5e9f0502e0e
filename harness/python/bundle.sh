#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# bundle.sh OUT: a folder with all that a machine without Silken's packages needs for harness/python/cuda.sh: the
# switch with its libraries but for the C library, which must be as new there as here or newer (Debian 12: 2.36);
# p4/switchml, compiled; libsilken for the workers. Run it in a built tree. BUILD names the build folder (build), MARCH the processors that the program is for.
set -eu
out=${1:?usage: bundle.sh OUT}
build=${BUILD:-build}
mkdir -p "$out/lib" "$out/drivers"
cp "$build/silken" "$build/libsilken.so.0" "$out/"
strip "$out/silken"
"$build/silken" build --march "${MARCH:-x86-64-v3}" -o "$out/switchml.so" p4/switchml/switchml.p4

libraries() { # FILE...: the paths of what they are linked with
    ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u
}

# DPDK opens its drivers by itself; the switch's buffers need the one that is a ring
drivers=$(dirname "$(find /usr/lib/*/dpdk -name 'librte_mempool_ring.so.*' | head -1)")
cp "$drivers"/librte_mempool_ring.so.* "$out/drivers/"
realpath "$drivers" >"$out/drivers/place"
cat >"$out/cc" <<'END'
#!/bin/sh
# stands for a C compiler: all that the switch compiles there is the program that lies beside
[ "$1" != --version ] || exec echo "the object of this bundle"
while [ $# -gt 1 ]; do
    [ "$1" != -o ] || exec cp "$(dirname "$0")/switchml.so" "$2"
    shift
done
exit 1
END
chmod +x "$out/cc"
for file in $(libraries "$build/silken" "$out"/drivers/*.so* "$out/switchml.so"); do
    case $file in
        */libc.so.* | */libm.so.* | */libpthread.so.* | */libdl.so.*) ;;
        *) cp -L "$file" "$out/lib/" ;;
    esac
done
du -sm "$out" | awk '{ print "bundle: " $1 " MiB" }'
