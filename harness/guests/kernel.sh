#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# kernel.sh DIR: the kernel of Debian's package linux-image-amd64 for virtual machines, DIR/vmlinuz, and its modules, in
# DIR/package/lib/modules. The package is unpacked, not installed: this machine keeps its own. It is fetched once; those who
# want it at the same time wait for each other.
set -eu
mkdir -p "$1"
cd "$1"
exec 9>lock
flock 9
[ ! -s vmlinuz ] || [ ! -d package/lib/modules ] || exit 0
rm -rf package vmlinuz linux-image-*.deb
package=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
[ -n "$package" ] || { echo "error: apt knows no linux-image-amd64" >&2; exit 1; }
apt-get download -q "$package" >download.log 2>&1 || { tail -n 3 download.log >&2; exit 1; }
dpkg-deb -x linux-image-*.deb package
rm linux-image-*.deb
cp package/boot/vmlinuz-* vmlinuz.tmp
# what of it is not needed takes 400 MB
rm -rf package/boot package/usr
mv vmlinuz.tmp vmlinuz
