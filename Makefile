# SPDX-License-Identifier: Apache-2.0
#
#   make            build/silken, build/libsilken.so.0, and its shims for the MPIs that are installed (make lib: these
#                   libraries alone)
#   make run        everything a newcomer needs: packages, build, the training demo
#   make test       all tests (also under ASan and UBSan)
#   make soak       ten minutes at full speed, all packets accounted for (SECONDS=600)
#   make soak-tor   ten minutes of training jobs in a ToR beside TCP and attacks (SECONDS=600)
#   make soak-mixed ten minutes of jobs of all four protocols on one switch (SECONDS=600)
#   make sessions-live   jobs that begin again in any order, in a live rack (SCHEDULES=100)
#   make sessions-any-order   the same as state machines (SEEDS=1000000)
#   make quick-test     all tests, without the sanitizers
#   make test-threads   all tests that run threads, under TSan (make test: the short ones)
#   make lint       includes against rooms.mk, names of static functions, columns, clang-format, cppcheck
#   make fuzz       builds the fuzz targets in build/fuzz (FUZZ_SECONDS=600 runs each that long;
#                   ONLY=word, SEEDS=folders, INCLUDE=folder: harness/fuzz.sh)
#   make fuzz-differential   random P4 programs, compiled and interpreted (SECONDS=3600)
#   make fuzz-notes random programs and packets: are notes enough to do a pass again? (PROGRAMS=20000)
#   make fuzz-lanes random packets through loops over lanes, scalar and checked code (PACKETS=5000000)
#   make captures   each capture in each build and with each number of threads twice (make test: once)
#   make mutants    small changes of p4/switchml, one at a time: do the captures of harness/replay notice?
#                   SAMPLE=60 so many, spread evenly; RESUME=1 goes on where another run ended
#   make sim-faults 20,000 seeds of faults of all kinds in simulated networks (SEEDS=20000 JOBS=2)
#   make sessions-sim   the same of jobs whose members begin again in any order (SEEDS=20000 JOBS=2)
#   make collectives-faults 20,000 seeds of collective operations over bad links, with restarts (SEEDS=20000 FROM=1)
#   make cards      `silken run` with two network cards by vfio-pci, in a virtual machine; root, some minutes
#                   (CARDS=e1000,e1000e: these; harness/cards/cards.py)
#   make levels-faults  20,000 seeds of SwitchML jobs over two and three levels of switches; then 3,600 workers (SEEDS=20000)
#   make libra-faults   20,000 seeds of jobs of Libra over bad links, whose members crash (SEEDS=20000 FROM=1)
#   make dlcp-faults    20,000 seeds of flows of DLCP over bad links, whose ends crash (SEEDS=20000 FROM=1)
#   make dlcp-demos     `silken demo --protocol dlcp`: networks, losses, rings, spines, five seeds; a table, in about
#                   an hour (WORDS="deep loss10 1": these; RESUME=1 goes on where another run ended)
#   make libra-adder    what p4/libra adds against the adder in C, bit for bit: all pairs of exponents, and
#                   10^8 random pairs (PAIRS=100000000), in each build
#   make sim-nightly    an hour of new ones (NIGHTLY=3600)
#   make comparison     every way to add up gradients on the networks of examples/compare (docs/comparison.md)
#   make campaign   new seeds and fuzzing for as long as there is time, counted in docs/campaigns.csv (SECONDS=3600, JOBS=1, WORDS)
#   make figures-atp    the ATP paper's experiments in the simulator: docs/figures-atp.md
#   make figures-switchml  the SwitchML paper's experiments in the simulator: docs/figures-switchml.md
#   make figures-switchml-training  scaling factors and 16-bit floats in training: the same document
#   make figures-dlcp   the DLCP paper's experiments in the simulator: docs/figures-dlcp.md
#   make figures-dlcp-training  what training loses when gradients are lost: the same document
#   make figures-libra  the Libra paper's: docs/figures-libra.md
#   make bench      speed against peers and against bare loops: build/bench.json and a table, in about
#                   five minutes (ONLY=key: bench/run.sh)
#   make bench-tor  the ToR beside Open vSwitch with DPDK and the Linux bridge, in five minutes
#   make bench-tables   how long lookups in match tables and their changes take (bench/table_*.c)
#   make bench-memif    our memif driver beside DPDK's (bench/memif_burst.c)
#   make bench-af-packet    our ports on the kernel's interfaces beside DPDK's (bench/af_packet_burst.c)
#   make install    into PREFIX (/usr/local) below DESTDIR; make uninstall removes it
#   make deb        Debian packages of the last commit, in build/deb; without network or rights
#   make deb-check  lintian, an installation into a fresh root and autopkgtest in it, reprotest (ONLY=step)
#   make oci        an image for containers of these packages
#   make release    gives the version a tag, once CHANGELOG.md has its date
#   make distcheck  builds and installs what git archive packs of HEAD, and trains with it
#
# Variants of the same tree: SANITIZE=1 builds into build/asan, SANITIZE=thread into build/tsan, FUZZ=1
# into build/fuzz.

.DEFAULT_GOAL := all
ROOT     := $(CURDIR)
# As many jobs as there are processors, unless the command line has another number.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc)
endif
# V=1 shows the commands
V        ?= 0
Q        := $(if $(filter 1,$(V)),,@)
say       = $(if $(filter 1,$(V)),,@printf '  %-5s %s\n' $(1) $@)
BUILD    ?= build
PREFIX   ?= /usr/local
SHARE    ?= $(ROOT)
CC       ?= cc
# CFLAGS, CPPFLAGS and LDFLAGS are yours. What Silken needs is apart from them, and stays when you set them.
CFLAGS   ?= -O2 -g
# the one place where it is written
VERSION  := $(file <VERSION)
PYTHON   ?= /usr/bin/python3

ifeq ($(SANITIZE),1)
override BUILD := build/asan
SAN      := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS   := -O1 -g1
# Programs of 40 MB each: without PIE nothing in them is relocated at every start, and gold links in half of the time.
SAN_LD   := -no-pie -fuse-ld=gold
endif
ifeq ($(SANITIZE),thread)
override BUILD := build/tsan
# It does not see fences; what they order are atomics.
SAN      := -fsanitize=thread -fno-omit-frame-pointer -Wno-tsan
CFLAGS   := -O1 -g
endif
ifeq ($(FUZZ),1)
override BUILD := build/fuzz
CC       := clang
SAN      := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
CFLAGS   := -O1 -g
endif

GEN      := $(BUILD)/gen
PKG      := libdpdk jansson libnghttp2 libssl libcrypto libprotobuf-c libcap-ng libpcap
# The packages may not be there yet when make reads this file: asked for when first used.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell pkg-config --cflags $(PKG) | sed 's/-I/-isystem /g'))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $$(shell pkg-config --libs $(PKG)))$(PKG_LIBS)

