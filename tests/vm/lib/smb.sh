# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# SMB Direct: the kernel's SMB server (ksmbd, which ksmbd.mountd tells its shares and users) on
# rxe_a, and its client. The distribution's kernel has both without SMB Direct; those of
# scripts/vmlib/subject-build have it. A failure is reported with $condition. Needs user.sh.
#
# shellcheck disable=SC2154 # set by scripts sourced before this one

SMB_DIR=/mnt/smb
SMB_SERVED=/srv/smb
# where the server listens unless the device is an iWARP one; the client tries 5445 first
SMB_PORT=445
SMB_OPTIONS=rsize=1048576,wsize=1048576,echo_interval=5

# smb_insmod MODULE: with what it needs of the distribution's kernel
smb_insmod() {
	local module
	for module in $(modinfo -F depends "/ibex/smbdirect/$1.ko" | tr , ' '); do
		modprobe "$module" || fail "modprobe $module"
	done
	insmod "/ibex/smbdirect/$1.ko" || fail "insmod $1"
}

smb_up() {
	mkdir -p $SMB_SERVED $SMB_DIR /etc/ksmbd /run/lock
	mount -t tmpfs -o size=100m tmpfs $SMB_SERVED
	cat > /etc/ksmbd/ksmbd.conf <<-END
		[global]
			netbios name = IBEX
			map to guest = never
			server signing = disabled
		[store]
			path = $SMB_SERVED
			read only = no
	END
	# Files are made as the user's uid, if that is a user of this system.
	ksmbd.adduser -a root -p ibex > /run/out/adduser 2>&1 ||
		fail "ksmbd.adduser: $(cat /run/out/adduser)"
	smb_insmod cifs
	smb_serve
}

smb_listens() { rdma res show cm_id | grep -q "LISTEN.*:$SMB_PORT "; }

smb_serve() {
	smb_insmod ksmbd
	ksmbd.mountd -n -c /etc/ksmbd/ksmbd.conf > /run/out/mountd 2>&1 &
	SMB_MOUNTD=$!
	wait_for 20 smb_listens || fail "ksmbd does not listen: $(cat /run/out/mountd)"
}

smb_serve_no_more() {
	ksmbd.control -s > /run/out/control 2>&1 || fail "ksmbd.control: $(cat /run/out/control)"
	wait_for 30 smb_silent || fail "ksmbd goes on to listen"
	kill "$SMB_MOUNTD" 2>/dev/null || :
	wait "$SMB_MOUNTD" || :
	wait_for 30 rmmod ksmbd || fail "rmmod ksmbd"
}

smb_silent() { ! smb_listens; }

# smb_mounts: whether it can be mounted; nothing is cached, and no write is longer than a memory
# region, which the client would try again without end
smb_mounts() {
	mount -i -t cifs "//$A/store" $SMB_DIR -o \
		"ip=$A,rdma,vers=3.1.1,sec=ntlmssp,username=root,password=ibex,cache=none,$SMB_OPTIONS"
}

smb_mount() { smb_mounts || fail "$condition: mount: $(cat /run/out/mountd)"; }

smb_umount() { umount $SMB_DIR || fail "$condition: umount"; }

# smb_compare: files that the client writes are what the server has, and what the client reads
# when it has mounted again; by RDMA
smb_compare() {
	local before
	before=$(wire_bytes)
	rm -rf $SMB_SERVED/files
	mkdir $SMB_DIR/files || fail "$condition: mkdir"
	python3 /ibex/tools/files.py write $SMB_DIR/files > /tmp/written || fail "$condition: write"
	python3 /ibex/tools/files.py sums $SMB_SERVED/files > /tmp/served
	cmp /tmp/written /tmp/served || fail "$condition: the server has other files"
	smb_umount
	smb_mount
	python3 /ibex/tools/files.py sums $SMB_DIR/files > /tmp/read || fail "$condition: read"
	cmp /tmp/written /tmp/read || fail "$condition: other files are read"
	before=$(($(wire_bytes) - before))
	say "$condition: $(wc -l < /tmp/read) files equal, $before bytes on the wire"
	[ $before -ge "$(awk '{ s += $2 } END { print 2 * s }' /tmp/read)" ] ||
		fail "$condition: the data was not on the wire"
}

smb_down() {
	smb_serve_no_more
	rmmod cifs || fail "rmmod cifs"
	umount $SMB_SERVED
}
