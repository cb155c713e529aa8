# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: a million random operations on uverbs, rdma_cm and umad; words: [COUNT [SEED]]
# timeout: 400
. /ibex/lib/user.sh
read -r total seed <<<"${IBEX_ARGS:-1000000}"
seed=${seed:-$RANDOM}

user_up
user_net6
user_multicast
# the driver logs each refusal, and the serial line is slow
dmesg -n 1
memory_mark
say "$total operations, seed $seed"
fuzzed $((total / 4 * 3)) 0 "$seed"
no_resources
fuzzed $((total / 4)) 65534 "$seed"
no_resources
say "a good user still gets through"
next_port
pair listens_cm "rping -s -a $A -p $PORT -C 5" "rping -c -a $A -I $B -p $PORT -C 5"
user_down
memory_check
