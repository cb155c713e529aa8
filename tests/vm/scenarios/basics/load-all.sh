# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: every stock module that depends on the core is loaded, all together, and unloaded
# image: hw
# timeout: 300
#
# There is no hardware: this only shows that imports resolve, that modules can register and
# unregister what they do while they are loaded and unloaded, and that nothing is left.

# the modules that depend on the core, directly or not, including the core's own
dependants() {
	sed -n 's,:.*/ib_core\.ko\( .*\)*$,,p' "/lib/modules/$(uname -r)/modules.dep" |
		sed 's,.*/,,; s,\.ko.*,,; s,-,_,g'
}

load_all() {
	local m
	for m in "$@"; do
		load "$m"
		loaded "$m" || fail "$m is not there"
	done
}

# Unloads all modules without users, repeatedly, until none is left.
unload_all() {
	local m left=("$@") still
	while [ ${#left[@]} -gt 0 ]; do
		still=()
		for m in "${left[@]}"; do
			loaded "$m" && ! rmmod "$m" 2>/dev/null && still+=("$m")
		done
		[ ${#still[@]} -lt ${#left[@]} ] ||
			fail "these do not go: $(grep -wE "$(IFS='|'; echo "${still[*]}")" \
				/proc/modules | cut -d' ' -f1,3,4 | paste -sd';')"
		left=("${still[@]}")
	done
}

mapfile -t all < <(dependants)
say "${#all[@]} modules depend on the core"
for m in irdma iw_cxgb4 qedr mlx5_ib rpcrdma; do
	[[ " ${all[*]} " = *" $m "* ]] || fail "$m is not among them"
done

for round in 1 2; do
	load_all "${all[@]}"
	record_core
	say "round $round: loaded $(paste -sd' ' <(printf '%s\n' "${all[@]}" | sort))"
	unload_all "${all[@]}" ib_core
	core_leftovers
	say "round $round: unloaded"
done
