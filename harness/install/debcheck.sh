#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The packages that `make deb` has left in $BUILD/deb: lintian; an installation by apt into a root made anew, where the
# demo says "verified" and the manual opens; autopkgtest in that root; an image for containers; reprotest, which builds
# twice and compares. Needs root and Debian's archive; half an hour, most of it reprotest.
#   BUILD    the build folder (default build)
#   ONLY     one of lintian, root, autopkgtest, oci, reprotest
# Logs are in $BUILD/deb-check. A step that fails does not stop the others; the last line is "N passed, N failed".
set -u
BUILD=${BUILD:-build}
debs=$(cd "$BUILD/deb" 2>/dev/null && pwd) || { echo "error: $BUILD/deb has no packages: make deb" >&2; exit 2; }
[ -n "$(ls "$debs"/silken_*.dsc 2>/dev/null)" ] || { echo "error: $BUILD/deb has no packages: make deb" >&2; exit 2; }
logs=$BUILD/deb-check
mkdir -p "$logs"
dir=$(mktemp -d "${TMPDIR:-/tmp}/silken-deb.XXXXXX")
chmod 755 "$dir"
trap 'rm -rf --one-file-system "$dir"' EXIT
passed=0
failed=0

step() { # NAME
    [ -z "${ONLY:-}" ] || [ "$ONLY" = "$1" ] || return 0
    begun=$(date +%s)
    if "step_$1" >"$logs/$1.log" 2>&1; then
        passed=$((passed + 1))
        echo "$1: $(cat "$logs/$1.says" 2>/dev/null) ($(($(date +%s) - begun)) s)"
    else
        failed=$((failed + 1))
        echo "$1: FAILED, $logs/$1.log: $(tail -1 "$logs/$1.log")"
    fi
}

# Who packs names who answers for it (MAINTAINER of `make deb`); that the name is one to which mail can be sent, and that
# Debian has a report which asks for the package, is no property of the packages.
step_lintian() {
    changes=$(ls "$debs"/silken_*_amd64.changes)
    lintian --allow-root --tag-display-limit 0 --fail-on error,warning --display-info --suppress-tags \
        bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact,initial-upload-closes-no-bugs "$changes" ||
        return 1
    echo "no errors or warnings" >"$logs/lintian.says"
}

# Where this machine gets Debian's packages.
sources() {
    grep -ls "debian\.org/debian\b\|/debian[ /]*$\|Suites: *$(. /etc/os-release && echo "$VERSION_CODENAME")\b" \
        /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null | head -1
}
root_made() { # FOLDER
    # no calls of fsync: the root goes when the check ends
    mmdebstrap --variant=minbase --mode=root --dpkgopt=force-unsafe-io "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$1" "$(sources)"
}
# COMMAND... in the root, with /proc, /dev and /sys, in namespaces that end with it
inside() { # FOLDER COMMAND...
    root=$1
    shift
    unshare --mount --pid --fork sh -euc 'root=$1; shift
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount --rbind /sys "$root/sys"
        cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"' \
        sh "$root" "$@"
}
step_root() {
    root_made "$dir/root" || return 1
    mkdir "$dir/root/debs"
    cp "$debs"/*.deb "$dir/root/debs"
    inside "$dir/root" sh -c 'apt-get update -q && apt-get install -q -y /debs/*.deb man-db' || return 1
    inside "$dir/root" sh -c 'cd /root && silken demo --images 2000 --steps 3' | tee "$logs/demo.log"
    tail -1 "$logs/demo.log" | grep -q verified || return 1
    inside "$dir/root" man silken | grep -q 'silken-demo(1)' || return 1
    inside "$dir/root" dpkg --verify silken libsilken0 libsilken-dev python3-silken silken-doc || return 1
    inside "$dir/root" sh -c 'apt-get purge -q -y silken libsilken0 libsilken-dev python3-silken silken-doc' || return 1
    left=$(cd "$dir/root" && find . -path ./proc -prune -o -path ./root -prune -o -path ./debs -prune -o -name '*silken*' -print |
        grep -v '^\./var/lib/\(dpkg\|apt\|systemd\)\|^./var/\(log\|cache/man\|cache/apt\)')
    echo "left after purge: ${left:-nothing}"
    [ -z "$left" ] || return 1
    echo "apt install ./*.deb; $(tail -1 "$logs/demo.log"); man silken; purged without rest" >"$logs/root.says"
}
step_autopkgtest() {
    root_made "$dir/tests" || return 1
    cp /etc/resolv.conf "$dir/tests/etc/" 2>/dev/null
    rm -rf "$logs/autopkgtest"
    unshare --mount sh -euc 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; mount --rbind /sys "$1/sys"
        root=$1; shift; exec autopkgtest "$@" -- chroot "$root"' \
        sh "$dir/tests" --apt-upgrade --no-built-binaries --output-dir="$logs/autopkgtest" "$debs"/*.deb "$debs"/silken_*.dsc || return 1
    echo "$(grep -c ' PASS$' "$logs/autopkgtest/summary") tests passed: $(sed 's/ .*//' "$logs/autopkgtest/summary" | xargs)" \
        >"$logs/autopkgtest.says"
}
step_oci() {
    sh packaging/oci.sh "$debs" "$dir/silken.oci.tar" || return 1
    echo "$(stat -c %s "$dir/silken.oci.tar") bytes" >"$logs/oci.says"
}
# Builds in two folders, with other times, file orders, locales, users' names and masks.
step_reprotest() {
    mkdir "$dir/source"
    dpkg-source -x "$debs"/silken_*.dsc "$dir/source/tree" || return 1
    reprotest --verbosity 1 --no-diffoscope --vary=-user_group,-domain_host,-kernel,-num_cpus \
        --store-dir "$dir/built" -c 'dpkg-buildpackage -us -uc -b' "$dir/source/tree" '../*.deb' -- null || return 1
    echo "both builds equal: $(cd "$dir/built/experiment-1" && find . -name '*.deb' | wc -l) packages" >"$logs/reprotest.says"
}

rm -f "$logs"/*.says
for name in lintian root autopkgtest oci reprotest; do
    step $name
done
printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
