# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: a connection migrates when a cable is pulled or a switch removed; LAP and APR
# timeout: 400
#
# With --mode stock the in-tree ib_cm has no call that sends a LAP: the alternate path of the
# REQ and the migrations are run there, and what LAPs load on ours is loaded by verbs.
. /ibex/lib/vib.sh

APM=/sys/kernel/debug/ibex_apm

apm() { echo "$2" > "$APM/$1"; }
apm_value() { sed -n "s/^$1=//p" "$APM/stats"; }

# apm_is NAME=VALUE...: all of them
apm_is() {
	local stats pair
	stats=$(cat "$APM/stats")
	for pair in "$@"; do
		grep -qxF "$pair" <<< "$stats" || return 1
	done
}

# wait_apm SECONDS WHAT NAME=VALUE...
wait_apm() {
	local seconds=$1 what=$2
	shift 2
	wait_for "$seconds" apm_is "$@" || { cat "$APM/stats"; fail "$what"; }
}

# more_than NAME NUMBER
more_than() { [ "$(apm_value "$1")" -gt "$2" ]; }

# No message was lost, repeated or refused.
sound() { apm_is bad=0 errors=0 migration_errors=0; }

more_or_broken() { more_than received "$1" || ! sound; }

# Messages go on: so many more than now have arrived, each once and in order.
flows() {
	local n
	n=$(apm_value received)
	wait_for 60 more_or_broken $((n + 50)) || { cat "$APM/stats"; fail "no message: $1"; }
	sound || { cat "$APM/stats"; fail "$1"; }
}

# vib_port_is DEVICE PORT STATE
vib_port_is() { grep -qx "[0-9]: $3" "/sys/class/infiniband/$1/ports/$2/state"; }

# Two adapters with two ports each, a switch for each pair of ports, and a link between them:
#
#	ca0:1 - sw0 - ca1:1
#	         |
#	ca0:2 - sw1 - ca1:2
fabric_up() {
	vib_node sw0 switch 3
	vib_node ca0 ca 2
	vib_node ca1 ca 2
	vib_link sw0:1 ca0:1
	vib_link sw0:2 ca1:1
	sw1_up
	wait_for 20 ports_are INIT 4 || fail "ports do not come up"
	opensm_up vib0
	wait_for 60 ports_are ACTIVE 4 || fail "opensm leaves ports inactive"
}

sw1_up() {
	vib_node sw1 switch 3
	vib_link sw1:1 ca0:2
	vib_link sw1:2 ca1:2
	vib_link sw0:3 sw1:3
}

# pull N: the cable of ca1's port N; the connection moves to the other port
pull() {
	vibctl link "ca1:$1" down
	wait_for 10 vib_port_is vib1 "$1" DOWN || fail "port $1 of vib1 stays up"
}

plug() {
	vibctl link "ca1:$1" up
	wait_for 60 vib_port_is vib1 "$1" ACTIVE || fail "port $1 of vib1 does not come back"
}

# armed: both ends are ready to migrate
armed() { wait_apm 30 "not armed" state_a=armed state_b=armed; }

# Both ends have migrated for the Nth time, to port P.
migrated() {
	wait_apm 60 "no migration to port $2" "migrated_a=$1" "migrated_b=$1" \
		state_a=migrated state_b=migrated "port_a=$2" "port_b=$2"
}

# reload PORT: the path between the ends' ports PORT becomes the alternate one
reload() {
	if [ "$IBEX_MODE" = stock ]; then
		apm load "$1"
	else
		apm lap "$1 $1"
		wait_apm 30 "no APR" "aprs=$2" "laps=$2" apr_status=0
	fi
	wait_apm 30 "the path is not loaded" "alternate_a=$1" "alternate_b=$1"
}

vib_up
record_core
fabric_up
modprobe ib_cm
insmod /ibex/apm/ibex_apm.ko

say "the REQ has an alternate path"
apm connect "vib0 vib1 1 2"
apm_is port_a=1 port_b=1 alternate_a=2 alternate_b=2 alternates=2 || fail "$(cat $APM/stats)"
flows "before"
armed

say "the primary path fails"
pull 1
migrated 1 2
flows "after the first migration"

say "the first port comes back as the alternate"
plug 1
flows "with the port back"
reload 1 1
armed
say "the second path fails"
pull 2
migrated 2 1
flows "after the second migration"
plug 2

say "migration by request"
reload 2 2
armed
apm migrate 1
migrated 3 2
flows "after the request"

say "the switch of the path is removed"
reload 1 3
armed
rmdir $FABRIC/nodes/sw1
wait_for 10 vib_port_is vib1 2 DOWN || fail "port 2 of vib1 stays up without its switch"
migrated 4 1
flows "without the switch"
rmdir $FABRIC/links/sw1:* $FABRIC/links/sw0:3-sw1:3
sw1_up
wait_for 60 vib_port_is vib1 2 ACTIVE || fail "port 2 of vib1 does not come back"
wait_for 60 vib_port_is vib0 2 ACTIVE || fail "port 2 of vib0 does not come back"
reload 2 4
armed
apm migrate 1
migrated 5 2
flows "by way of the new switch"

if [ "$IBEX_MODE" = ours ]; then
	say "a LAP that is refused"
	apm refuse 1
	apm lap "1 1"
	wait_apm 30 "no APR" aprs=5 apr_status=3
	apm_is state_a=migrated state_b=migrated || fail "the refused path is loaded"
	flows "after the refusal"

	say "the path in use is refused by the CM"
	! apm lap "2 2" 2> /dev/null || fail "a LAP for the path in use"

	say "a LAP that is answered late"
	apm refuse 0
	apm wait 1
	apm lap "1 1"
	wait_apm 30 "no LAP" laps=6
	apm answer 1
	wait_apm 60 "no APR" aprs=6 apr_status=0
	armed
	pull 2
	migrated 6 1
	flows "after the last migration"
	plug 2

	say "the connection ends with a LAP outstanding"
	apm lap "2 2"
	wait_apm 30 "no LAP" laps=7
else
	! apm lap "1 1" 2> /dev/null || fail "the in-tree core sends a LAP"
fi

apm connect off
rmmod ibex_apm
opensm_down vib0
vib_down
