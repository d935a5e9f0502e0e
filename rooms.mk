# SPDX-License-Identifier: Apache-2.0
#
# The rooms of the house and which room may include which (docs/design.md, section 2).
#
#   room/NAME   := the room's folders, without the folders in them, and single files
#   face/NAME   := its public face: the header whose opening comment says what the room is for and lists its files
#   arrows/NAME := rooms that it may include; through them also what those may
#
# A file belongs to the room that names it, or else to the room that names its folder. `make lint` checks every
# #include by this table (harness/rooms/arrows.py), and the Makefile links a test with its room and the rooms
# below. Rooms without folders are places for what comes later.

# ---- leaves ----
room/base := base
face/base := base/base.h
# wire formats that hosts and control planes speak
room/wire := wire
face/wire := wire/switchml.h
arrows/wire := base
arrows/base :=
# the protocol by which the members of a job begin together: messages, member, coordinator
room/session := session
face/session := session/message.h
arrows/session := base
# packets through shared memory, between processes that do not trust each other
room/memif := memif
face/memif := memif/memif.h
arrows/memif := base
# frames on interfaces of the kernel's
room/af_packet := af_packet
face/af_packet := af_packet/af_packet.h
arrows/af_packet := base
# what a process must do for DPDK to work: starting it, and guards for its drivers
room/dpdk := dpdk
face/dpdk := dpdk/eal.h
arrows/dpdk := base
# which frames somebody wants: expressions in tcpdump's language
room/filter := filter
face/filter := filter/filter.h
arrows/filter := base

# ---- the compiler ----
room/compiler/base := compiler/base
face/compiler/base := compiler/base/base.h
arrows/compiler/base :=
room/compiler/syntax := compiler/syntax
face/compiler/syntax := compiler/syntax/syntax.h
arrows/compiler/syntax := compiler/base
room/compiler/check := compiler/check
face/compiler/check := compiler/check/check.h
arrows/compiler/check := compiler/syntax
room/compiler/ir := compiler/ir
face/compiler/ir := compiler/ir/ir.h
arrows/compiler/ir := compiler/base
# limits of the engine are constants in headers of stages/
room/compiler/rules := compiler/rules
face/compiler/rules := compiler/rules/rules.h
arrows/compiler/rules := compiler/ir stages
room/compiler/lower := compiler/lower
face/compiler/lower := compiler/lower/lower.h
arrows/compiler/lower := compiler/check compiler/rules
# passes from IR to IR that insert statements; constants of pipeline/ say what a packet brings along
room/compiler/instrument := compiler/instrument
face/compiler/instrument := compiler/instrument/instrument.h
arrows/compiler/instrument := compiler/rules pipeline
# the C that is printed includes stages/ and the headers at the top of pipeline/
room/compiler/plan := compiler/plan
face/compiler/plan := compiler/plan/plan.h
arrows/compiler/plan := compiler/instrument
room/compiler/print := compiler/print compiler/print/checked
face/compiler/print := compiler/print/emit.h
arrows/compiler/print := compiler/plan compiler/instrument
room/compiler/describe := compiler/describe
face/compiler/describe := compiler/describe/schema.h
arrows/compiler/describe := compiler/ir
room/compiler/wireshark := compiler/wireshark
face/compiler/wireshark := compiler/wireshark/wireshark.h
arrows/compiler/wireshark := compiler/ir
# what all phases of the chip model share: chip.h, report_add
room/compiler/chip := compiler/chip
face/compiler/chip := compiler/chip/chip.h
arrows/compiler/chip := compiler/ir
room/compiler/chip/graph := compiler/chip/graph
face/compiler/chip/graph := compiler/chip/graph/graph.h
arrows/compiler/chip/graph := compiler/chip
room/compiler/chip/salu := compiler/chip/salu
face/compiler/chip/salu := compiler/chip/salu/salu.h
arrows/compiler/chip/salu := compiler/chip compiler/rules
room/compiler/chip/memory := compiler/chip/memory
face/compiler/chip/memory := compiler/chip/memory/memory.h
arrows/compiler/chip/memory := compiler/chip/graph
room/compiler/chip/place := compiler/chip/place
face/compiler/chip/place := compiler/chip/place/place.h
arrows/compiler/chip/place := compiler/chip/memory
room/compiler/chip/phv := compiler/chip/phv
face/compiler/chip/phv := compiler/chip/phv/phv.h
arrows/compiler/chip/phv := compiler/chip
room/compiler/chip/parde := compiler/chip/parde
face/compiler/chip/parde := compiler/chip/parde/parde.h
arrows/compiler/chip/parde := compiler/chip/phv
room/compiler/chip/report := compiler/chip/report
face/compiler/chip/report := compiler/chip/report/report.h
arrows/compiler/chip/report := compiler/chip
room/compiler/chip/phases := compiler/chip/chip.c
face/compiler/chip/phases := compiler/chip/chip.h
arrows/compiler/chip/phases := compiler/chip/salu compiler/chip/place compiler/chip/parde
# the driver: compile.h is the face of the whole compiler
room/compiler := compiler
face/compiler := compiler/compile.h
arrows/compiler := compiler/lower compiler/print compiler/describe compiler/wireshark compiler/chip/phases compiler/chip/report