WARN     := -Wall -Wextra -Werror
DEFS     := -D_GNU_SOURCE -DSILKEN_VERSION='"$(VERSION)"'
# Only for the files that ask: an object without them is the same wherever the tree lies.
PATHS     = -DSILKEN_SHARE_DIR='"$(SHARE)"' -DSILKEN_PROGRAM_DIR='"$(SHARE)/p4"'
INCLUDES := -I. -Ihosts/include -I$(GEN)
# As Debian hardens its packages. HARDEN= leaves it out, and the sanitizers do without.
HARDEN   ?= $(if $(SAN),,1)
fortified = $(if $(filter -O1 -O2 -O3 -Os -Og,$(CFLAGS)),$(if $(findstring FORTIFY,$(CPPFLAGS) $(CFLAGS)),,-D_FORTIFY_SOURCE=2))
HARD_CC   = $(if $(HARDEN),-fstack-protector-strong -Wformat-security $(fortified))
HARD_LD  := $(if $(HARDEN),-pie -z relro -z now,$(SAN_LD))
# Only what compiled programs call is exported: stages/ and pipeline/ say what that is, where they declare it.
ALLFLAGS  = -std=c17 $(WARN) $(DEFS) $(if $(shell grep -l 'SILKEN_[A-Z]*_DIR' $<),$(PATHS)) $(INCLUDES) $(CPPFLAGS) \
            $(HARD_CC) $(CFLAGS) $(SAN) $(ROOM_FLAGS) -fPIC -fvisibility=hidden -pthread
# -rdynamic: compiled programs call into stages/ and pipeline/
LINK      = $(CC) $(CFLAGS) $(SAN) $(HARD_LD) $(LDFLAGS) -rdynamic -pthread
LIBS      = $(PKG_LIBS) -lgmp -lmd -lz -ldl -lm

