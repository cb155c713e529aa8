# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sets ibex-headers, flags that tell the headers of this folder what the kernel's headers have, where
# updates of a release differ or a Kbuild has to know it, too.
header = $(srctree)/include/$(1)
ifeq ($(shell grep -s add_sub_dev $(call header,rdma/ib_verbs.h)),)
ibex-headers += -DIBEX_NO_SUB_DEVICES
endif
ifeq ($(shell grep -s pre_destroy_cq $(call header,rdma/ib_verbs.h)),)
ibex-headers += -DIBEX_NO_PRE_DESTROY_CQ
endif
ifeq ($(shell grep -s RESTRACK_DD $(call header,rdma/restrack.h)),)
ibex-headers += -DIBEX_NO_RESTRACK_DD
endif
ifeq ($(wildcard $(call header,rdma/iter.h)),)
ibex-headers += -DIBEX_NO_RDMA_ITER
endif
ifneq ($(shell grep -s 'unsigned long virt' $(call header,rdma/ib_umem.h)),)
ibex-headers += -DIBEX_UMEM_VIRT_LONG
endif
ifeq ($(shell grep -s sk_use_task_frag $(call header,net/sock.h)),)
ibex-headers += -DIBEX_NO_TASK_FRAG
endif
ifneq ($(shell grep -s 'reg_state:[0-9]' $(call header,linux/netdevice.h)),)
ibex-headers += -DIBEX_REG_STATE_BITS
endif
