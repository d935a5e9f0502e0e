#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# All-reduces between network namespaces; bench/allreduce.c drives it.
#
#   run.sh up NET          makes the namespaces NET0 to NET3, one for each rank (10.77.0.1 to .4), and
#                          NETs, which their links end in
#   run.sh down NET
#   run.sh SYSTEM NET PROGRAMS FOLDER SLOTS [small]
#                          memif, udp, af_packet (Silken), gloo or openmpi: four ranks, once; what rank r
#                          prints goes to FOLDER/SYSTEM.r. small: many sums of 1 KB (reduce.h)
#
# Of the kernel's own traffic the links are joined by a bridge; for Silken on udp and af_packet they are taken
# out of it, and the switch is what joins them.
set -eu
what=$1
net=$2
ranks='0 1 2 3'

up() {
    ip netns add "${net}s"
    ip -n "${net}s" link add name fabric type bridge
    ip -n "${net}s" link set dev fabric up
    for r in $ranks; do
        ip netns add "$net$r"
        ip -n "${net}s" link add name "p$r" mtu 9000 type veth peer name eth0 mtu 9000 netns "$net$r"
        ip -n "${net}s" link set dev "p$r" master fabric up
        ip -n "$net$r" addr add "10.77.0.$((r + 1))/24" dev eth0
        ip -n "$net$r" link set lo up
        # as Silken's switch has the rank
        ip -n "$net$r" link set dev eth0 address "02:00:00:00:00:0$r"
        ip -n "$net$r" link set eth0 up
    done
}

down() {
    for n in s $ranks; do
        ip netns del "$net$n" 2>/dev/null || true
    done
}

bridge() { # on|off
    for r in $ranks; do
        if [ "$1" = on ]; then
            ip -n "${net}s" link set dev "p$r" master fabric
        else
            ip -n "${net}s" link set dev "p$r" nomaster
        fi
    done
}

# The ranks' addresses in Silken's job, for its kernel sockets. Open MPI must not see them.
addresses() { # add|del
    for r in $ranks; do
        ip -n "$net$r" addr "$1" "10.0.0.$((r + 1))/24" dev eth0
        [ "$1" = del ] ||
            ip -n "$net$r" neighbour replace 10.0.0.254 lladdr 02:00:00:00:00:fe dev eth0
    done
}

# Fails when any of them did.
wait_all() {
    failed=0
    for pid in "$@"; do
        wait "$pid" || failed=1
    done
    return $failed
}

case "$what" in
    up | down)
        "$what"
        exit
        ;;
esac
programs=$3
folder=$4
slots=$5
small=${6:-}
rm -f "$folder/$what".[0-3]

switch=
finish() {
    status=$?
    if [ -n "$switch" ]; then
        kill "$switch" 2>/dev/null || true
        wait "$switch" || true
    fi
    case "$what" in af_packet | udp) bridge on ;; esac
    [ "$what" != udp ] || addresses del
    exit $status
}

with_switch() { # DEVICE-OF-RANK...
    ip netns exec "${net}s" "$programs/../silken" run -c "$folder/$what.json" \
        >"$folder/$what.switch" 2>&1 &
    switch=$!
    tries=0
    until grep -q '^ready' "$folder/$what.switch"; do
        tries=$((tries + 1))
        if [ $tries -gt 200 ] || ! kill -0 "$switch" 2>/dev/null; then
            echo "the switch does not start: $(tail -n 1 "$folder/$what.switch")" >&2
            exit 1
        fi
        sleep 0.1
    done
    pids=
    for r in $ranks; do
        ip netns exec "$net$r" "$programs/reduce_silken" "$r" "$slots" "$1" $small \
            >"$folder/$what.$r" 2>&1 &
        pids="$pids $!"
        shift
    done
    # shellcheck disable=SC2086
    wait_all $pids
}

case "$what" in
    memif)
        rm -f "$folder"/memif*.sock
        trap finish EXIT
        trap 'exit 1' TERM INT
        set --
        for r in $ranks; do
            # buffers a little longer than a frame, rings a little longer than the window: what the
            # rings touch stays in the caches (docs/performance.md)
            set -- "$@" "net_memif0,role=client,id=0,rsize=10,bsize=1152,socket-abstract=no,socket=$folder/memif$r.sock"
        done
        with_switch "$@"
        ;;
    af_packet)
        bridge off
        trap finish EXIT
        trap 'exit 1' TERM INT
        with_switch afpacket:eth0 afpacket:eth0 afpacket:eth0 afpacket:eth0
        ;;
    udp)
        bridge off
        addresses add
        trap finish EXIT
        trap 'exit 1' TERM INT
        with_switch udp: udp: udp: udp:
        ;;
    gloo)
        store=$(mktemp -d "$folder/gloo.XXXXXX")
        trap 'rm -rf "$store"' EXIT
        pids=
        for r in $ranks; do
            ip netns exec "$net$r" "$programs/reduce_gloo" "$r" "10.77.0.$((r + 1))" "$store" $small \
                >"$folder/$what.$r" 2>&1 &
            pids="$pids $!"
        done
        # shellcheck disable=SC2086
        wait_all $pids
        ;;
    openmpi)
        # Each rank's namespace is a host with a name of its own, as Open MPI wants it. Its daemons
        # are started by the agent, in the namespace that the address belongs to.
        agent=$folder/agent
        cat >"$agent" <<EOF
#!/bin/sh
host=\$1
shift
n=$net\$((\${host##*.} - 1))
exec ip netns exec \$n unshare --uts sh -c "hostname \$n; \$*"
EOF
        chmod +x "$agent"
        rm -rf "$folder/openmpi"
        # yield: there may be fewer processors than ranks
        ip netns exec "${net}0" unshare --uts sh -c "hostname ${net}0; exec \"\$@\"" sh \
            mpirun --allow-run-as-root -np 4 --host 10.77.0.1,10.77.0.2,10.77.0.3,10.77.0.4 \
            --mca plm_rsh_agent "$agent" --mca pml ob1 --mca btl tcp,self \
            --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
            --mca mpi_yield_when_idle 1 --bind-to none --oversubscribe \
            --output-filename "$folder/openmpi" "$programs/reduce_mpi" $small 2>&1
        for r in $ranks; do
            cp "$folder"/openmpi/*/rank.*"$r"/stdout "$folder/openmpi.$r"
        done
        rm -rf "$folder/openmpi"
        ;;
    *)
        echo "there is no system '$what'" >&2
        exit 2
        ;;
esac
