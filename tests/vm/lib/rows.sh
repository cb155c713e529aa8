# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Rows of figures, which scripts/vm-established prints side by side for both cores, and
# assertions about our core. $condition describes the condition of a measurement, $count is
# the number of connections in a median, $BOUND the longest wait for each, in seconds.
#
# shellcheck disable=SC2154 # set by the script that sources this one

# row WHAT MEDIAN MIN MAX NOTE: prints a row for the current condition
row() { printf 'row | %-24s | %-34s | %10s | %10s | %10s | %s\n' "$condition" "$@"; }

# within SECONDS COMMAND...: like wait_for, but exact, by the clock
within() {
	local end=$(($(now_us) + $1 * 1000000))
	shift
	while ! "$@"; do
		[ "$(now_us)" -lt $end ] || return 1
		busybox usleep 20000
	done
}

now_us() { echo "${EPOCHREALTIME/./}"; }

ms() { printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100)); }

# row_of WHAT: prints a row for the times on stdin, in microseconds, one per line
row_of() {
	local median min max n note=""
	read -r n median min max < <(sort -n | awk '
		function ms(us) { return sprintf("%.1f", us / 1000) }
		{ v[NR] = $1 }
		END {
			if (NR == 0) print 0, "never", "-", "-"
			else print NR, ms((v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2), \
				ms(v[1]), ms(v[NR])
		}')
	[ "$n" = "$count" ] || note="$n of $count in $BOUND s"
	row "$1" "$median" "$min" "$max" "$note"
}

# ours_must TEXT COMMAND...: if COMMAND fails, says TEXT, and fails on our core
ours_must() {
	local what=$1
	shift
	"$@" && return 0
	say "  $what"
	[ "$IBEX_MODE" = stock ] || fail "$condition: $what"
}

# each_once FILE: checks that each of $count accepted ids got one ESTABLISHED, then one
# DISCONNECTED. FILE has a line for each id: the times of the first receive, of ESTABLISHED
# and of DISCONNECTED, and the numbers of ESTABLISHED and DISCONNECTED
each_once() {
	awk -v want="$count" '
		$4 != 1 || $5 != 1 || $2 + 0 > $3 + 0 { bad++ }
		$4 == 0 { none++ }
		$4 > 1 { twice++ }
		$4 > 0 && $2 + 0 > $3 + 0 { late++ }
		$5 != 1 { ends++ }
		END {
			if (bad || NR != want)
				printf "  of %d ids %d got no ESTABLISHED, %d more than one, %d after DISCONNECTED, %d not one DISCONNECTED\n",
					NR, none, twice, late, ends
			exit bad || NR != want
		}' "$1"
}

# since_received FILE [MAX]: from such lines, prints the microseconds from the first receive
# to ESTABLISHED, for ids that got it before MAX microseconds
since_received() {
	awk -v max="${2-}" '$1 != "-" && $2 != "-" && (max == "" || $2 + 0 < max + 0) {
		print $2 - $1 }' "$1"
}
