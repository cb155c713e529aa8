# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: two subnet managers; the master is killed, and traffic goes on
# timeout: 240
. /ibex/lib/vib.sh

cat > /run/opensm.conf <<-END
	sminfo_polling_timeout 500
	polling_retry_number 2
END

state_of() { sminfo "$(lid "$1")" 2> /dev/null | grep -q "SMINFO_$2"; }

lids() { cat /sys/class/infiniband/vib*/ports/1/lid; }

vib_up
record_core
subnet_up 3 -p 9
ipoib_up
wait_for 60 ping -c 1 -W 1 10.1.0.3 || fail "no ping"

say "a second subnet manager"
opensm_up vib1 -p 5 -F /run/opensm.conf
wait_for 60 state_of vib1 STANDBY || fail "it does not stand by"
state_of vib0 MASTER || fail "the first is no master any more"
lids > /run/lids

say "the master is killed"
pings 200 10.1.0.3 &
PING=$!
kill -9 "${OPENSM[vib0]}"
wait_for 60 state_of vib1 MASTER || fail "the second does not take over"
wait_for 60 ports_are ACTIVE 3 || fail "ports are not active"
lids | cmp - /run/lids || fail "LIDs have changed"
wait $PING || fail "pings were lost"

say "it serves"
wait_for 30 saquery || fail "no answer of the SA"
ip link set ib0 down
ip link set ib0 up
wait_for 60 ping -c 1 -W 1 10.1.0.3 || fail "no ping after a new join"

ipoib_down
opensm_down vib1
vib_down
