#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# image.sh KERNEL DIR [MODULE]...: DIR/initrd for a virtual machine that is this machine with other network cards, by the
# kernel of ../guests/kernel.sh in the folder KERNEL. Its root is this machine's file system, shared by QEMU for reading, under
# one in memory that takes what is written: so it has all that is installed here, and changes nothing of it. The modules and
# those that drive cards for DPDK are there for modprobe; the modules are loaded. It takes commands from its console, in this
# folder.
set -eu
here=$(pwd)
mkdir -p "$2"
kernel=$(cd "$1" && pwd)
cd "$2"
shift 2
rm -rf root
mkdir -p root/bin root/proc root/sys root/dev root/first root/below root/above root/all
release=$(basename "$kernel"/package/lib/modules/*)
depmod -b "$kernel/package" "$release"

# The module's files, each behind what it needs; none of what is built in.
files() {
    modprobe -d "$kernel/package" -S "$release" --show-depends "$1" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
}

first=
for name in virtio_pci 9p 9pnet_virtio overlay; do
    for file in $(files $name); do
        [ -e "root/first/$(basename "$file")" ] || first="$first $(basename "$file")"
        cp "$file" root/first/
    done
done
tree=root/later/usr/lib/modules/$release
mkdir -p "$tree"
for name in vfio_pci vfio_iommu_type1 af_packet "$@"; do
    for file in $(files "$name"); do
        to=$tree/${file#"$kernel/package/lib/modules/$release/"}
        mkdir -p "$(dirname "$to")"
        cp "$file" "$to"
    done
done
cp "$kernel/package/lib/modules/$release"/modules.order "$kernel/package/lib/modules/$release"/modules.builtin* "$tree/"
depmod -b root/later/usr "$release"
cp /bin/busybox root/bin/
cat >root/commands <<'END'
stty -echo
ip link set lo up
echo '@ready'
while read -r line; do
    eval "$line"
    echo "@$?"
done
poweroff -f
END
cat >root/init <<END
#!/bin/busybox sh
/bin/busybox --install /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for m in $first; do insmod /first/\$m; done
mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=524288 root /below
mount -t tmpfs above /above
mkdir /above/files /above/work
cp -r /later/. /above/files/
mount -t overlay -o lowerdir=/below,upperdir=/above/files,workdir=/above/work all /all
mount -t proc proc /all/proc
mount -t sysfs sysfs /all/sys
mount -t devtmpfs dev /all/dev
mount -t tmpfs run /all/run
for m in $*; do chroot /all modprobe \$m; done
exec </dev/ttyS0 >/dev/ttyS0 2>&1
cp /commands /all/run/commands
exec chroot /all /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C /bin/sh -c 'cd $here; . /run/commands'
END
chmod +x root/init
(cd root && find . | cpio -o -H newc --quiet | gzip -1) >initrd.tmp
rm -rf root
mv initrd.tmp initrd
