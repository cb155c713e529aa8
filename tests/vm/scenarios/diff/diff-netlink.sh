# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: random RDMA netlink requests, which scripts/vm-diff compares; words: SEED NUMBER...
# timeout: 1200
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/diff.sh

user_up
# for a link that comes and goes
ip link add vc type veth peer name vd
# an id and a context of a process, for the lists of resources
next_port
rping -s -a $A -p $PORT &
server=$!
wait_for 10 listens_cm || fail "rping does not listen"
diff_alone "python3 /ibex/tools/diff_nl.py"
kill $server
wait $server || :
user_down
