#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deb.sh FOLDER: Debian packages of the last commit, in FOLDER, which is made anew: a source package, and what
# dpkg-buildpackage builds of it. Needs no network and no rights; the packages of `harness/deps.sh build` and
# `harness/deps.sh deb` must be there. What the same commit is built to is the same, byte for byte.
#   MAINTAINER   the field's value, who answers for these packages; else the author of the commit
#   ONLY_SOURCE=1  the source package alone
set -eu
out=${1:?usage: deb.sh FOLDER}
git rev-parse --verify -q HEAD >/dev/null || { echo "error: packages are built of a commit: this is not a git checkout" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "note: packages have what is committed; the tree has changes" >&2
maintainer=${MAINTAINER:-$(git log -1 --format='%an <%ae>')}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out"
out=$(cd "$out" && pwd)
git show HEAD:CHANGELOG.md >"$out/changes"
python3 packaging/changelog.py "$(git show HEAD:VERSION)" "$SOURCE_DATE_EPOCH" "$maintainer" <"$out/changes" >"$out/changelog"
rm "$out/changes"
version=$(sed -n '1s/^silken (\(.*\)-1) .*/\1/p' "$out/changelog")
# the same name for every version, so that compilers that cache see the same command lines
tree=$out/tree
git archive --prefix=tree/ HEAD | gzip -n9 >"$out/silken_$version.orig.tar.gz"
tar -xzf "$out/silken_$version.orig.tar.gz" -C "$out" --no-same-owner
cp -R "$tree/packaging/debian" "$tree/debian"
mv "$out/changelog" "$tree/debian/changelog"
sed -i "s/@MAINTAINER@/$maintainer/" "$tree/debian/control"
cd "$tree"
# A make above us passes on flags and variables of its own.
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD SANITIZE FUZZ V Q CC CFLAGS CPPFLAGS LDFLAGS SILKEN_ROOT SILKEN_INCLUDE
if [ "${ONLY_SOURCE:-}" ]; then
    dpkg-buildpackage -us -uc -S -d
else
    export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-parallel=$(nproc) noautodbgsym}"
    dpkg-buildpackage -us -uc
    cd "$out"
    rm -rf "$tree"
fi
