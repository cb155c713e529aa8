# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random calls to rdma_cm, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/diff.sh

user_up
user_net6
user_multicast
# Each process has 16 ports.
diff_calls /ibex/bin/diffcm 7440 7456 7472 7488
user_down
