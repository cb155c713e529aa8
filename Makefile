# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Builds Ibex's modules against a kernel's headers package; `make help` lists the rest.

ifneq ($(filter debug kcsan,$(KERNEL)),)
# Looked up when it is first used, since it may have to be built.
KDIR = $(eval KDIR := $(shell scripts/kernel/debug-kernel $(KERNEL)))$(KDIR)
else ifneq ($(KVER),)
KDIR ?= /usr/src/linux-headers-$(KVER)
else
KDIR ?= $(addprefix /usr/src/linux-headers-,$(shell scripts/kernel/kver))
endif
ifeq ($(KVER),)
# As uname -r has it: include/config/kernel.release of Debian's 6.1 has another name.
KVER = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2> /dev/null)
endif
VERSION = $(shell scripts/version)

# Debian's headers package reads this variable; other headers ignore it.
export DEBIAN_KERNEL_USE_CCACHE := $(if $(shell command -v ccache),1)
export CCACHE_DIR ?= $(shell scripts/kernel/ccache-dir)

MODULES := core/ mad/ cm/ cma/ user/ drivers/vib/
SHADOW   = $(CURDIR)/build/$(KVER)
# 6.12 lists objects, 6.1 modules.
BUILT    = $(shell sed 's/\.k\?o$$/.ko/' $(SHADOW)/modules.order)

# $(call kbuild,SHADOW): genksyms gives each export the distribution's CRC, see
# scripts/abi/genksyms.
kbuild = $(MAKE) $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) -C $(KDIR) M=$(1) IBEX_SRC=$(CURDIR) W=1 \
	$(if $(filter debug kcsan,$(KERNEL)),CC='ccache gcc') \
	genksyms="$(CURDIR)/scripts/abi/genksyms $(KDIR)/Module.symvers $(CURDIR)/scripts/abi/own-exports"
# Prints the options of Kconfig that are built; CONFIG_IBEX_X=n turns one off.
CONFIG = scripts/kernel/kconfig-check Kconfig $(KDIR)/include/config/auto.conf \
	$(foreach v,$(filter CONFIG_IBEX%,$(.VARIABLES)),$(v)=$($(v)))

# Where make install puts the modules; depmod prefers updates/ to the distribution's.
UPDATES = $(DESTDIR)/lib/modules/$(KVER)/updates
NAMES   = ib_core ib_mad ib_cm iw_cm rdma_cm ib_uverbs ib_umad rdma_ucm vib
# Earlier versions put the modules into updates/ itself.
remove_modules = rm -rf $(UPDATES)/ibex $(NAMES:%=$(UPDATES)/%.ko)
DEPMOD  = $(if $(DESTDIR),,depmod $(KVER))

# What only builds and installs needs fewer packages than the tests.
BUILDS  = all modules libvib libibex install uninstall
DEPS    = $(if $(filter-out $(BUILDS),$(or $(MAKECMDGOALS),all)),build tests,build)

.PHONY: all help deps kdir modules libvib libibex install uninstall dist deb kernels check-kernels \
	check-deb check-operate abi abi-test sparse lint kunit model demo demo-ib bench-mad bench-cm profile-connect results \
	chaos check check-all check-debug check-fast clean
all: modules

help:
	@echo "make               build the modules against KDIR ($(KDIR))"
	@echo "                   KERNEL=debug|kcsan: against scripts/kernel/debug-kernel"
	@echo "make libvib        build tools/libvib, the verbs of processes on vib, and test it"
	@echo "make libibex       build tools/libibex, verbs that libibverbs does not have, and test it"
	@echo "make install       put modules in DESTDIR/lib/modules/$(KVER)/updates/ibex, both libraries, ibexctl"
	@echo "make uninstall     remove what make install installed"
	@echo "                   KVER= another kernel whose headers package is installed"
	@echo "make deb           Debian packages of version $(VERSION), in build/deb"
	@echo "make check-deb     install, upgrade and remove them in a Debian of their own;"
	@echo "                   PREBUILT=DIR: modules that DKMS takes instead of compiling"
	@echo "make check-operate live swaps of the core, killed swaps and a purge, on a Debian in a VM;"
	@echo "                   SWAPS= how many; RELEASE=6.1: with those kernels"
	@echo "make dist          build/ibex-$(VERSION).tar.xz"
	@echo "make kernels       build and make abi for each 6.1 and 6.12 kernel that apt has;"
	@echo "                   KVER= one of them, RELEASE=6.1|6.12, FLAVOUR=plain|rt"
	@echo "make check-kernels the same, and run scenarios on each in a virtual machine"
	@echo "make demo          NFS over RDMA on a stock kernel in a virtual machine"
	@echo "make demo-ib       two virtual machines as one InfiniBand subnet: opensm, IPoIB, NFS, XRC"
	@echo "make check         all tests; make check-fast: build, ABI, lint, KUnit, tools"
	@echo "make check-all     and the scenarios of tests/vm/check-all-list: fuzzer, kill -9 ..."
	@echo "make check-debug   suites, scenarios and chaos under KASAN and lockdep, or KCSAN;"
	@echo "                   PIECES='ulps chaos': those of tests/vm/check-debug-list only"
	@echo "make chaos         random changes of everything under traffic on that kernel;"
	@echo "                   SEED=, MINUTES=, TRAFFIC='nfs smc', KERNEL=kcsan"
	@echo "make abi           hold exports and struct layouts against the distribution's"
	@echo "make abi-test      seeded differences, which the gate must find"
	@echo "make kunit         KUnit suites on User Mode Linux with sanitizers"
	@echo "make model         the CM's state machine against a lossy network, with Spin"
	@echo "make sparse lint   static checks"
	@echo "make bench-mad     what the MAD layer costs, the in-tree core beside ours"
	@echo "make bench-cm      what connections cost, likewise"
	@echo "make profile-connect  what a connection costs, by module and function, on either core"
	@echo "make results       Documentation/results.rst anew, SECTION= one section of it"
	@echo "IBEX_CACHE         folder for what is kept between runs ($$(scripts/cache))"

