#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# image.sh DIR [PROGRAM]...: a kernel with RDMA over Ethernet (rdma_rxe) for virtual machines, out of Debian's package
# linux-image-amd64 (kernel.sh; the image for clouds has no RDMA), and an initial file system: busybox, the modules, rdma of
# iproute2, lscpu, ibv_uc_pingpong and ibv_devinfo of ibverbs-utils, the programs, and the libraries that all of them need. It
# takes commands from its console. Makes DIR/vmlinuz and DIR/initrd; the kernel is fetched once.
set -eu
out=$1
shift
here=$(pwd)
sh "$(dirname "$0")/kernel.sh" "$out"
mkdir -p "$out/root"
cd "$out"
rm -rf root
mkdir -p root/bin root/proc root/sys root/dev root/tmp root/modules root/etc root/lib64
modules=

# The module behind what it needs; what is not there is built in.
add() {
    case " $modules " in *" $1 "*) return ;; esac
    file=$(find package/lib/modules -name "$(echo "$1" | tr - _).ko" -o -name "$(echo "$1" | tr _ -).ko" | head -n 1)
    [ -n "$file" ] || return 0
    for need in $(modinfo -F depends "$file" | tr , ' '); do add "$need"; done
    # the recursion has used the variable
    file=$(find package/lib/modules -name "$(echo "$1" | tr - _).ko" -o -name "$(echo "$1" | tr _ -).ko" | head -n 1)
    cp "$file" "root/modules/$1.ko"
    modules="$modules $1"
}

# The file at its place, and the libraries that it is linked with.
put() {
    mkdir -p "root$(dirname "$1")"
    cp -L "$1" "root$1"
    ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
        [ -e "root$library" ] && continue
        mkdir -p "root$(dirname "$library")"
        cp -L "$library" "root$library"
    done
}

for name in virtio_pci virtio_net af_packet crc32_pclmul crc32c_generic crc32_generic rdma_rxe ib_uverbs; do add $name; done
cp /bin/busybox root/bin/
put "$(command -v rdma)"
ln -sf "$(command -v rdma)" root/bin/rdma
for tool in ibv_uc_pingpong ibv_devinfo; do put "$(command -v $tool)" && ln -sf "$(command -v $tool)" root/bin/$tool; done
provider=$(find /usr/lib -name 'librxe-rdmav*.so' | head -n 1)
put "$provider"
mkdir -p root/etc/libibverbs.d
cp /etc/libibverbs.d/rxe.driver root/etc/libibverbs.d/
put "$(command -v lscpu)" && ln -sf "$(command -v lscpu)" root/bin/lscpu
for program in "$@"; do
    case $program in /*) ;; *) program=$here/$program ;; esac
    put "$program"
    ln -sf "$program" "root/bin/$(basename "$program")"
done
cat >root/init <<END
#!/bin/busybox sh
/bin/busybox --install /bin 2>/dev/null
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for m in $modules; do insmod /modules/\$m.ko; done
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
rm -rf root
mv initrd.tmp initrd
