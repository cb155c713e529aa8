# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: SRP by srp_daemon; a cable is pulled, the target and each adapter go and come back
# timeout: 300
#
# The subnet manager runs behind an adapter of its own, vib2.
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
. /ibex/lib/storage.sh
. /ibex/lib/srp.sh
DAEMON=

# adapter N: ca0 and vib0 are the target's, ca1 and vib1 the initiator's
adapter() {
	vib_node "ca$1" ca 1
	vib_link "sw0:$(($1 + 1))" "ca$1:1"
	wait_for 60 port_is "vib$1" ACTIVE || fail "$condition: vib$1 is not active"
}

adapter_gone() {
	removal "rmdir $FABRIC/nodes/ca$1" "vib$1"
	rmdir "$FABRIC/links/sw0:$(($1 + 1))-ca$1:1"
}

# ibsrpdm asks the target's agent for device management what it serves.
found() {
	ibsrpdm -c -d "/dev/infiniband/$(cd /sys/class/infiniband_mad && umad_of vib1)" \
		> /run/out/ibsrpdm || return 1
	grep -q "ioc_guid=$SRP_GUID,dgid=${SRP_GID#0x},pkey=ffff,service_id=$SRP_GUID" \
		/run/out/ibsrpdm
}

umad_of() {
	local umad
	for umad in umad*; do
		[ "$(cat "$umad/ibdev")" != "$1" ] || echo "$umad"
	done
}

daemon_up() {
	load ib_srp sd_mod
	wait_for 20 found || { cat /run/out/ibsrpdm; fail "$condition: ibsrpdm finds no target"; }
	srp_daemon -e -i vib1 -p 1 -R 2 > /run/out/srp_daemon 2>&1 &
	DAEMON=$!
	wait_for 60 srp_disk || { cat /run/out/srp_daemon; fail "$condition: no disk by SRP"; }
	# I/O waits for up to dev_loss_tmo while it tries each second to connect again.
	rport reconnect_delay 1
	rport fast_io_fail_tmo off
	rport dev_loss_tmo 600
}

rport() { echo "$2" > "$(echo /sys/class/srp_remote_ports/port-*)/$1"; }

rport_is() { grep -qx "$1" /sys/class/srp_remote_ports/port-*/state; }

noticed() { wait_for 60 rport_is blocked || fail "$condition: the initiator has not noticed"; }

recovered() {
	wait_for 90 rport_is running || fail "$condition: the initiator does not log in again"
	blocks_go_on
}

daemon_down() {
	kill $DAEMON
	wait $DAEMON || :
}

pulled() {
	condition="a cable is pulled and put back"
	vibctl link ca1:1 down
	wait_for 10 port_is vib1 DOWN || fail "the port stays up"
	vibctl link ca1:1 up
	wait_for 60 port_is vib1 ACTIVE || fail "the port does not come back"
	recovered
}

target() {
	condition="the target is disabled"
	echo 0 > "$SRP_TARGET/enable"
	noticed
	condition="the target is enabled again"
	echo 1 > "$SRP_TARGET/enable"
	recovered
}

initiator_gone() {
	condition="the initiator's adapter is removed"
	daemon_down
	adapter_gone 1
	blocks_fail
	wait_for 20 no_disk || fail "$condition: the disk stays"
	condition="the initiator's adapter is back"
	adapter 1
	daemon_up
	blocks_start "/dev/$SRP_DISK"
}

no_disk() { ! srp_disk; }

# What ib_srpt served by an adapter that goes has to be set up again. The module stays, as the ID
# of its service is the GUID of the first adapter that it met.
target_gone() {
	condition="the target's adapter is removed"
	adapter_gone 0
	noticed
	srp_unserve
	adapter 0
	condition="the target's adapter is back"
	STORE_KEEP=1 srp_target_up vib0 vib1
	recovered
}

vib_up
record_core
condition=before
vib_node sw0 switch 3
for n in 0 1 2; do
	vib_node ca$n ca 1
	vib_link sw0:$((n + 1)) ca$n:1
done
wait_for 20 ports_are INIT 3 || fail "ports do not come up"
opensm_up vib2
wait_for 60 ports_are ACTIVE 3 || fail "opensm leaves ports inactive"
core_resources vib0
srp_target_up vib0 vib1
daemon_up
store_compare "/dev/$SRP_DISK" srp
blocks_start "/dev/$SRP_DISK"
pulled
target
initiator_gone
target_gone
blocks_stop
store_compare "/dev/$SRP_DISK" srp
daemon_down
srp_logout
srp_target_down
store_down
no_resources
no_warning
opensm_down vib2
vib_down
