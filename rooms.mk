# SPDX-License-Identifier: Apache-2.0
#
# The rooms of the house and which room may include which (docs/design.md, section 2).
#
#   room/NAME   := the room's folders, without the folders in them, and single files
#   arrows/NAME := rooms that it may include; through them also what those may
#
# A file belongs to the room that names it, or else to the room that names its folder. `make lint` checks every
# #include by this table (harness/rooms/arrows.py), and the Makefile links a test with its room and the rooms
# below. Rooms without folders are places for what comes later.

# ---- leaves ----
room/base := base
# wire formats that hosts and control planes speak
room/wire := wire
arrows/wire :=
arrows/base :=
# what a process must do for DPDK to work: starting it, and guards for its drivers
room/dpdk := dpdk
arrows/dpdk := base

# ---- the compiler ----
room/compiler/base := compiler/base
arrows/compiler/base :=
room/compiler/syntax := compiler/syntax
arrows/compiler/syntax := compiler/base
room/compiler/check := compiler/check
arrows/compiler/check := compiler/syntax
room/compiler/ir := compiler/ir
arrows/compiler/ir := compiler/base
# limits of the engine are constants in headers of stages/
room/compiler/rules := compiler/rules
arrows/compiler/rules := compiler/ir stages
room/compiler/lower := compiler/lower
arrows/compiler/lower := compiler/check compiler/rules
# the C that is printed includes stages/ and the headers at the top of pipeline/
room/compiler/plan := compiler/plan
arrows/compiler/plan := compiler/rules pipeline
room/compiler/print := compiler/print compiler/print/checked
arrows/compiler/print := compiler/plan
room/compiler/describe := compiler/describe
arrows/compiler/describe := compiler/ir
room/compiler/wireshark := compiler/wireshark
arrows/compiler/wireshark := compiler/ir
# what all phases of the chip model share: chip.h, limits.c, report_add
room/compiler/chip := compiler/chip
arrows/compiler/chip := compiler/ir
room/compiler/chip/graph := compiler/chip/graph
arrows/compiler/chip/graph := compiler/chip
room/compiler/chip/salu := compiler/chip/salu
arrows/compiler/chip/salu := compiler/chip compiler/rules
room/compiler/chip/memory := compiler/chip/memory
arrows/compiler/chip/memory := compiler/chip/graph
room/compiler/chip/place := compiler/chip/place
arrows/compiler/chip/place := compiler/chip/memory
room/compiler/chip/phv := compiler/chip/phv
arrows/compiler/chip/phv := compiler/chip
room/compiler/chip/parde := compiler/chip/parde
arrows/compiler/chip/parde := compiler/chip/phv
room/compiler/chip/report := compiler/chip/report
arrows/compiler/chip/report := compiler/chip
room/compiler/chip/phases := compiler/chip/chip.c
arrows/compiler/chip/phases := compiler/chip/salu compiler/chip/place compiler/chip/parde
# the driver: compile.h is the face of the whole compiler
room/compiler := compiler
arrows/compiler := compiler/lower compiler/print compiler/describe compiler/wireshark compiler/chip/phases compiler/chip/report

# ---- the switch ----
room/stages := stages
arrows/stages := base
# what generated code includes, and the loader of compiled programs
room/pipeline := pipeline
arrows/pipeline := stages
# four folders around one struct, the switch (pipeline/switch/switch_impl.h)
room/pipeline/engine := pipeline/switch pipeline/tm pipeline/cores pipeline/observe
arrows/pipeline/engine := pipeline
room/pipeline/ports := pipeline/ports
arrows/pipeline/ports := pipeline/engine dpdk

# ---- its control plane ----
room/control/tables := control/tables
arrows/control/tables := pipeline/engine
room/control/state := control/state
arrows/control/state := control/tables
room/control/schema := control/schema
arrows/control/schema := control/tables
room/control/config := control/config
arrows/control/config := control/tables pipeline/ports
room/control/socket := control/socket
arrows/control/socket := control/config control/state
room/control/watch := control/watch
arrows/control/watch := control/socket
room/control/tor := control/tor
arrows/control/tor := control/socket wire
# later: servers for controllers. rpc has what both speak over, brt BF Runtime, p4rt P4Runtime
room/rpc :=
arrows/rpc := base
room/brt :=
arrows/brt := rpc control/socket
room/p4rt :=
arrows/p4rt := rpc control/socket

# ---- captures ----
room/pcap/capture := pcap/capture
arrows/pcap/capture := pipeline
room/pcap/packet := pcap/packet
arrows/pcap/packet := pipeline
room/pcap/replay := pcap/replay
arrows/pcap/replay := pcap/capture pcap/packet control/config control/state
room/pcap/explain := pcap/explain
arrows/pcap/explain := pcap/replay
room/pcap/record := pcap/record
arrows/pcap/record := pcap/capture pipeline/engine
room/pcap/stf := pcap/stf
arrows/pcap/stf := control/tables

# ---- host stacks ----
room/hosts/include := hosts/include/silken
arrows/hosts/include :=
room/hosts/core := hosts/core
arrows/hosts/core := hosts/include base wire
room/hosts/transport := hosts/transport
arrows/hosts/transport := hosts/core dpdk
room/hosts/switchml := hosts/switchml
arrows/hosts/switchml := hosts/core
room/hosts/atp := hosts/atp
arrows/hosts/atp := hosts/core
room/hosts/communicator := hosts/communicator
arrows/hosts/communicator := hosts/transport hosts/switchml hosts/atp
# later
room/hosts/libra :=
arrows/hosts/libra := hosts/core
room/hosts/dlcp :=
arrows/hosts/dlcp := hosts/core

# ---- on top ----
room/sim := sim
arrows/sim := control/config hosts/switchml hosts/atp compiler
room/cli := cli cli/ctl cli/run cli/demo cli/top
arrows/cli := sim compiler pcap/explain pcap/record pcap/stf control/schema control/watch control/tor hosts/communicator

ROOMS := $(sort $(patsubst room/%,%,$(filter room/%,$(.VARIABLES))))
