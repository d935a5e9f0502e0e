#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# release.sh: gives the version that VERSION names its date in CHANGELOG.md, commits that, and tags the commit vVERSION.
# Pushes nothing. Refused, with nothing changed: a tree with changes, a version that has a tag or that is not the newest
# of CHANGELOG.md.
set -eu
fail() {
    echo "error: $1" >&2
    exit 1
}
version=$(cat VERSION)
tag=v$version
[ -z "$(git status --porcelain)" ] || fail 'the tree has changes: commit them first'
! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || fail "$tag exists: write the next version into VERSION and CHANGELOG.md"
python3 packaging/changelog.py "$version" 0 nobody <CHANGELOG.md >/dev/null
if ! python3 packaging/changelog.py --check "$version" <CHANGELOG.md 2>/dev/null; then
    sed -i "s/^## $version, unreleased\$/## $version ($(date -u +%Y-%m-%d))/" CHANGELOG.md
    git commit -q -m "Version $version" CHANGELOG.md
fi
python3 packaging/changelog.py --check "$version" <CHANGELOG.md
git tag -a -m "silken $version" "$tag"
echo "tagged $tag: $(git rev-parse --short HEAD); git push --follow-tags sends it"
