# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: MADs from user space over QP1: agents, exchange, timeouts, RMPP, bad input
# timeout: 120
is_both || fail "this scenario runs in one VM"
rdma_up
load ib_umad
record_core
cases='sysfs chardev netns registration library exchange timeouts bad_writes duplicates rmpp'
# the in-tree core does not match a response from an IPv4 address with its request
[ "$IBEX_MODE" = stock ] || cases="$cases exchange-ipv4 rmpp-ipv4"
cases=${IBEX_ARGS:-$cases removal}
# shellcheck disable=SC2086 # words
python3 /ibex/tools/umad.py $cases || fail "a case failed"
