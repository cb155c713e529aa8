# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: iSER with T10-PI: types 1 and 3, made, checked and converted at each end; wrong tuples
# timeout: 500
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
. /ibex/lib/storage.sh

# Of store_compare: 1 MiB
blocks() { echo $(((1 << 20) / PI_BLOCK)); }

t10pi() {
	local what=$1
	shift
	python3 /ibex/tools/t10pi.py "$what" "$@"
}

# disk_is TYPE PROFILE: what the initiator says of its disk
disk_is() {
	local block=/sys/block/$ISER_DISK
	[ "$(cat "$block"/device/scsi_disk/*/protection_type)" = "$1" ] ||
		fail "$condition: type $(cat "$block"/device/scsi_disk/*/protection_type)"
	grep -qx "$2" "$block/integrity/format" ||
		fail "$condition: profile $(cat "$block/integrity/format")"
}

# stack_has 1|0: whether the initiator has tuples in memory
stack_has() {
	echo "$1" > "/sys/block/$ISER_DISK/integrity/write_generate"
	echo "$1" > "/sys/block/$ISER_DISK/integrity/read_verify"
}

# transfers: data and, if the target has them, tuples arrive
transfers() {
	say "$condition"
	[ "$PI_TYPE" = 0 ] || t10pi reset "$STORE/iser" "$(blocks)"
	store_compare "/dev/$ISER_DISK" iser
	[ "$PI_TYPE" = 0 ] ||
		t10pi check "$STORE/iser" "$PI_BLOCK" "$PI_TYPE" "$(blocks)" || fail "$condition"
}

# session TYPE FABRIC BLOCK PI_ENABLE
session() {
	PI_TYPE=$1
	PI_FABRIC=$2
	PI_BLOCK=$3
	lio_up
	modprobe ib_iser "pi_enable=$4"
	iscsi_up
	iser_login
}

session_end() {
	iser_logout
	iscsi_down
	lio_down
}

# reads_as RESULT NUMBER COUNT: of blocks that are read
reads_as() {
	local is
	is=$(t10pi read "/dev/$ISER_DISK" "$PI_BLOCK" "$2" "$3")
	[ "$is" = "$1" ] || fail "$condition: block $2, $3 of them: $is"
}

# found KIND BLOCK: the target has seen the error, at its place
found() {
	dmesg | grep -q "isert: .*PI error found type $1 at sector 0x$(printf %x "$2") " ||
		fail "$condition: the target has seen nothing at block $2"
}

# found_here KIND BLOCK: the initiator has, which counts sectors
found_here() {
	local sector=$(($2 * PI_BLOCK / 512))
	dmesg | grep -q "iser: .*PI error found type $1 at sector $(printf %x $sector) " ||
		fail "$condition: the initiator has seen nothing at sector $sector"
}

# wrong_guard NUMBER: with one wrong tuple at the target, that block cannot be read, but others
wrong_guard() {
	t10pi spoil "$STORE/iser" "$1"
	reads_as fine $(($1 - 1)) 1
	reads_as fine $(($1 + 1)) 1
	reads_as EILSEQ "$1" 1
	found 0 "$1"
	reads_as EILSEQ $(($1 - 5)) 8
	t10pi spoil "$STORE/iser" "$1"
	reads_as fine $(($1 - 5)) 8
}

# A block is where another should be: its guard is right, its reference tag is not.
misplaced() {
	condition="a misplaced block"
	t10pi copy "$STORE/iser" "$PI_BLOCK" 100 200
	reads_as fine 199 1
	reads_as EILSEQ 200 1
	found 1 200
	found_here 1 200
	reads_as EILSEQ 196 8
}

lossy() {
	local lost
	condition="type $PI_TYPE: 2 % is lost"
	vibctl fault ca1:1 drop=2%
	stack_has 1
	transfers
	stack_has 0
	transfers
	lost=$(vibctl fault ca1:1 | sed -n 's/^drop=.*(\([0-9]*\) packets)$/\1/p')
	vibctl fault ca1:1 clear
	say "$lost packets were lost"
	[ "$lost" -gt 20 ] || fail "only $lost packets were lost"
}

# both_stacks TYPE: tuples in the initiator's memory, or made and removed by its adapter, which SCSI
# then lets check the reference tag alone
both_stacks() {
	condition="type $1: checked by both"
	stack_has 1
	transfers
	condition="type $1: a wrong guard"
	wrong_guard $((70 + $1))
	found_here 0 $((70 + $1))
	condition="type $1: inserted and stripped by the initiator"
	stack_has 0
	transfers
	condition="type $1: a wrong guard, stripped"
	wrong_guard $((90 + $1))
}

vib_up
record_core
subnet_up 2
ipoib_pair
condition=vib

session 1 0 512 1
disk_is 1 T10-DIF-TYPE1-IP
both_stacks 1
misplaced
lossy
session_end

session 3 0 4096 1
disk_is 3 T10-DIF-TYPE3-IP
both_stacks 3
session_end

condition="type 1 at the target alone"
session 1 0 512 0
transfers
session_end

# Type 3, because LIO expects reference tag 0 of whatever block (known.rst).
condition="type 3 on the wire and at the initiator"
session 0 3 512 1
disk_is 3 T10-DIF-TYPE3-IP
stack_has 1
transfers
condition="type 3 on the wire alone"
stack_has 0
transfers
session_end

condition="at the initiator alone"
session 0 0 512 1
disk_is 0 T10-DIF-TYPE1-IP
transfers
session_end

store_down
rmmod ib_ipoib
opensm_down vib0
vib_down
