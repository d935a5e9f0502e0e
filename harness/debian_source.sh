#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# debian_source.sh PACKAGE FOLDER: unpacks the upstream part of Debian's source package of the very version of PACKAGE
# that is installed into FOLDER. Needs no root and leaves the system's package lists alone.
set -eu
package=$1
folder=$2
version=$(dpkg-query -W -f='${source:Version}' "$package")
source=$(dpkg-query -W -f='${source:Package}' "$package")
work=$folder/apt
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
work=$(cd "$work" && pwd)
# the places that this machine has packages from have their sources, too
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(SIGNED_BY)' \
    'Created-By: Packages' | sort -u | while read -r uri release component key; do
    case $key in /*) signed="[signed-by=$key]" ;; *) signed= ;; esac # else apt's own keys
    echo "deb-src $signed $uri $release $component"
done >"$work/sources.list"
apt() {
    apt-get -q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=- \
        -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" \
        -o APT::Sandbox::User=root "$@"
}
(
    cd "$work"
    apt update
    apt source --download-only "$source=$version"
)
tar -x -f "$(echo "$work/$source"_*.orig.tar.*z)" -C "$folder" --strip-components=1
rm -rf "$work"
