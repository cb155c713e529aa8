# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: ib_core is not the ours one
insmod "/lib/modules/$(uname -r)/kernel/drivers/infiniband/core/ib_core.ko"
