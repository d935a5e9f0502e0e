#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make install` below a DESTDIR, as from a tarball without git; what is there works from there and needs nothing
# of the tree; `make uninstall` removes it.
. harness/control/running.sh
unset MAKEFLAGS MFLAGS MAKELEVEL SILKEN_ROOT SILKEN_INCLUDE
GIT_DIR=/nonexistent # as if there were none
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
    for f in stages/*.h pipeline/*.h p4/*/*.p4 p4/*/*/*.p4 p4/*/README.md docs/*.md; do
        [ ! -f "$f" ] || cmp "$f" "$share/$f" || return 1
    done
}
from_there() { # WORD...: the installed program, in another folder
    (cd "$dir" && "$installed" "$@")
}
nothing_left() {
    [ -z "$(find "$dest" ! -type d)" ]
}

check 'make install' make_to install
check 'the program' from_there --version
check 'the files' all_there
check 'the unit says where the program is' grep -q '^ExecStart=/usr/bin/silken ' "$dest/usr/lib/systemd/system/silken.service"
check 'modes' [ "$(stat -c %a "$installed" "$share/p4/l2/l2.p4" | tr '\n' ' ')" = '755 644 ' ]
check 'a training' says verified from_there demo --images 1000 --steps 2 --batch 100
check 'a program of somebody' from_there build "$share/p4/l2/l2.p4" -o "$dir/l2.so"
echo 'no P4' >>"$share/p4/include/tna.p4"
check 'which reads the installed files' refuses "$share/p4/include/tna.p4" \
    from_there build "$share/p4/l2/l2.p4" -o "$dir/l2.so"
check 'make uninstall' make_to uninstall
check 'nothing is left' nothing_left

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