# ---- the rooms ----
# rooms.mk names them; each becomes a static archive, $(BUILD)/lib/ROOM.a.
include rooms.mk
GENERATED_C  := $(GEN)/p4_parse.c $(GEN)/p4_lex.c $(GEN)/report_page.c $(GEN)/run_page.c
generated/compiler/syntax      := p4_parse p4_lex
generated/compiler/chip/report := report_page
generated/cli := run_page
generated/brt := brt/bfruntime.pb-c brt/status.pb-c
generated/p4rt := p4rt/p4info.pb-c p4rt/p4runtime.pb-c
generated/control/published := control/published/switchml.pb-c
WIREGEN_SRC  := compiler/wiregen.c
MAIN_SRC     := cli/main.c
MPI_SRC      := $(wildcard hosts/mpi/*.c)
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
named_files  := $(filter %.c,$(foreach r,$(ROOMS),$(room/$(r))))
folder_SRC    = $(filter-out $(named_files) $(WIREGEN_SRC) $(MAIN_SRC) $(MPI_SRC),$(wildcard $(addsuffix /*.c,$(1))))
room_SRC      = $(filter %.c,$(room/$(1))) $(call folder_SRC,$(filter-out %.c,$(room/$(1))))
$(foreach r,$(ROOMS),$(eval SRC/$(r) := $(call room_SRC,$(r))))
$(foreach r,$(ROOMS),$(foreach f,$(room/$(r)),$(eval room_of/$(f) := $(r))))
room_OBJ      = $(call obj,$(SRC/$(1))) $(patsubst %,$(BUILD)/obj/gen/%.o,$(generated/$(1)))
# a room and those below it; asked for often, so each answer is kept
below         = $(if $(filter undefined,$(origin below/$(1))),$(eval below/$(1) := $(sort $(1) $(foreach a,$(arrows/$(1)),$(call below,$(a))))))$(below/$(1))
# those of them that have objects
BUILT_ROOMS  := $(foreach r,$(ROOMS),$(if $(strip $(SRC/$(r)) $(generated/$(r))),$(r)))
archive       = $(patsubst %,$(BUILD)/lib/%.a,$(filter $(BUILT_ROOMS),$(1)))
# The folders are there so that a file that went leaves the archive, too.
define archive_rule
$(BUILD)/lib/$(1).a: $$(call room_OBJ,$(1)) $(filter-out %.c,$(room/$(1)))
	@mkdir -p $$(@D)
	$$(call say,AR)
	$$(Q)rm -f $$@ && ar rcsT $$@ $$(filter %.o,$$^)
endef
$(foreach r,$(BUILT_ROOMS),$(eval $(call archive_rule,$(r))))

COMPILER_ROOMS := $(filter compiler compiler/%,$(ROOMS))
compiler_SRC := $(foreach r,$(COMPILER_ROOMS),$(SRC/$(r)))
COMPILER_OBJ := $(foreach r,$(COMPILER_ROOMS),$(call room_OBJ,$(r)))
TOR_OBJ      := $(call room_OBJ,control/tor)
HOSTS_OBJ    := $(foreach r,$(filter hosts/%,$(ROOMS)),$(call room_OBJ,$(r)))
ROOM_SRC     := $(foreach r,$(ROOMS),$(SRC/$(r)))
ROOM_OBJ     := $(foreach r,$(ROOMS),$(call room_OBJ,$(r)))
# Open vSwitch's library (control/tor/ovs.sh), built once for all variants of the tree.
OVS          := build/ovs
# `silken`, the benchmarks and the fuzzers are linked with whole objects.
LIB_OBJ      := $(ROOM_OBJ) $(OVS)/libovs.a
# all files in a folder and in the folders in it
below_SRC     = $(wildcard $(addprefix $(1)/,*.c */*.c */*/*.c))

WIRE_HEADERS := $(GEN)/switchml_wire.h $(GEN)/atp_wire.h $(GEN)/libra_wire.h $(GEN)/dlcp_wire.h

.PHONY: all lib run test quick-test lint format fuzz install clean deps
all: $(BUILD)/silken lib

# ---- packages ----
deps: $(BUILD)/.deps-build $(BUILD)/.deps-test $(BUILD)/.deps-tools
$(BUILD)/.deps-%: harness/deps.sh
	@mkdir -p $(@D)
	@sh harness/deps.sh $*
	@touch $@

# ---- Open vSwitch's library, for the control plane of the ToR ----
$(OVS)/libopenvswitch.a: control/tor/ovs.sh | $(BUILD)/.deps-build
	$(call say,OVS)
	$(Q)sh control/tor/ovs.sh $(OVS)
# Its JSON has names of jansson's, whose callers would get it; its clock is control/tor/time.c.
OVS_NAMES := clock_gettime json_array json_equal json_integer json_object json_real json_string
$(OVS)/libovs.a: $(OVS)/libopenvswitch.a Makefile
	$(Q)objcopy $(foreach name,$(OVS_NAMES),--redefine-sym $(name)=ovs_$(name)) $< $@.tmp && mv $@.tmp $@
# its headers speak GNU C and ask what configure found
$(TOR_OBJ) $(call obj,harness/control/tor/partner.c): ALLFLAGS += -Dtypeof=__typeof__ -include $(OVS)/src/config.h -isystem $(OVS)/src \
    -isystem $(OVS)/src/include -isystem $(OVS)/src/lib
# clang looks into macros of system headers, too, when we expand them
$(TOR_OBJ): ALLFLAGS += $(if $(FUZZ),-Wno-sign-compare)
$(TOR_OBJ) $(call obj,harness/control/tor/partner.c): | $(OVS)/libopenvswitch.a

# ---- objects ----
# With other flags than the last time everything is built anew.
FLAGS     := $(strip $(VERSION) $(CC) $(CPPFLAGS) $(HARD_CC) $(CFLAGS) $(SAN) $(LDFLAGS))
$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@
FORCE:
.PHONY: FORCE
# not a built-in rule of make: a folder such as cli/run is not made of cli/run.c beside it
%: %.c
%: %.o

$(BUILD)/obj/gen/%.o: $(GEN)/%.c $(BUILD)/.flags | $(BUILD)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALLFLAGS) -Wno-unused-function -Wno-sign-compare -MMD -MP -c -o $@ $<
$(BUILD)/obj/%.o: %.c $(BUILD)/.flags | $(BUILD)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALLFLAGS) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<
$(HOSTS_OBJ) $(call room_OBJ,control/libra) $(call room_OBJ,sim) $(call room_OBJ,cli): | $(WIRE_HEADERS)
$(call obj,$(compiler_SRC) $(WIREGEN_SRC)): | $(GENERATED_C)
# counters side by side are no vectors: to put one together takes longer than to add twice
$(foreach r,$(filter pipeline pipeline/%,$(ROOMS)),$(call room_OBJ,$(r))): ROOM_FLAGS := -fno-tree-slp-vectorize

$(GEN)/p4_parse.c: compiler/syntax/p4.y | $(BUILD)/.deps-build
	@mkdir -p $(@D)
	$(call say,BISON)
	$(Q)bison -Wall -Werror -o $@ --header=$(GEN)/p4_parse.h $<
$(GEN)/p4_lex.c: compiler/syntax/p4.l | $(BUILD)/.deps-build $(GEN)/p4_parse.c
	$(call say,FLEX)
	$(Q)flex -o $@ --header-file=$(GEN)/p4_lex.h $<

# Messages of gRPC services, from their descriptions.
RPC_ROOMS    := brt p4rt control/published twin
RPC_MESSAGES := $(foreach r,$(RPC_ROOMS),$(patsubst %,$(GEN)/%.c,$(generated/$(r))))
$(RPC_MESSAGES): $(GEN)/%.pb-c.c: %.proto | $(BUILD)/.deps-build
	@mkdir -p $(@D)
	$(call say,PROTO)
	$(Q)protoc-c --c_out=$(GEN) $<
$(foreach r,$(RPC_ROOMS),$(call room_OBJ,$(r))): | $(RPC_MESSAGES)
# an empty oneof is {0}
$(foreach r,$(RPC_ROOMS),$(call room_OBJ,$(r))): ROOM_FLAGS := -Wno-missing-braces

# Pages of `silken check --html` and `silken run`: what they say, look like and do, as strings.
as_string = (echo 'const char $(1)[] ='; sed 's/\\/\\\\/g; s/"/\\"/g; s/^/"/; s/$$/\\n"/' $(2); echo ';')
PAGE := compiler/chip/report/page
$(GEN)/report_page.c: $(PAGE).css $(PAGE).js Makefile
	@mkdir -p $(@D)
	$(call say,TEXT)
	$(Q)(echo '#include "compiler/chip/report/html.h"'; \
	$(call as_string,report_page_css,$(PAGE).css); $(call as_string,report_page_js,$(PAGE).js)) >$@.tmp && mv $@.tmp $@
RUN_PAGE := cli/run/page
$(GEN)/run_page.c: $(RUN_PAGE).html $(RUN_PAGE).css $(RUN_PAGE).js cli/run/icon.svg Makefile
	@mkdir -p $(@D)
	$(call say,TEXT)
	$(Q)(echo '#include "cli/run/page_impl.h"'; $(call as_string,run_page_html,$(RUN_PAGE).html); \
	$(call as_string,run_page_css,$(RUN_PAGE).css); $(call as_string,run_page_js,$(RUN_PAGE).js); \
	$(call as_string,run_page_icon,cli/run/icon.svg)) >$@.tmp && mv $@.tmp $@

# The hosts' wire structs come from the P4 file, by a compiler that needs no hosts.
$(BUILD)/wiregen: $(COMPILER_OBJ) $(call obj,$(WIREGEN_SRC))
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ -lgmp -lmd -ldl -lm
$(GEN)/%_wire.h: $(BUILD)/wiregen p4/%
	@mkdir -p $(@D)
	$(call say,WIRE)
	$(Q)$(BUILD)/wiregen p4/$*/$*.p4 $@.tmp && mv $@.tmp $@
$(GEN)/switchml_wire.h: $(wildcard p4/switchml/*.p4 p4/include/*.p4)
$(GEN)/atp_wire.h: $(wildcard p4/atp/*.p4 p4/include/*.p4)
$(GEN)/dlcp_wire.h: $(wildcard p4/dlcp/*.p4 p4/common/*.p4 p4/include/*.p4)
$(GEN)/libra_wire.h: $(wildcard p4/libra/*.p4 p4/common/*.p4 p4/include/*.p4)

$(BUILD)/silken: $(LIB_OBJ) $(call obj,$(MAIN_SRC))
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

run: $(BUILD)/silken
	$(BUILD)/silken demo

# ---- libsilken: the host stacks for applications; DPDK's ports are a module that it loads ----
# What the public headers declare, and nothing else, is exported. The static library is one object, so that no
# name of ours meets one of the application's.
SONAME       := libsilken.so.0
DPDK_MODULE  := $(BUILD)/libsilken-dpdk.so.0
LIBSILKEN    := $(BUILD)/$(SONAME) $(BUILD)/libsilken.so $(BUILD)/libsilken.a $(DPDK_MODULE)
LIB_FACES    := hosts/core hosts/communicator hosts/keyvalue
LIB_ARCHIVES := $(call archive,$(sort $(foreach r,$(LIB_FACES),$(call below,$(r)))))
lib_inputs    = -Wl,--whole-archive $(filter $(call archive,$(LIB_FACES)),$^) -Wl,--no-whole-archive \
    -Wl,--start-group $(filter-out $(call archive,$(LIB_FACES)),$(filter %.a,$^)) -Wl,--end-group
# The sanitizers' functions are in the program.
lib_LINK      = $(CC) $(CFLAGS) $(SAN) $(if $(HARDEN),-z relro -z now) $(LDFLAGS) -shared -pthread $(if $(SAN),,-Wl,-z,defs)
lib: $(LIBSILKEN)
$(BUILD)/$(SONAME): packaging/libsilken.map $(LIB_ARCHIVES)
	$(call say,LD)
	$(Q)$(lib_LINK) -Wl,-soname,$(SONAME) -Wl,--version-script,$< -o $@ $(lib_inputs) -ldl -lm
$(BUILD)/libsilken.so: $(BUILD)/$(SONAME)
	$(Q)ln -sf $(SONAME) $@
$(BUILD)/libsilken.a: $(LIB_ARCHIVES)
	$(call say,AR)
	$(Q)$(CC) -r -nostdlib -o $(BUILD)/silken.o $(lib_inputs)
	$(Q)objcopy -w --keep-global-symbol='silken_*' $(BUILD)/silken.o
	$(Q)rm -f $@ && ar rcs $@ $(BUILD)/silken.o
$(BUILD)/libsilken-dpdk.so.0: packaging/libsilken.map $(call obj,hosts/dpdk/dpdk.c) $(call archive,dpdk base)
	$(call say,LD)
	$(Q)$(lib_LINK) -Wl,-soname,$(@F) -Wl,--version-script,$< -o $@ $(filter %.o %.a,$^) -Wl,--as-needed $(PKG_LIBS)

# ---- MPI: a shim for each MPI that is installed, as their handles differ ----
# No sanitizers: the programs that load a shim have none.
mpi_PKG/openmpi := ompi-c
mpi_LIB/openmpi := -lmpi
mpi_PKG/mpich   := mpich
mpi_LIB/mpich   := -lmpich
MPIS         := $(if $(SAN),,$(foreach m,openmpi mpich,$(shell pkg-config --exists $(mpi_PKG/$(m)) && echo $(m))))
SHIMS        := $(patsubst %,$(BUILD)/libsilken-mpi-%.so,$(MPIS))
define shim_rules
$(BUILD)/obj/mpi/$(1)/%.o: %.c $(BUILD)/.flags | $(BUILD)/.deps-build
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(Q)$$(CC) $$(ALLFLAGS) $$(patsubst -I%,-isystem %,$$(shell pkg-config --cflags-only-I $(mpi_PKG/$(1)))) -MMD -MP -c -o $$@ $$<
# libsilken is beside it in the build's folder, and above it where it is installed
$(BUILD)/libsilken-mpi-$(1).so: $(patsubst %.c,$(BUILD)/obj/mpi/$(1)/%.o,$(filter-out hosts/mpi/component.c,$(MPI_SRC))) $(BUILD)/libsilken.so
	$$(call say,LD)
	$$(Q)$$(lib_LINK) -Wl,-rpath,'$$$$ORIGIN:$$$$ORIGIN/..' -o $$@ $$(filter %.o,$$^) -L$(BUILD) -lsilken \
	    $$(shell pkg-config --libs-only-L $(mpi_PKG/$(1))) $(mpi_LIB/$(1))
-include $(patsubst %.c,$(BUILD)/obj/mpi/$(1)/%.d,$(MPI_SRC))
endef
$(foreach m,$(MPIS),$(eval $(call shim_rules,$(m))))
lib: $(SHIMS)
# Open MPI's component, where its development package has the headers for one
COMPONENT    := $(if $(filter openmpi,$(MPIS)),$(if $(wildcard $(addsuffix /ompi/mca/coll/coll.h,$(patsubst \
                -I%,%,$(shell pkg-config --cflags-only-I ompi-c)))),$(BUILD)/openmpi/mca_coll_silken.so))
$(BUILD)/openmpi/mca_coll_silken.so: $(patsubst %.c,$(BUILD)/obj/mpi/openmpi/%.o,$(filter-out hosts/mpi/intercept.c,$(MPI_SRC))) $(BUILD)/libsilken.so
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(lib_LINK) -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..' -o $@ $(filter %.o,$^) -L$(BUILD) -lsilken \
	    $(shell pkg-config --libs-only-L ompi-c) -lmpi -lopen-pal
lib: $(COMPONENT)

# ---- tests ----
# harness/ has the rooms' folders. In it test_*.c is a program each, fuzz_*.c is a libFuzzer target, and the
# other files are helpers, an archive for each folder. A test is linked with the room of its folder and the rooms
# below; with the helpers of its folder, of the folders above, and of those that uses/FOLDER names; and with the
# rooms that links/FOLDER names for any of these folders, and those below them.
uses/harness/cli/ctl            := harness/control/tor
uses/harness/compiler/instrument := harness/interp
uses/harness/control            := harness/pipeline
uses/harness/hosts/atp          := harness/net
uses/harness/hosts/communicator := harness/net
uses/harness/hosts/libra        := harness/net
uses/harness/hosts/dlcp         := harness/net
uses/harness/control/libra      := harness/net harness/hosts/libra
uses/harness/hosts/roce         := harness/net
uses/harness/hosts/switchml     := harness/net
uses/harness/pcap               := harness/pipeline
uses/harness/pipeline/switch    := harness/net
links/harness/net                := compiler control/tables
links/harness/pipeline           := pipeline/engine
links/harness/compiler/chip      := compiler
links/harness/compiler/describe  := compiler
links/harness/compiler/instrument := pipeline/engine
links/harness/compiler/plan      := compiler control/config hosts/switchml hosts/atp
links/harness/compiler/print     := compiler pcap/stf
links/harness/control/tor        := compiler hosts/switchml
links/harness/hosts/communicator := compiler control/tables
links/harness/interp             := compiler
links/harness/pipeline/switch    := control/state
# harness/mpi has programs of an MPI, harness/guests of libibverbs, which their tests compile
HARNESS_SRC := $(filter-out harness/mpi/% harness/guests/%,$(sort $(call below_SRC,harness)))
named       = $(foreach f,$(HARNESS_SRC),$(if $(filter $(1),$(notdir $(f))),$(f)))
TEST_SRC   := $(call named,test_%)
FUZZ_SRC   := $(call named,fuzz_%)
TOOL_SRC   := $(wildcard harness/tools/*.c)
HELPER_SRC := $(filter-out $(TEST_SRC) $(FUZZ_SRC) $(TOOL_SRC),$(HARNESS_SRC))
TEST_BIN   := $(patsubst harness/%.c,$(BUILD)/harness/%,$(TEST_SRC))
parent      = $(patsubst %/,%,$(dir $(1)))
and_above   = $(if $(filter harness,$(1)),,$(1) $(call and_above,$(call parent,$(1))))
HELPER_DIRS := $(sort $(foreach f,$(HELPER_SRC),$(call parent,$(f))))
define helpers_rule
$(BUILD)/lib/$(1).a: $(call obj,$(foreach f,$(HELPER_SRC),$(if $(filter $(1),$(call parent,$(f))),$(f)))) $(1)
	@mkdir -p $$(@D)
	$$(call say,AR)
	$$(Q)rm -f $$@ && ar rcsT $$@ $$(filter %.o,$$^)
endef
$(foreach d,$(HELPER_DIRS),$(eval $(call helpers_rule,$(d))))
# of a folder of tests: the folders of helpers, the rooms, and all that is linked
test_dirs   = $(sort $(foreach d,$(call and_above,$(1)),$(d) $(foreach u,$(uses/$(d)),$(call and_above,$(u)))))
own_room    = $(firstword $(foreach d,$(call and_above,$(1)),$(room_of/$(patsubst harness/%,%,$(d)))))
test_rooms  = $(sort $(foreach r,$(call own_room,$(1)) $(foreach d,$(call test_dirs,$(1)),$(links/$(d))),$(call below,$(r))))
test_libs   = $(patsubst %,$(BUILD)/lib/%.a,$(filter $(HELPER_DIRS),$(call test_dirs,$(1)))) \
              $(call archive,$(call test_rooms,$(1))) $(if $(filter control/tor,$(call test_rooms,$(1))),$(OVS)/libovs.a)
# Compiled programs call into these two: all of them is there.
called      = $(call archive,stages pipeline)
.SECONDEXPANSION:
$(BUILD)/harness/%: $(BUILD)/obj/harness/%.o $$(call test_libs,$$(call parent,harness/$$*))
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter-out $(called),$(filter %.a,$^)) -Wl,--whole-archive \
	    $(filter $(called),$^) -Wl,--no-whole-archive -Wl,--end-group $(LIBS) -lcmocka
$(patsubst %.c,$(BUILD)/obj/%.o,$(TEST_SRC) $(HELPER_SRC)): | $(WIRE_HEADERS) $(BUILD)/.deps-test

# harness/tools/*.c are programs that tests drive.
TOOL_BIN := $(patsubst harness/%.c,$(BUILD)/%,$(TOOL_SRC))
$(BUILD)/tools/%: $(BUILD)/obj/harness/tools/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL_SRC)): | $(WIRE_HEADERS)

# The benchmarks' programs are built with them: who changes an interface shall see what it breaks.
tests: $(TEST_BIN) $(TOOL_BIN) $(if $(SAN),,$(addprefix $(BUILD)/bench/,benchmark figures/libra figures/numbers.so reduce_silken table_lookup \
    table_change memif_burst af_packet_burst))
.PHONY: tests
THREAD_TESTS := harness/stages/test_table harness/pipeline/cores/test_lcores harness/pipeline/tm/test_buffer harness/pipeline/observe/test_recorder \
                harness/hosts/communicator/test_allreduce_atp harness/hosts/communicator/test_udp_lanes
LONG_THREAD_TESTS := harness/stages/test_table # a minute
test: $(BUILD)/silken $(LIBSILKEN)
	+$(MAKE) tests
	+$(MAKE) lib # again: the tests' packages bring the MPIs
	+$(MAKE) SANITIZE=1 all tests
	+$(MAKE) SANITIZE=thread $(addprefix build/tsan/,$(filter-out $(LONG_THREAD_TESTS),$(THREAD_TESTS)))
	BUILD=$(BUILD) PYTHON=$(PYTHON) sh harness/run.sh
quick-test: $(BUILD)/silken $(LIBSILKEN) tests
	+$(MAKE) lib
	BUILD=$(BUILD) PYTHON=$(PYTHON) QUICK=1 sh harness/run.sh

# A switch at full speed for SECONDS, over memif and af_packet (harness/soak.sh).
soak: $(BUILD)/silken
	SECONDS_TO_RUN=$(if $(filter command,$(firstword $(origin SECONDS))),$(SECONDS),600) BUILD=$(BUILD) \
	    sh harness/soak.sh
.PHONY: soak

# Jobs of both protocols beside TCP and attacks in a ToR, for SECONDS (harness/control/tor/test_training.py).
soak-tor: $(BUILD)/silken
	SECONDS_TO_RUN=$(if $(filter command,$(firstword $(origin SECONDS))),$(SECONDS),600) BUILD=$(BUILD) \
	    FLOOD_RATE=$(or $(FLOOD_RATE),73000) LONGEST_PAUSE=0.001 TCP_RATIO=0.8 \
	    $(PYTHON) harness/control/tor/test_training.py
.PHONY: soak-tor

# Jobs of all four protocols on one switch, for SECONDS (harness/control/tor/test_mixed.py).
soak-mixed: $(BUILD)/silken $(BUILD)/tools/sums
	SECONDS_TO_RUN=$(if $(filter command,$(firstword $(origin SECONDS))),$(SECONDS),600) BUILD=$(BUILD) SHARE=0.2 \
	    $(PYTHON) harness/control/tor/test_mixed.py
.PHONY: soak-mixed

# Jobs that begin again in any order, SCHEDULES of them in a live rack (harness/control/tor/test_sessions.py).
sessions-live: $(BUILD)/silken
	BUILD=$(BUILD) SCHEDULES=$(or $(SCHEDULES),100) $(PYTHON) harness/control/tor/test_sessions.py
# The same with members, coordinator and network as state machines (harness/control/sessions: test_sessions.c; over three switches
# test_levels.c).
sessions-any-order: $(addprefix $(BUILD)/harness/control/sessions/,test_sessions test_levels)
	for t in $^; do $$t --seeds $(or $(SEEDS),1000000) || exit 1; done
.PHONY: sessions-live sessions-any-order

# PyTorch's own tests of backends, all of them, with Gloo and with silken in its place (harness/python/distributed.py):
# half an hour on a small machine. A second call goes on where the first one ended; AGAIN=1 repeats what failed; NAMES chooses.
torch-distributed: $(BUILD)/silken $(LIBSILKEN)
	BUILD=$(BUILD) $(PYTHON) harness/python/distributed.py --results $(BUILD)/torch-distributed.jsonl \
	    $(if $(AGAIN),--again) $(NAMES)
.PHONY: torch-distributed
# mpi4py's own tests with plain Open MPI, the shim and the component (harness/mpi/mpi4py_tests.py): SOURCE is a tree of
# mpi4py, without it Debian's source package is fetched. NAMES chooses.
mpi4py-tests: $(BUILD)/silken $(LIBSILKEN)
	+$(MAKE) lib
	BUILD=$(BUILD) $(PYTHON) harness/mpi/mpi4py_tests.py $(if $(SOURCE),--source $(SOURCE)) $(NAMES)
.PHONY: mpi4py-tests

# Every scenario of the tree in the lab and in the simulator (harness/cli/lab/scenarios.py).
lab-scenarios: $(BUILD)/silken
	BUILD=$(BUILD) $(PYTHON) harness/cli/lab/scenarios.py
.PHONY: lab-scenarios

# A protocol of one's own with faults, SEEDS of it (docs/own-aggregation.md).
own-faults: $(BUILD)/silken
	SEEDS=$(or $(SEEDS),1..20000) BUILD=$(BUILD) $(PYTHON) harness/sim/test_own.py Own.test_faults
.PHONY: own-faults

# Racks that are recorded and replayed, RUNS of them.
cards: $(BUILD)/silken $(BUILD)/.deps-test
	BUILD=$(BUILD) $(if $(CARDS),CARDS=$(CARDS)) $(PYTHON) harness/cards/cards.py
.PHONY: cards
recorded-racks: $(BUILD)/silken
	RUNS=$(or $(RUNS),100) BUILD=$(BUILD) $(PYTHON) harness/control/tor/test_recorded.py
.PHONY: recorded-racks

# What runs on several threads, with every access watched: all of it, and the short ones in make test. DPDK's own
# code is not: its rings and drivers are no part of these tests.
test-threads:
	+$(MAKE) SANITIZE=thread $(addprefix build/tsan/,$(THREAD_TESTS) silken)
	for t in $(THREAD_TESTS); do TSAN_OPTIONS=halt_on_error=1 build/tsan/$$t || exit 1; done
	TSAN_OPTIONS=halt_on_error=1 BUILD=build/tsan QUICK=1 $(PYTHON) harness/pcap/replay/test_replay_threads.py
.PHONY: test-threads

# ---- fuzzing ----
FUZZ_BIN := $(patsubst harness/%.c,$(BUILD)/fuzzers/%,$(FUZZ_SRC))
FUZZ_SECONDS ?= 60
# A target is linked alone, but for what it shares with the room's tests.
$(BUILD)/fuzzers/hosts/switchml/fuzz_worker: \
    $(call obj,$(addprefix harness/,hosts/switchml/worker_script.c hosts/switchml/answer.c hosts/netsim.c net/events.c))
$(BUILD)/fuzzers/hosts/roce/fuzz_roce: $(call obj,harness/hosts/roce/script.c)
$(addprefix $(BUILD)/fuzzers/hosts/atp/fuzz_atp_,worker server): $(call obj,$(addprefix harness/hosts/atp/,script.c rig.c))
$(foreach t,frame receiver sender station,$(eval \
    $(BUILD)/fuzzers/hosts/dlcp/fuzz_dlcp_$t: $(call obj,harness/hosts/dlcp/script_$t.c)))
$(addprefix $(BUILD)/fuzzers/compiler/,fuzz_compile chip/fuzz_check): $(call obj,harness/compiler/p4_mutator.c)
$(addprefix $(BUILD)/fuzzers/control/tor/fuzz_,tor jobs resume): $(call obj,harness/control/tor/rig.c)
$(addprefix $(BUILD)/fuzzers/control/tor/fuzz_,tor jobs resume): LIBS += -lcmocka
$(BUILD)/fuzzers/%: $(BUILD)/obj/harness/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer,address,undefined -rdynamic -pthread -o $@ $^ $(LIBS)
$(patsubst %.c,$(BUILD)/obj/%.o,$(FUZZ_SRC)): | $(WIRE_HEADERS)
fuzzers: $(FUZZ_BIN)
.PHONY: fuzzers
fuzz: $(BUILD)/.deps-tools
	+$(MAKE) FUZZ=1 fuzzers
	SECONDS_EACH=$(FUZZ_SECONDS) ONLY=$(ONLY) SEEDS="$(SEEDS)" INCLUDE=$(INCLUDE) sh harness/fuzz.sh

# Random programs on every build and on the interpreter of the IR, for SECONDS; findings are kept in
# $(BUILD)/differential (harness/interp/differential.h).
SECONDS ?= 3600
fuzz-differential: $(BUILD)/harness/interp/test_differential
	BUILD=$(BUILD) $< --seconds $(SECONDS)
.PHONY: fuzz-differential

# Random programs that take notes, and packets that agree in what was noted, from program NOTES_SEED on.
PROGRAMS ?= 20000
fuzz-notes: $(BUILD)/harness/compiler/instrument/test_notes
	NOTES_PROGRAMS=$(PROGRAMS) $<
.PHONY: fuzz-notes

# Random packets through programs whose register actions are loops over lanes, on all builds.
PACKETS ?= 5000000
fuzz-lanes: $(BUILD)/harness/compiler/plan/test_lanes
	$< --packets $(PACKETS)
.PHONY: fuzz-lanes

# Mutants of the SwitchML program, which the captures must tell from it (harness/replay/README.md).
captures: $(BUILD)/silken
	BUILD=$(BUILD) TWICE=1 $(PYTHON) harness/replay/test_captures.py
.PHONY: captures
mutants: $(BUILD)/silken
	BUILD=$(BUILD) $(PYTHON) harness/replay/mutants.py $(if $(RESUME),--resume) $(if $(SAMPLE),--sample $(SAMPLE))
.PHONY: mutants

# ---- simulation: docs/simulation.md ----
# SEEDS seeds of random faults, dealt out over the scenarios, in JOBS processes; the nightly run takes new
# seeds (from FROM on) until NIGHTLY seconds have passed.
NIGHTLY ?= 3600
sim-faults: $(BUILD)/silken
	BUILD=$(BUILD) SEEDS=$(or $(SEEDS),20000) JOBS=$(or $(JOBS),2) FROM=$(FROM) sh harness/sim/faults.sh
# Jobs that begin again in any order: workers, servers and switches, beside all other faults.
sessions-sim: $(BUILD)/silken
	BUILD=$(BUILD) SCENARIOS='*-sessions*.json' SEEDS=$(or $(SEEDS),20000) JOBS=$(or $(JOBS),2) FROM=$(FROM) sh harness/sim/faults.sh
# Collective operations in the switch: bad links by the model and the program, then networks, then jobs that begin again.
collectives-faults: $(BUILD)/harness/hosts/switchml/test_collectives $(BUILD)/silken
	BUILD=$(BUILD) SILKEN_SEEDS=$(or $(FROM),1)..$$(($(or $(FROM),1) + $(or $(SEEDS),20000) - 1)) $<
	BUILD=$(BUILD) SCENARIOS='switchml-collectives-*.json' SEEDS=$(or $(SEEDS),20000) JOBS=$(or $(JOBS),2) FROM=$(or $(FROM),1) \
		sh harness/sim/faults.sh
# SwitchML over several levels of switches, and the paper's 3,600 workers once.
levels-faults: $(BUILD)/silken
	BUILD=$(BUILD) SCENARIOS='switchml-*-levels-faults.json' SEEDS=$(or $(SEEDS),20000) JOBS=$(or $(JOBS),2) FROM=$(or $(FROM),1) \
		sh harness/sim/faults.sh
	$(BUILD)/silken sim sim/scenarios/switchml-levels.json
sim-nightly: $(BUILD)/silken
	BUILD=$(BUILD) SECONDS_TO_RUN=$(NIGHTLY) JOBS=$(or $(JOBS),2) FROM=$(FROM) sh harness/sim/faults.sh
.PHONY: sim-faults sessions-sim collectives-faults levels-faults sim-nightly

# ---- Libra ----
libra-faults: $(BUILD)/harness/hosts/libra/test_server $(BUILD)/harness/control/libra/test_libra $(BUILD)/silken
	for t in $(filter-out %/silken,$^); do SEEDS=$(or $(SEEDS),20000) FROM=$(or $(FROM),1) $$t || exit 1; done
	BUILD=$(BUILD) SCENARIOS='libra-*faults.json' SEEDS=$(or $(SEEDS),20000) JOBS=$(or $(JOBS),2) FROM=$(or $(FROM),1) \
		sh harness/sim/faults.sh
libra-adder: $(BUILD)/harness/hosts/libra/test_floats
	EXPONENTS=1 PAIRS=$(or $(PAIRS),100000000) $<
.PHONY: libra-faults libra-adder

# ---- DLCP ----
dlcp-faults: $(BUILD)/harness/hosts/dlcp/test_faults
	SEEDS=$(or $(SEEDS),20000) FROM=$(or $(FROM),1) $<
dlcp-demos: $(BUILD)/silken
	BUILD=$(BUILD) RESUME=$(RESUME) /usr/bin/python3 harness/cli/demo/dlcp_demos.py $(WORDS)
.PHONY: dlcp-faults dlcp-demos

# ---- all systems on one network: docs/comparison.md ----
# examples/compare/*.json: tables, JSON and pictures in $(BUILD)/comparison, and one table of all in its folder all. It all is
# of virtual time, but for hosts' processor time (of $(BUILD)/bench.json) and accuracy.
ACCURACY := docs/comparison/accuracy.json
comparison: $(BUILD)/silken
	mkdir -p $(BUILD)/comparison
	for f in examples/compare/*.json; do n=$(BUILD)/comparison/$$(basename $$f .json); \
		$(BUILD)/silken compare $$f --jobs 2 $(if $(wildcard $(BUILD)/bench.json),--bench $(BUILD)/bench.json) \
		    $(if $(wildcard $(ACCURACY)),--accuracy $(ACCURACY)) --json $$n.json --plot $$n.png >$$n.txt || exit 1; cat $$n.txt; echo; done
	/usr/bin/python3 bench/figures/comparison.py $(BUILD)/comparison $(BUILD)/comparison/all
# How accurate training is with each system's sums: OUT is the file.
comparison-accuracy: $(BUILD)/bench/figures/numbers.so
	BUILD=$(abspath $(BUILD)) /usr/bin/python3 bench/figures/comparison_accuracy.py $(or $(OUT),$(ACCURACY))
.PHONY: comparison comparison-accuracy

# ---- campaigns in pieces: docs/reliability.md ----
campaign: $(BUILD)/silken $(BUILD)/.deps-tools
	+$(MAKE) FUZZ=1 fuzzers
	BUILD=$(BUILD) /usr/bin/python3 harness/campaign/campaign.py --seconds $(or $(SECONDS),3600) --jobs $(or $(JOBS),1) $(WORDS)
.PHONY: campaign

# ---- the figures of papers: docs/figures-atp.md, docs/figures-libra.md ----

# FIGURES="13 14": these; OUT=docs/figures: where the tables and pictures go
figures-atp: $(BUILD)/silken
	BUILD=$(abspath $(BUILD)) OUT=$(abspath $(or $(OUT),$(BUILD)/figures)) \
		python3 bench/figures/figures.py $(FIGURES)
.PHONY: figures-atp
figures-switchml: $(BUILD)/silken
	BUILD=$(abspath $(BUILD)) OUT=$(abspath $(or $(OUT),$(BUILD)/figures)) \
		/usr/bin/python3 bench/figures/switchml.py $(FIGURES)
figures-switchml-training: $(BUILD)/bench/figures/numbers.so
	BUILD=$(abspath $(BUILD)) OUT=$(abspath $(or $(OUT),$(BUILD)/figures)) \
		/usr/bin/python3 bench/figures/switchml_training.py $(FIGURES)
.PHONY: figures-switchml figures-switchml-training
# What workers and switch make of gradients, for the training.
$(BUILD)/bench/figures/numbers.so: $(call obj,bench/figures/numbers.c hosts/core/quantise.c hosts/core/halves.c hosts/core/wire_type.c)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) -shared -Wl,-z,defs -o $@ $^ -lm
figures-dlcp: $(BUILD)/silken
	BUILD=$(abspath $(BUILD)) OUT=$(abspath $(or $(OUT),$(BUILD)/figures)) \
		python3 bench/figures/dlcp.py $(FIGURES)
# What training loses by lost gradients; an hour of one processor. FIGURES="4 5a 5b 15": these; SEEDS=5
figures-dlcp-training:
	OUT=$(abspath $(or $(OUT),$(BUILD)/figures)) /usr/bin/python3 bench/figures/dlcp_training.py $(FIGURES)
.PHONY: figures-dlcp figures-dlcp-training
figures-libra: $(BUILD)/bench/figures/libra $(BUILD)/silken
	$<
	BUILD=$(abspath $(BUILD)) OUT=$(abspath $(or $(OUT),$(BUILD)/figures)) python3 bench/figures/libra_network.py $(FIGURES)
.PHONY: figures-libra
$(BUILD)/bench/figures/libra: $(call obj,bench/figures/libra.c sim/libra/zipf.c) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)

# ---- measurements ----
BENCH_SRC := $(filter-out bench/table_lookup.c bench/table_change.c bench/memif_burst.c \
    bench/af_packet_burst.c,$(wildcard bench/*.c))
bench: $(BUILD)/silken $(BUILD)/bench/benchmark $(BUILD)/bench/reduce_silken
	BUILD=$(BUILD) ONLY="$(ONLY)" MAKE="$(MAKE)" sh bench/run.sh
.PHONY: bench
$(BUILD)/bench/benchmark: $(call obj,$(BENCH_SRC)) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
$(BUILD)/bench/reduce_silken: $(call obj,bench/allreduce/silken.c) $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
# The peers of the all-reduce: they share nothing with us but the tensor.
$(BUILD)/bench/reduce_mpi: bench/allreduce/mpi.c bench/allreduce/reduce.h
	$(call say,MPICC)
	$(Q)mpicc -std=c17 -O3 -march=native -Wall -D_GNU_SOURCE -o $@ $< -lm
$(BUILD)/bench/reduce_gloo: bench/allreduce/gloo.cc bench/allreduce/reduce.h
	$(call say,CXX)
	$(Q)c++ -O3 -march=native -Wall -o $@ $< -lgloo -lpthread
$(call obj,$(BENCH_SRC) bench/allreduce/silken.c): | $(WIRE_HEADERS)
$(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(LIB_OBJ)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $^ $(LIBS)
# The ToR beside Open vSwitch with DPDK and the Linux bridge (bench/tor/tor.py).
$(BUILD)/bench/flood $(BUILD)/bench/echo: $(BUILD)/bench/%: bench/tor/%.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -std=c17 -O2 $(WARN) -D_GNU_SOURCE -o $@ $<
bench-tor: $(BUILD)/silken $(BUILD)/bench/flood $(BUILD)/bench/echo
	sh harness/deps.sh tor
	BUILD=$(BUILD) $(PYTHON) bench/tor/tor.py $(or $(SECONDS_EACH),1) $(BUILD)/bench $(ROUNDS)
.PHONY: bench-tor
$(BUILD)/bench/memif_burst: $(BUILD)/obj/bench/common.o
bench-memif: $(BUILD)/bench/memif_burst
	$<
$(BUILD)/bench/af_packet_burst: $(BUILD)/obj/bench/rig.o $(BUILD)/obj/bench/common.o
bench-af-packet: $(BUILD)/bench/af_packet_burst
	$<
bench-tables: $(BUILD)/bench/table_lookup $(BUILD)/bench/table_change
	$(BUILD)/bench/table_lookup
	$(BUILD)/bench/table_change
.PHONY: bench-af-packet bench-memif bench-tables

# ---- style ----
# in a checkout what git has, in an unpacked archive all but what is built
OURS := $(or $(shell git ls-files '*.c' '*.h' 2>/dev/null), \
    $(shell find . -path ./build -prune -o -name '*.[ch]' -printf '%P '))
CPPCHECK := cppcheck --quiet --std=c17 --error-exitcode=1 --inline-suppr -I. -Ihosts/include -I$(GEN) \
    --suppressions-list=harness/cppcheck.txt -j2
lint: $(BUILD)/.deps-tools $(GENERATED_C) $(WIRE_HEADERS) $(OVS)/libopenvswitch.a
	$(PYTHON) harness/rooms/arrows.py
	$(PYTHON) harness/rooms/functions.py
	$(PYTHON) harness/rooms/columns.py
	clang-format --dry-run --Werror $(OURS)
	$(CPPCHECK) $(filter-out $(SRC/control/tor),$(filter %.c,$(OURS)))
	$(CPPCHECK) -Dtypeof=__typeof__ $(addprefix -I$(OVS)/src,/ /include /lib) --suppress='*:$(OVS)/*' $(SRC/control/tor)
format:
	clang-format -i $(OURS)

# ---- installation: the same objects, but for the one that knows where the tree lies ----
INSTALLED_SRC := compiler/base/share.c
INSTALLED_OBJ := $(patsubst %.c,$(BUILD)/installed/%.o,$(INSTALLED_SRC))
# What programs include, and what people read. No list that git would have to make: a tarball has no git.
DOCUMENTS := $(sort $(wildcard docs/*.md docs/*/*.png docs/*/*.svg docs/learn/*.md \
    $(foreach e,md p4 stf json c,docs/learn/*/*.$(e))) CHANGELOG.md)
