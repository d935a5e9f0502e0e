#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# deps.sh build|test|tools|bench|shell|tor|deb|deb-check: installs the Debian packages that building and running (build),
# testing (test), fuzzing, lint and plots (tools), the peers of the benchmarks (bench, tor), p4runtime-shell (shell),
# packing (deb) or the checks of packages (deb-check) need; does nothing when they are all there. docs/design.md says what each is for.
set -eu
case "${1:-}" in
    build)
        packages='gcc libc6-dev make pkg-config flex bison libgmp-dev libmd-dev zlib1g-dev
            libjansson-dev libdpdk-dev libpcap-dev libnghttp2-dev libssl-dev libprotobuf-c-dev protobuf-c-compiler libcap-ng-dev dataset-fashion-mnist openvswitch-source python3'
        ;;
    test)
        packages='libcmocka-dev python3 python3-scapy python3-jsonschema iproute2 tcpdump tshark chromium iputils-ping
            traceroute iperf3 tcpdump qemu-system-x86 busybox-static cpio ibverbs-utils ibverbs-providers libibverbs-dev kmod
            python3-numpy python3-torch libopenmpi-dev openmpi-bin libmpich-dev mpich python3-mpi4py
            python3-grpcio python3-protobuf protobuf-compiler python3-hpack openssl
            slurmctld slurmd slurm-client bible-kjv man-db bash-completion zsh'
        ;;
    tools) packages='clang libclang-rt-14-dev clang-format cppcheck gnuplot-nox' ;;
    bench)
        packages='dpdk-dev dpkg-dev xz-utils git iproute2 g++ libgloo-dev libopenmpi-dev
            openmpi-bin'
        ;;
    shell) packages='python3-grpcio python3-protobuf protobuf-compiler protobuf-compiler-grpc python3-ipython' ;;
    tor) packages='openvswitch-switch openvswitch-switch-dpdk iproute2 iputils-ping procps iperf3 ethtool' ;;
    deb)
        packages='git dpkg-dev debhelper dh-python bash-completion fakeroot libopenmpi-dev libmpich-dev'
        ;;
    deb-check)
        packages='git dpkg-dev debhelper dh-python bash-completion fakeroot libopenmpi-dev libmpich-dev
            lintian mmdebstrap autopkgtest reprotest disorderfs faketime buildah'
        ;;
    *)
        echo "usage: deps.sh build|test|tools|bench|shell|tor|deb|deb-check" >&2
        exit 2
        ;;
esac
exec 9<"$0" # lists that are installed at the same time wait for each other: dpkg does not
flock 9
missing=
for p in $packages; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "error: these packages are missing and only root can install them:$missing" >&2
        exit 1
    fi
    sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q
# shellcheck disable=SC2086
$sudo apt-get install -q -y --no-install-recommends $missing
