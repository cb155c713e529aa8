# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: XRC receive QPs of four hosts with eight processes each, in two machines (--two)
# timeout: 400
# debug: off
#
#   server: hosts 0 and 1                           client: hosts 2 and 3
#   vib0, vib1 - sw0 - trunk 10.0.0.1  <-- Ethernet -->  10.0.0.2 trunk - sw0 - vib0, vib1
#
# A host is an adapter, a domain and processes; hosts know of one another by files.
. /ibex/lib/vib.sh
. /ibex/lib/steps.sh
. /ibex/lib/xrc.sh

HOSTS=4
PROCESSES=${IBEX_ARGS:-8}
MESSAGES=10
TARGETS=$((PROCESSES * (HOSTS - 1)))	# of a host: one for each process of another
# From all but the makers to all but the maker of a host
EXPECTED=$((MESSAGES * (PROCESSES - 1) * (PROCESSES - 1) * (HOSTS - 1)))
FILES=/run/mesh
declare -A BEFORE OWNED OBJECTS MEMORY

port3_is() { switch_port_is $HERE 3 "$1"; }

join() {
	local local=$A peer=$B
	HERE=left
	OWN='0 1'
	is_server || { HERE=right OWN='2 3' local=$B peer=$A; }
	vibctl up --star 2 --spare 1 --fabric $HERE
	# Emulated machines are slow: a second without a sign of life is nothing special.
	vibctl trunk sw0:3 "$local" "$peer" --interval 1000 --fabric $HERE
	wait_for 60 port3_is Init || fail "the trunk does not come up"
	barrier joined
	if is_server; then opensm_up vib0; fi
	wait_for 120 ports_are ACTIVE 2 || fail "opensm leaves adapters inactive"
	wait_for 120 port3_is Active || fail "opensm leaves the trunk inactive"
}

device() { echo vib$(($1 % 2)); }

# each COMMAND...: for each host of this machine in turn, with its number in $host
each() {
	local host
	for host in $OWN; do "$@"; done
}

files() { for host in $OWN; do echo "$host.$1"; done; }

begin() {
	steps_start "$host" in_cgroup /ibex/bin/xrcmesh "$@" "$(device "$host")" $FILES \
		"$host" $HOSTS "$PROCESSES" $MESSAGES
}

run_to() { steps_to "$host" "$1" || fail "host $host is not $1"; }
go() { steps_go "$host"; }
at() { steps_at "$host" "$1" || fail "host $host is not $1"; }
done_with() { steps_ended "$host" 0; }

# Receive QPs are made, by one host at a time: what is there afterwards that was not before?
make_targets() {
	local dev
	dev=$(device "$host")
	BEFORE[$host]=$(charged "$dev")
	run_to made
	targets "$dev" > "/run/targets-$host" || fail "host $host has no receive QPs"
	OWNED[$host]=$(grep -c ' comm \[xrcd-' "/run/targets-$host" || :)
	OBJECTS[$host]=$(($(charged "$dev") - BEFORE[$host]))
	MEMORY[$host]=$(sed 's/.*memory \(-*[0-9]*\) KiB.*/\1/' <<< "${SAID[$host]}")
	TOOK=$((TOOK + MEMORY[$host]))
	say "host $host: $(wc -l < "/run/targets-$host") receive QPs, ${OWNED[$host]} of them" \
		"the domain's; ${OBJECTS[$host]} more objects charged; ${MEMORY[$host]} KiB"
	[ "$(wc -l < "/run/targets-$host")" = $TARGETS ] || fail "not $TARGETS receive QPs"
}

# An object for each, of whoever has it: the domain, or each process of the host
check_owners() {
	local owned=$TARGETS objects=$TARGETS
	[ "$1" != legacy ] || { owned=0 objects=$((TARGETS * PROCESSES)); }
	[ "${OWNED[$host]}" = $owned ] || fail "$(cat "/run/targets-$host")"
	[ "${OBJECTS[$host]}" = $objects ] || fail "${OBJECTS[$host]} objects, not $objects"
}

# Those of a process, the maker, are not listed any more: with our core rdma(8) shows no object
# whose owner is dead.
still_there() {
	local n
	[ "$1" != legacy ] || return 0
	n=$(target_count "$(device "$host")")
	[ "$n" = $TARGETS ] || fail "$n receive QPs are left on host $host"
}

received() {
	at received
	[[ ${SAID[$host]} = *"lost 0 of $EXPECTED, 0 out of order;"* ]] ||
		fail "host $host: messages are lost"
}

# mesh domain|legacy: whose the receive QPs are
mesh() {
	local option=()
	[ "$1" != legacy ] || option=(--legacy)
	say "receive QPs of $1"
	rm -rf $FILES
	mkdir $FILES
	TOOK=0
	each begin "${option[@]}"
	each run_to prepared
	# shellcheck disable=SC2046 # words
	swap_files "$1-prepared" $FILES $(files senders)
	each make_targets
	each check_owners "$1"
	# shellcheck disable=SC2046
	swap_files "$1-made" $FILES $(files targets)
	each run_to connected
	barrier "$1-connected"
	each run_to killed
	each still_there "$1"
	barrier "$1-killed"
	each go
	each received
	each still_there "$1"
	# Their senders are done, too.
	barrier "$1-received"
	each done_with
	wait_for 10 no_targets || fail "receive QPs are left: $(targets)"
}

# So that freed memory is free for all, as it was at first
shrink_slabs() {
	local file
	for file in /sys/kernel/slab/*/shrink; do echo 1 > "$file"; done
}

# What they take when there are so many that nothing else matters
many() {
	is_server || return 0
	say "memory of many"
	/ibex/bin/xrcrcv --legacy --many vib0 4096 || fail "there are not so many of processes"
	[ "$IBEX_MODE" = stock ] || /ibex/bin/xrcrcv --many vib0 4096 ||
		fail "there are not so many of a domain"
	wait_for 20 no_targets || fail "receive QPs are left: $(targets | wc -l)"
}

! is_both || fail "this scenario runs in two machines: --two"
net_up
vib_load
record_core
join
cgroup_up
if [ "$IBEX_MODE" != stock ]; then
	mesh domain
	by_domain=$TOOK
	shrink_slabs
fi
mesh legacy
# What remains of slabs is of use to the second: the difference is larger than it seems.
[ "$IBEX_MODE" = stock ] || [ "$by_domain" -lt "$TOOK" ] ||
	fail "of the domain they take $by_domain KiB, of processes $TOOK"
many
barrier end
if is_server; then opensm_down vib0; fi
vibctl down --fabric $HERE
rmmod vib
say "done"