INSTALLED := $(sort $(wildcard python/*/*.py python/silken/*/*.py python/*.dist-info/* packaging/example/*.json stages/*.h pipeline/*.h $(foreach d,p4 p4/* p4/*/* p4/*/*/*,$(d)/*.p4 $(d)/*.md)))
BIN_DIR    = $(DESTDIR)$(PREFIX)/bin
UNIT_DIR   = $(DESTDIR)$(PREFIX)/lib/systemd/system
SHARE_DIR  = $(DESTDIR)$(PREFIX)/share/silken
DOCDIR    ?= $(PREFIX)/share/silken/docs
DOC_DIR    = $(DESTDIR)$(DOCDIR)
MAN_DIR    = $(DESTDIR)$(PREFIX)/share/man
BASH_DIR   = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_DIR    = $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions
CONF_DIR   = $(DESTDIR)$(PREFIX)/lib
# always anew: PREFIX may be another one than the last time
.PHONY: $(INSTALLED_OBJ)
# private: what is built for it on the way is not installed
$(INSTALLED_OBJ): private SHARE := $(PREFIX)/share/silken
$(INSTALLED_OBJ): $(BUILD)/installed/%.o: %.c $(BUILD)/silken
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALLFLAGS) $(PKG_CFLAGS) -c -o $@ $<
$(BUILD)/installed/silken: $(INSTALLED_OBJ)
	$(call say,LD)
	$(Q)$(LINK) -o $@ $(filter-out $(call obj,$(INSTALLED_SRC)),$(LIB_OBJ) $(call obj,$(MAIN_SRC))) $^ $(LIBS)

LIBDIR    ?= $(PREFIX)/lib
LIB_DIR    = $(DESTDIR)$(LIBDIR)
# ps/ps.h is below it, not where PS-lite itself would be.
HEADER_DIR = $(DESTDIR)$(PREFIX)/include/silken
install: $(BUILD)/installed/silken $(BUILD)/pages/.made $(LIBSILKEN) $(SHIMS) $(COMPONENT)
	install -D -m 755 $< $(BIN_DIR)/silken
	install -d $(HEADER_DIR) $(LIB_DIR)/pkgconfig
	install -m 644 hosts/include/silken/*.h $(HEADER_DIR)
	install -d $(HEADER_DIR)/ps
	install -m 644 hosts/include/ps/*.h $(HEADER_DIR)/ps
	install -m 644 $(filter-out %/libsilken.so $(DPDK_MODULE),$(LIBSILKEN)) $(LIB_DIR)
	install -D -m 644 $(DPDK_MODULE) $(LIB_DIR)/silken/$(notdir $(DPDK_MODULE))
	ln -sf $(SONAME) $(LIB_DIR)/libsilken.so
	for f in $(SHIMS); do install -D -m 644 $$f $(LIB_DIR)/silken/$${f##*/} || exit 1; done
	for f in $(COMPONENT); do install -D -m 644 $$f $(LIB_DIR)/silken/openmpi/$${f##*/} || exit 1; done
	sed 's,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(LIBDIR),; s,@VERSION@,$(VERSION),' packaging/silken.pc.in >$(LIB_DIR)/pkgconfig/silken.pc
	chmod 644 $(LIB_DIR)/pkgconfig/silken.pc
	install -d $(UNIT_DIR)
	sed 's,@PREFIX@,$(PREFIX),; s,@DOCDIR@,$(DOCDIR),' packaging/silken.service >$(UNIT_DIR)/silken.service
	chmod 644 $(UNIT_DIR)/silken.service
	for d in sysusers tmpfiles; do install -D -m 644 packaging/silken.$$d $(CONF_DIR)/$$d.d/silken.conf || exit 1; done
	for f in $(INSTALLED); do install -D -m 644 $$f $(SHARE_DIR)/$$f || exit 1; done
	sed -i 's,^Version: .*,Version: $(VERSION),' $(SHARE_DIR)/python/silken.dist-info/METADATA
	for f in $(DOCUMENTS); do install -D -m 644 $$f $(DOC_DIR)/$${f#docs/} || exit 1; done
	for f in $(BUILD)/pages/*.[15]; do install -D -m 644 $$f $(MAN_DIR)/man$${f##*.}/$${f##*/} || exit 1; done
	install -D -m 644 $(BUILD)/pages/silken.bash $(BASH_DIR)/silken
	install -D -m 644 $(BUILD)/pages/silken.zsh $(ZSH_DIR)/_silken
uninstall:
	rm -f $(BIN_DIR)/silken $(UNIT_DIR)/silken.service $(BASH_DIR)/silken $(ZSH_DIR)/_silken
	rm -f $(foreach d,sysusers tmpfiles,$(CONF_DIR)/$(d).d/silken.conf)
	rm -f $(foreach s,1 5,$(MAN_DIR)/man$(s)/silken.$(s) $(MAN_DIR)/man$(s)/silken-*.$(s))
	rm -rf $(foreach f,$(DOCUMENTS:docs/%=%),$(DOC_DIR)/$(f))
	[ ! -d $(DOC_DIR) ] || find $(DOC_DIR) -depth -type d -empty -delete
	rm -f $(patsubst $(BUILD)/%,$(LIB_DIR)/%,$(LIBSILKEN)) $(LIB_DIR)/pkgconfig/silken.pc
	rm -f $(LIB_DIR)/silken/$(notdir $(DPDK_MODULE)) $(LIB_DIR)/silken/libsilken-mpi-*.so $(LIB_DIR)/silken/openmpi/mca_coll_silken.so
	for d in silken/openmpi silken; do [ ! -d $(LIB_DIR)/$$d ] || rmdir --ignore-fail-on-non-empty $(LIB_DIR)/$$d; done
	rm -rf $(SHARE_DIR) $(HEADER_DIR)
distcheck:
	sh harness/install/distcheck.sh
.PHONY: install uninstall distcheck

# What `silken help` prints, the schema and the manual, as manual pages and completion (packaging/pages/pages.py).
PAGES_SRC := $(wildcard packaging/pages/*.py) docs/manual.md docs/simulation.md
$(BUILD)/pages/.made: $(BUILD)/silken $(PAGES_SRC) VERSION
	$(call say,PAGES)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)$(PYTHON) packaging/pages/pages.py $(BUILD)/silken $(VERSION) $(@D)
	$(Q)touch $@
pages: $(BUILD)/pages/.made

# ---- packages ----
deb:
	sh harness/deps.sh build
	sh harness/deps.sh deb
	sh packaging/deb.sh $(BUILD)/deb
deb-check:
	sh harness/deps.sh deb-check
	BUILD=$(BUILD) sh harness/install/debcheck.sh
oci:
	sh harness/deps.sh deb-check
	sh packaging/oci.sh $(BUILD)/deb $(BUILD)/silken.oci.tar
release:
	sh packaging/release.sh
.PHONY: pages deb deb-check oci release

clean:
	rm -rf build

-include $(patsubst %.o,%.d,$(filter %.o,$(LIB_OBJ)) $(call obj,$(MAIN_SRC) $(WIREGEN_SRC) $(TEST_SRC) $(FUZZ_SRC) $(HELPER_SRC) $(TOOL_SRC) $(BENCH_SRC) \
    bench/allreduce/silken.c))
