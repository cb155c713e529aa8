# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Sourced: puts a mistake, a patch, into the code that suites are built from.

# seed_into TREE PATCH: in a tree of scripts/kernel/shadow-tree, until this shell exits
seed_into() {
	local tree=$1 patch=$2 file
	seeded_tree=$tree seeded=$(sed -n 's,^+++ b/,,p' "$patch")
	trap seed_remove EXIT
	for file in $seeded; do
		cp --remove-destination "$file" "$tree/$file"
	done
	patch -s -p1 -d "$tree" < "$patch"
}

# No source is newer than an object built with the mistake, so make would keep the object:
# remove it.
seed_remove() {
	local file
	for file in $seeded; do
		rm -f "$seeded_tree/$file" "$seeded_tree/${file%.c}.o"
	done
}