# ---- the switch ----
room/stages := stages
face/stages := stages/stages.h
arrows/stages := base
# what generated code includes, and the loader of compiled programs
room/pipeline := pipeline
face/pipeline := pipeline/abi.h
arrows/pipeline := stages
# five folders around two structs, a switch and its cores (pipeline/switch/switch_impl.h)
room/pipeline/engine := pipeline/switch pipeline/path pipeline/tm pipeline/cores pipeline/observe
face/pipeline/engine := pipeline/switch/switch.h
arrows/pipeline/engine := pipeline filter wire
room/pipeline/ports := pipeline/ports
face/pipeline/ports := pipeline/ports/ports.h
arrows/pipeline/ports := pipeline/engine dpdk memif af_packet

# ---- its control plane ----
room/control/tables := control/tables
face/control/tables := control/tables/control.h
arrows/control/tables := pipeline/engine
room/control/state := control/state
face/control/state := control/state/state.h
arrows/control/state := control/tables
room/control/schema := control/schema
face/control/schema := control/schema/schema.h
arrows/control/schema := control/tables
room/control/config := control/config
face/control/config := control/config/config.h
arrows/control/config := control/tables pipeline/ports hosts/core
room/control/socket := control/socket
face/control/socket := control/socket/socket.h
arrows/control/socket := control/config control/state
room/control/watch := control/watch
face/control/watch := control/watch/watch.h
arrows/control/watch := control/socket
# sessions of aggregation jobs, in the switch: the coordinator's end, and clearing what a job left
room/control/sessions := control/sessions
face/control/sessions := control/sessions/sessions.h
arrows/control/sessions := control/config control/state session wire
room/control/tor := control/tor
face/control/tor := control/tor/tor.h
arrows/control/tor := control/socket control/sessions wire hosts/libra
# what a ToR's control plane was told and when, for replays
room/control/journal := control/journal
face/control/journal := control/journal/journal.h
arrows/control/journal := base
# Libra_s: the part of Libra on a switch's CPU
room/control/libra := control/libra
face/control/libra := control/libra/libra.h
arrows/control/libra := control/sessions hosts/libra
# jobs of workers that come over the network
room/control/service := control/service
face/control/service := control/service/service.h
arrows/control/service := base
# jobs of the published SwitchML client, which asks for them by gRPC
room/control/published := control/published
face/control/published := control/published/published.h
arrows/control/published := control/service control/sessions rpc
# servers for controllers. rpc has what both speak over: gRPC; brt speaks BF Runtime, and p4rt P4Runtime, on brt's
# tables and updates
room/rpc := rpc
face/rpc := rpc/rpc.h
arrows/rpc := base
room/brt := brt brt/fixed
face/brt := brt/brt.h
arrows/brt := rpc control/socket
room/p4rt := p4rt
face/p4rt := p4rt/p4rt.h
arrows/p4rt := brt

