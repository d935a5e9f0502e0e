#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# vm_kernel.sh DIR: a kernel and its network modules for the tests' virtual machine, out of Debian's package
# (which is not installed: this machine keeps its own), and an initial file system with busybox that takes
# commands from its console. Makes DIR/vmlinuz and DIR/initrd, unless they are there.
set -eu
out=$1
[ -s "$out/vmlinuz" ] && [ -s "$out/initrd" ] && exit 0
rm -rf "$out"
mkdir -p "$out/root"
cd "$out"
package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
[ -n "$package" ] || { echo "error: apt knows no linux-image-cloud-amd64" >&2; exit 1; }
apt-get download -q "$package" >download.log 2>&1 || { tail -n 3 download.log >&2; exit 1; }
dpkg-deb -x linux-image-*.deb package
rm linux-image-*.deb
modules=
# each behind what it needs
for name in virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci failover net_failover virtio_net \
    tls bonding; do
    file=$(find package/lib/modules -name "$name.ko")
    [ -n "$file" ] || continue # built in
    cp "$file" root/
    modules="$modules $name"
done
mkdir -p root/bin root/proc root/sys root/dev
cp /bin/busybox root/bin/
cat >root/init <<END
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for m in $modules; do insmod /\$m.ko; done
exec </dev/ttyS0 >/dev/ttyS0 2>&1
stty -echo
ip link set lo up
echo '@ready'
while read -r line; do
    eval "\$line"
    echo "@\$?"
done
poweroff -f
END
chmod +x root/init
(cd root && find . | cpio -o -H newc --quiet | gzip -1) >initrd.tmp
mv package/boot/vmlinuz-* vmlinuz
rm -rf package root
mv initrd.tmp initrd
