# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# expect: resources left, or not to be listed
# expect: exit status 1
# timeout: 90
rdma_up
no_resources
rdma() { return 1; }
no_resources
