#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# oci.sh DEBS ARCHIVE: an image for containers, as an OCI archive, of the packages in the folder DEBS in a root of Debian
# made anew: `silken` is its entry, with `demo` where nothing else is said. Needs root and Debian's archive.
set -eu
debs=${1:?usage: oci.sh DEBS ARCHIVE}
archive=${2:?usage: oci.sh DEBS ARCHIVE}
version=$(cat VERSION)
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
sources=$(grep -l "Suites: *$codename\b" /etc/apt/sources.list.d/*.sources | head -1)
dir=$(mktemp -d "${TMPDIR:-/tmp}/silken-oci.XXXXXX")
# storage of its own: what others have built is not touched, and nothing stays
buildah() {
    command buildah --root "$dir/storage" --runroot "$dir/run" --storage-driver vfs "$@"
}
container=
trap '[ -z "$container" ] || buildah rm "$container" >/dev/null; rm -rf --one-file-system "$dir"' EXIT
mkdir "$dir/debs"
cp "$debs"/silken_*.deb "$debs"/libsilken0_*.deb "$debs"/python3-silken_*.deb "$dir/debs"
mmdebstrap --variant=minbase --mode=root --include=dataset-fashion-mnist \
    --customize-hook="copy-in $dir/debs /" \
    --customize-hook='chroot "$1" sh -c "apt-get install -q -y --no-install-recommends /debs/*.deb"' \
    --customize-hook='rm -rf "$1/debs"' \
    "$codename" "$dir/root.tar" "$sources"
container=$(buildah from scratch)
buildah add --quiet "$container" "$dir/root.tar" /
rm "$dir/root.tar"
buildah config --entrypoint '["/usr/bin/silken"]' --cmd demo --env SILKEN_CACHE=/var/cache/silken \
    --label "org.opencontainers.image.title=silken" --label "org.opencontainers.image.version=$version" \
    --label "org.opencontainers.image.licenses=Apache-2.0" --volume /var/cache/silken "$container"
buildah run --isolation chroot "$container" -- /usr/bin/silken demo --images 1000 --steps 2 --batch 100 | tee "$dir/demo"
tail -1 "$dir/demo" | grep -q verified
buildah commit --quiet "$container" silken >/dev/null
rm -f "$archive"
buildah push --quiet silken "oci-archive:$archive:silken:$version"
echo "$archive: silken:$version"
