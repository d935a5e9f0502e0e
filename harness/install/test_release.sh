#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `make release` in a repository of its own: what is refused changes nothing; a version gets its date, one commit and one
# tag. And debian/changelog as it is made of CHANGELOG.md.
. harness/control/running.sh
tree=$dir/tree
mkdir -p "$tree/packaging"
cp packaging/release.sh packaging/changelog.py "$tree/packaging"
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
today=$(date -u +%Y-%m-%d)

in_tree() {
    (cd "$tree" && "$@")
}
written() { # VERSION HEADING
    echo "$1" >"$tree/VERSION"
    printf '# Changes\n\n## %s\n\n- One change, `with` a word\n  in two lines.\n' "$2" >"$tree/CHANGELOG.md"
    in_tree git add -A && in_tree git commit -q -m state
}
released() {
    in_tree sh packaging/release.sh
}
refused() { # TEXT: and nothing has changed
    before=$(in_tree git rev-parse HEAD)$(in_tree git tag)$(in_tree git status --porcelain)
    refuses "$1" released && [ "$before" = "$(in_tree git rev-parse HEAD)$(in_tree git tag)$(in_tree git status --porcelain)" ]
}
tagged() { # VERSION
    [ "$(in_tree git rev-parse "v$1^{commit}")" = "$(in_tree git rev-parse HEAD)" ] &&
        grep -qx "## $1 ($today)" "$tree/CHANGELOG.md" && [ -z "$(in_tree git status --porcelain)" ]
}
debian() { # VERSION SECONDS
    in_tree python3 packaging/changelog.py "$1" "$2" 'A B <a@example.org>' <"$tree/CHANGELOG.md"
}

in_tree git init -q
written 1.2.0 '1.2.0, unreleased'
echo more >>"$tree/VERSION"
check 'a tree with changes' refused 'the tree has changes'
in_tree git checkout -q VERSION
check 'a state before the version' says 'silken (1.2.0~20010909014640-1) unstable; urgency=medium' debian 1.2.0 1000000000
check 'a release' released
check 'has a date, a commit and a tag' tagged 1.2.0
check 'as the package says' says 'silken (1.2.0-1) unstable; urgency=medium' debian 1.2.0 1000000000
check 'with its changes' says '  * One change, with a word in two lines.' debian 1.2.0 1000000000
check 'a version that has a tag' refused 'v1.2.0 exists'
written 1.3.0 '1.2.0, unreleased'
check 'a version without changes' refused 'VERSION is 1.3.0, and the newest version in CHANGELOG.md 1.2.0'
written 1.3.0 '1.3.0'
check 'a heading without a date' refused "CHANGELOG.md:3: a heading is"
written 1.3.0 "1.3.0 ($today)"
check 'a version that has its date already' released
check 'gets a tag' tagged 1.3.0
check 'VERSION and CHANGELOG.md agree' python3 packaging/changelog.py "$(cat VERSION)" 0 nobody <CHANGELOG.md

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
