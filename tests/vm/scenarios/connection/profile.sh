# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: connects of librdmacm's cmtime between two marks, for scripts/profile-connect; words: [COUNT]
# timeout: 600
# debug: off
. /ibex/lib/user.sh
. /ibex/lib/profile.sh
count=${IBEX_ARGS:-100}

# connects COUNT [WRAPPER]: WRAPPER MOMENT is called before the client begins and when it has ended
connects() {
	local server
	next_port
	cmtime -b $A -p "$PORT" -c "$1" > /tmp/server 2>&1 &
	server=$!
	wait_for 15 listens_cm || fail "cmtime does not listen: $(cat /tmp/server)"
	"${2-:}" begin
	cmtime -s $A -b $B -p "$PORT" -c "$1" > /tmp/client 2>&1 || fail "cmtime: $(cat /tmp/client)"
	"${2-:}" end
	kill $server
	wait $server || :
}

user_up
# Grows what only grows, and makes what is made once.
connects "$count"
connects "$count" instructions
sed -n '/^step/,$ s/^/  /p' /tmp/client
# In a pass of its own: it takes time itself.
connects "$count" works
symbols
user_down
