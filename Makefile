# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
KDIR ?= $(shell ls -d /usr/src/linux-headers-*-amd64 2>/dev/null | sort -V | tail -n 1)
KVER := $(notdir $(KDIR:/usr/src/linux-headers-%=%))

BUILD   := $(CURDIR)/build
MODULES := core/ mad/ cm/ cma/ user/
SHADOW  := $(BUILD)/$(KVER)

kbuild = $(MAKE) -C $(KDIR) M=$(SHADOW) IBEX_SRC=$(CURDIR) \
	IBEX_DIRS="$(wildcard $(MODULES))" W=1 \
	genksyms="$(CURDIR)/scripts/genksyms $(KDIR)/Module.symvers $(CURDIR)/scripts/own-exports"

.PHONY: all modules install clean
all: modules

modules:
	@scripts/shadow-tree $(SHADOW) Kbuild include $(MODULES)
	+$(kbuild) modules

install: modules
	install -d $(DESTDIR)/lib/modules/$(KVER)/updates
	install -m 644 $(foreach d,$(MODULES),$(wildcard $(SHADOW)/$(d)*.ko)) \
		$(DESTDIR)/lib/modules/$(KVER)/updates/

clean:
	rm -rf $(SHADOW)
