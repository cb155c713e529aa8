# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# A Debian of tests/deb/chroot that can be changed: an overlay on it, with /proc, the packages of
# build/deb as /debs, and the compiler's cache.  It is in $root, which the caller sets.

# overlay_make PACKAGE...: makes the folder of $root anew; unmounts it when the shell ends
overlay_make() {
	local base dir=${root%/*}
	if [ "$(id -u)" != 0 ]; then
		echo "overlay: only root can mount and change roots" >&2
		return 1
	fi
	base=$(tests/deb/chroot "$@") || return
	trap overlay_unmount EXIT
	overlay_unmount
	# Never remove what is mounted: the compiler's cache is.
	rm -rf --one-file-system "$dir" && [ ! -e "$dir" ] || return
	mkdir -p "$dir/upper" "$dir/work" "$root" || return
	mount -t overlay overlay -o "lowerdir=$base,upperdir=$dir/upper,workdir=$dir/work" "$root" ||
		return
	mkdir -p "$root/ccache" "$root/debs"
	mount -t proc proc "$root/proc"
	mount --bind "$(CCACHE_DIR='' scripts/kernel/ccache-dir)" "$root/ccache"
	cp build/deb/*.deb "$root/debs/"
}

overlay_unmount() {
	! mountpoint -q "$root" || umount --recursive "$root"
}

# inside COMMAND...: in that Debian
inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive DEBIAN_KERNEL_USE_CCACHE=1 CCACHE_DIR=/ccache \
		CCACHE_NOHASHDIR=1 "$@"
}
