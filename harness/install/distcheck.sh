#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What git archive packs of the last commit is built elsewhere, without git, and installed below a DESTDIR; a training
# runs from there in an empty environment; `make uninstall` leaves nothing. Some minutes: it builds everything anew.
# What is installed from a tree is in test_install.sh.
. harness/control/running.sh
unset MAKEFLAGS MFLAGS MAKELEVEL SILKEN_ROOT SILKEN_INCLUDE
tree=$dir/tree
dest=$dir/there
mkdir "$tree"

unpacked() {
    git archive HEAD >"$dir/tree.tar" && tar -xf "$dir/tree.tar" -C "$tree" && [ ! -e "$tree/.git" ]
}
clean() { # COMMAND...: where nothing says where a tree is
    (cd "$tree" && env -i PATH="$PATH" HOME="$dir" SILKEN_CACHE="$dir/cache" "$@")
}
make_to() { # TARGET
    clean make "$1" PREFIX=/usr DESTDIR="$dest"
}
trained() {
    (cd "$dir" && says verified env -i PATH=/usr/bin:/bin HOME="$dir" SILKEN_CACHE="$dir/cache" \
        "$dest/usr/bin/silken" demo --images 1000 --steps 2 --batch 100)
}
nothing_left() {
    [ -z "$(find "$dest" ! -type d)" ]
}

mkdir -m 700 "$dir/cache"
check 'git archive HEAD | tar x' unpacked
check 'make install DESTDIR=... from there' make_to install
check 'the version' says "$(cat "$tree/VERSION")" "$dest/usr/bin/silken" --version
mv "$tree" "$dir/away" # the installed program needs nothing of it
check 'a training with what is installed' trained
mv "$dir/away" "$tree"
check 'make uninstall' make_to uninstall
check 'nothing is left' nothing_left

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
