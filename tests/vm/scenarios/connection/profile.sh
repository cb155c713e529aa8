# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: connects of librdmacm's cmtime between two marks, for scripts/profile-connect; words: [COUNT]
# timeout: 600
# debug: off
. /ibex/lib/user.sh
count=${IBEX_ARGS:-100}
WORKS=/sys/kernel/tracing/events/workqueue/workqueue_execute_start/trigger

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

mark() { /ibex/bin/mark "$1"; }

works() {
	case $1 in
	begin) echo 'hist:keys=function.sym:size=4096' > $WORKS ;;
	end)
		grep '^{' "${WORKS%trigger}hist" > /run/out/works
		echo '!hist:keys=function.sym' > $WORKS
		;;
	esac
}

user_up
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
# Grows what only grows, and makes what is made once.
connects "$count"
connects "$count" mark
sed -n '/^step/,$ s/^/  /p' /tmp/client
# In a pass of its own: it takes time itself.
connects "$count" works
awk '$2 ~ /[tT]/ { print $1, $3, $4 }' /proc/kallsyms > /run/out/kallsyms
user_down
