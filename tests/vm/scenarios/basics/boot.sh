# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: boot, bring up rxe on both ends of the wire, show the core
# timeout: 60
rdma_up
barrier up
rdma dev
rdma link
show_core
barrier end
