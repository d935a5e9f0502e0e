#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make install` below a DESTDIR, as from a tarball without git; what is there works from there and needs nothing
# of the tree; `make uninstall` removes it.
. harness/control/running.sh
unset MAKEFLAGS MFLAGS MAKELEVEL SILKEN_ROOT SILKEN_INCLUDE
GIT_DIR=/no/such # as if there were none
SILKEN_CACHE=$dir/cache
export GIT_DIR SILKEN_CACHE
mkdir -m 700 "$SILKEN_CACHE"
dest=$dir/there
installed=$dest/usr/bin/silken
share=$dest/usr/share/silken

make_to() { # TARGET
    make "$1" BUILD="$BUILD" PREFIX=/usr DESTDIR="$dest"
}
all_there() { # each header that programs include, each program
    for f in stages/*.h pipeline/*.h p4/*/*.p4 p4/*/*/*.p4 p4/*/README.md docs/*.md docs/learn/*.md docs/learn/*/*.* packaging/example/*.json; do
        [ ! -f "$f" ] || cmp "$f" "$share/$f" || return 1
    done
}
pages_there() { # of each command
    for command in $("$silken" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | grep -v '^silken$'); do
        [ -s "$dest/usr/share/man/man1/silken-$command.1" ] || return 1
    done
    [ -s "$dest/usr/share/man/man5/silken-switch.json.5" ]
}
from_there() { # WORD...: the installed program, in another folder
    (cd "$dir" && "$installed" "$@")
}
app() { # COMPILER SOURCE FLAG...: built with what is installed alone, and says that the environment lacks the rank
    compiler=$1
    source=$2
    shift 2
    export PKG_CONFIG_PATH="$dest/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dest" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
    (cd "$dir" && "$compiler" -Wall -Wextra -Werror -o app "$source" $(pkg-config --cflags silken) "$@") &&
        refuses 'SILKEN_RANK and SILKEN_WORKERS are not set' env -i LD_LIBRARY_PATH="$dest/usr/lib" "$dir/app"
}
only_silken() { # SYMBOL-LISTING-COMMAND...
    "$@" | awk 'NF == 3 && $2 != "A" {print $3}' | sort -u >"$dir/exported"
    [ "$(wc -l <"$dir/exported")" -ge 1 ] && ! grep -v '^silken_' "$dir/exported"
}
shims() { # each there with libsilken beside it, and with MPI's functions alone
    for mpi in openmpi mpich; do
        file=$dest/usr/lib/silken/libsilken-mpi-$mpi.so
        ldd "$file" | grep -q "libsilken.so.0 => $dest" || return 1
        nm -D --defined-only "$file" | awk '{print $3}' >"$dir/exported"
        grep -q '^MPI_Allreduce$' "$dir/exported" && ! grep -v '^MPI_' "$dir/exported" || return 1
    done
}
component() { # with libsilken two folders above it, and the one name that Open MPI looks for
    file=$dest/usr/lib/silken/openmpi/mca_coll_silken.so
    ldd "$file" | grep -q "libsilken.so.0 => $dest" &&
        [ "$(nm -D --defined-only "$file" | awk '{print $3}')" = mca_coll_silken_component ]
}
no_dpdk() {
    ldd "$dest/usr/lib/libsilken.so.0" >"$dir/needed" && ! grep rte_ "$dir/needed"
}
cat >"$dir/app.c" <<'EOF'
#include <silken/allreduce.h>
#include <silken/server.h>
#include <stdio.h>
int main(void) {
    struct silken_config config;
    struct silken_comm *comm;
    char why[256];
    int rc;
    silken_config_init(&config);
    rc = silken_open_env(&comm, why, sizeof why);
    if (rc) {
        fprintf(stderr, "%s: %s\n", silken_strerror(rc), why);
        return 1;
    }
    silken_close(comm);
    return 0;
}
EOF
cp "$dir/app.c" "$dir/app.cc"
nothing_left() {
    [ -z "$(find "$dest" ! -type d)" ]
}

check 'make install' make_to install
check 'the program' from_there --version
check 'the files' all_there
check 'the unit says where the program is' grep -q '^ExecStart=/usr/bin/silken ' "$dest/usr/lib/systemd/system/silken.service"
check 'manual pages' pages_there
check 'completion' test -s "$dest/usr/share/bash-completion/completions/silken" -a -s "$dest/usr/share/zsh/vendor-completions/_silken"
check 'the user and its folders' grep -q '^u silken ' "$dest/usr/lib/sysusers.d/silken.conf"
check 'the version of the package for Python' grep -qx "Version: $(cat VERSION)" "$share/python/silken.dist-info/METADATA"
check 'modes' [ "$(stat -c %a "$installed" "$share/p4/l2/l2.p4" | tr '\n' ' ')" = '755 644 ' ]
check 'a training' says verified from_there demo --images 1000 --steps 2 --batch 100
check 'a program of somebody' from_there build "$share/p4/l2/l2.p4" -o "$dir/l2.so"
check 'an application' app cc app.c $(PKG_CONFIG_PATH="$dest/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$dest" \
    PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --libs silken)
check 'in C++' app c++ app.cc "-L$dest/usr/lib" -lsilken
check 'in C17' app cc app.c -std=c17 "-L$dest/usr/lib" -lsilken
check 'linked statically' app cc app.c "$dest/usr/lib/libsilken.a" -ldl -lm -pthread
check 'a shim for each MPI' shims
check 'a component for Open MPI' component
check 'the library exports silken_* alone' only_silken nm -D --defined-only "$dest/usr/lib/libsilken.so.0"
check 'and so does its archive' only_silken nm -g --defined-only "$dest/usr/lib/libsilken.a"
check 'and its module' only_silken nm -D --defined-only "$dest/usr/lib/silken/libsilken-dpdk.so.0"
check 'the library has a soname' says 'Library soname: [libsilken.so.0]' readelf -d "$dest/usr/lib/libsilken.so.0"
check 'and needs no DPDK' no_dpdk
echo 'no P4' >>"$share/p4/include/tna.p4"
check 'which reads the installed files' refuses "$share/p4/include/tna.p4" \
    from_there build "$share/p4/l2/l2.p4" -o "$dir/l2.so"
check 'ps/ps.h is where PS-lite is not' test -f "$dest/usr/include/silken/ps/ps.h" -a ! -e "$dest/usr/include/ps"
check 'make uninstall' make_to uninstall
check 'nothing is left' nothing_left

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