deps:
	@scripts/install-deps $(DEPS)

kdir: deps
	@[ -e "$(KDIR)/include/config/auto.conf" ] || { \
		echo "ibex: no kernel headers in '$(KDIR)': is linux-headers-$(or $(KVER),KVER) installed?" >&2; \
		exit 1; }

modules: kdir
	@scripts/kernel/shadow-tree $(SHADOW) Kbuild include $(MODULES)
	+config=$$($(CONFIG)) && $(call kbuild,$(SHADOW)) $$config modules

libvib libibex: deps
	@$(MAKE) --no-print-directory -C tools/$@ OUT=$(CURDIR)/build/$@ all test

# The kernel's own rules strip modules of debug information, not of BTF, and compress them as
# its configuration says, without the signature that it asks for.  They replace older modules
# only when all are there.
install: modules libvib libibex
	rm -rf $(UPDATES)/ibex.new
	$(MAKE) -C $(KDIR) M=$(SHADOW) INSTALL_MOD_PATH=$(abspath $(DESTDIR)) \
		INSTALL_MOD_DIR=updates/ibex.new INSTALL_MOD_STRIP=1 CONFIG_MODULE_SIG_ALL= modules_install
	$(remove_modules)
	mv $(UPDATES)/ibex.new $(UPDATES)/ibex
	@for tool in libvib libibex ibexctl; do \
		$(MAKE) --no-print-directory -C tools/$$tool OUT=$(CURDIR)/build/$$tool install || exit; \
	done
	$(DEPMOD)

uninstall: kdir
	$(remove_modules)
	@for tool in libvib libibex ibexctl; do \
		$(MAKE) --no-print-directory -C tools/$$tool uninstall || exit; \
	done
	$(DEPMOD)

dist:
	@mkdir -p build
	git archive --prefix=ibex-$(VERSION)/ HEAD | xz > build/ibex-$(VERSION).tar.xz.new
	@mv build/ibex-$(VERSION).tar.xz.new build/ibex-$(VERSION).tar.xz

deb:
	@scripts/install-deps build deb
	@scripts/deb/build

check-operate: deb
	@scripts/install-deps operate
	@tests/operate/run "$(SWAPS)" $(RELEASE)

check-deb: deb
	@tests/deb/run $(if $(PREBUILT),--built $(PREBUILT))

# A KVER that was not asked for is the installed kernel's.
kernels check-kernels: deps
	@scripts/kernel/build-each $(if $(filter check-%,$@),--boot) \
		$(if $(filter command environment,$(origin KVER)),$(KVER)) $(RELEASE) $(FLAVOUR)

abi: modules
	@scripts/abi/abi-gate --kdir $(KDIR) --stock "$$(scripts/abi/stock-modules $(KVER))" \
		--symvers $(SHADOW)/Module.symvers $(BUILT)

abi-test: modules
	@scripts/kernel/shadow-tree $(SHADOW)-abi Kbuild include tests/abi
	+$(call kbuild,$(SHADOW)-abi) IBEX_TESTS=tests/abi/ -s modules
	@tests/abi/run $(KDIR) "$$(scripts/abi/stock-modules $(KVER))" $(SHADOW)-abi \
		$(SHADOW)/Module.symvers $(BUILT)

sparse: modules
	+@config=$$($(CONFIG)) && \
		scripts/sparse $(SHADOW)/sparse.log $(call kbuild,$(SHADOW)) $$config

lint: deps
	@scripts/lint

kunit: deps
	+@scripts/kunit $(if $(CASE),--case '$(CASE)') $(if $(PROVIDER),--provider $(PROVIDER)) $(SUITES)

model: deps
	@scripts/model

demo: modules
	@scripts/vm run demo

demo-ib: modules
	@scripts/vm run --two demo-ib

bench-mad: modules
	@scripts/bench-mad

bench-cm: modules
	@scripts/bench-cm

chaos: deps
	+@$(MAKE) --no-print-directory -s KERNEL=$(or $(KERNEL),debug) modules
	@scripts/vm run --kernel $(or $(KERNEL),debug) --timeout $$(($(or $(MINUTES),5) * 60 + 1200)) \
		--args "$(or $(SEED),$(shell od -An -N2 -tu2 /dev/urandom)) $(or $(MINUTES),5) $(or $(TRAFFIC),all)" chaos

profile-connect: modules
	@scripts/profile-connect

results: modules
	@scripts/results $(SECTION)

check: deps
	+@scripts/check all

check-all: deps
	+@scripts/check long

check-debug: deps
	+@scripts/check debug $(PIECES)

check-fast: deps
	+@scripts/check fast

clean:
	rm -rf $(SHADOW) $(SHADOW)-abi