# ---- captures ----
room/pcap/capture := pcap/capture
face/pcap/capture := pcap/capture/capture.h
arrows/pcap/capture := pipeline
room/pcap/packet := pcap/packet
face/pcap/packet := pcap/packet/layout.h
arrows/pcap/packet := pipeline
room/pcap/replay := pcap/replay
face/pcap/replay := pcap/replay/replay.h
arrows/pcap/replay := filter pcap/capture pcap/packet control/config control/journal control/sessions control/state control/tor
room/pcap/explain := pcap/explain
face/pcap/explain := pcap/explain/explain.h
arrows/pcap/explain := pcap/replay
room/pcap/record := pcap/record
face/pcap/record := pcap/record/record.h
arrows/pcap/record := pcap/capture pipeline/engine
room/pcap/stf := pcap/stf
face/pcap/stf := pcap/stf/stf.h
arrows/pcap/stf := control/tables pcap/packet

# a chip and its twin, compared: dumps of tables, captures; both ends of BF Runtime
room/twin := twin
face/twin := twin/twin.h
arrows/twin := brt pcap/replay

# ---- host stacks ----
room/hosts/include := hosts/include/silken hosts/include/ps
face/hosts/include := hosts/include/silken/allreduce.h
arrows/hosts/include :=
room/hosts/core := hosts/core
face/hosts/core := hosts/core/engine.h
arrows/hosts/core := hosts/include base wire
room/hosts/transport := hosts/transport
face/hosts/transport := hosts/transport/transport.h
arrows/hosts/transport := hosts/core memif session
# DPDK's ports: only programs that link with DPDK, and a module of the library
room/hosts/dpdk := hosts/dpdk
face/hosts/dpdk := hosts/dpdk/dpdk.h
arrows/hosts/dpdk := hosts/transport dpdk
room/hosts/switchml := hosts/switchml
face/hosts/switchml := hosts/switchml/worker.h
arrows/hosts/switchml := hosts/core
room/hosts/roce := hosts/roce
face/hosts/roce := hosts/roce/worker.h
arrows/hosts/roce := hosts/core
room/hosts/atp := hosts/atp
face/hosts/atp := hosts/atp/worker.h
arrows/hosts/atp := hosts/core
room/hosts/communicator := hosts/communicator
face/hosts/communicator := hosts/communicator/protocol.h
arrows/hosts/communicator := hosts/transport hosts/switchml hosts/roce hosts/atp hosts/dlcp session
# a library for each MPI, with the headers of that MPI; no part of libsilken or `silken`
room/hosts/mpi := hosts/mpi
face/hosts/mpi := hosts/mpi/shim.h
arrows/hosts/mpi := hosts/include
# sums of the hot parameters of sparse models
room/hosts/libra := hosts/libra
face/hosts/libra := hosts/libra/libra.h
arrows/hosts/libra := hosts/core
# the same by key, in real time
room/hosts/keyvalue := hosts/keyvalue
face/hosts/keyvalue := hosts/keyvalue/keyvalue.h
arrows/hosts/keyvalue := hosts/libra hosts/transport
# gradients of which a bounded part may be lost
room/hosts/dlcp := hosts/dlcp
face/hosts/dlcp := hosts/dlcp/dlcp.h
arrows/hosts/dlcp := hosts/core

# ---- on top ----
# transports to compare with, as state machines
room/sim/transport := sim/transport
face/sim/transport := sim/transport/transport.h
arrows/sim/transport := hosts/core
room/sim := sim sim/exchange sim/libra sim/own
face/sim := sim/sim.h
arrows/sim := hosts/include control/config control/sessions control/tor control/libra hosts/communicator hosts/dlcp sim/transport compiler
room/cli := cli cli/ctl cli/run cli/demo cli/top cli/lab cli/compare cli/twin
face/cli := cli/cli.h
arrows/cli := sim compiler pcap/explain pcap/record pcap/stf control/schema control/watch control/sessions control/tor control/libra control/service control/published brt p4rt twin hosts/communicator hosts/dpdk hosts/keyvalue

ROOMS := $(sort $(patsubst room/%,%,$(filter room/%,$(.VARIABLES))))
