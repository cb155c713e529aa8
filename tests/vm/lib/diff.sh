# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Random calls, whose logs scripts/vm-diff compares. The words of the scenario: SEED NUMBER...; A-B
# are the numbers from A to B.

read -r -a WORDS <<<"${IBEX_ARGS:-1 1-400}"
mapfile -t -O 1 WORDS < <(printf '%s\n' "${WORDS[@]:1}" |
	awk -F - '{ for (n = $1; n <= $NF; n++) print n }')

# diff_calls COMMAND WORD...: as many processes as there are words, "COMMAND SEED WORD", each with its
# share of the sequences
diff_calls() {
	local command=$1 count=$((${#WORDS[@]} - 1)) jobs=() i
	shift
	diff_started
	for ((i = 0; i < $#; i++)); do
		local from=$((count * i / $#)) to=$((count * (i + 1) / $#)) word=$((i + 1))
		# Not compressed at once: if a core hangs, the logs must be there.
		# shellcheck disable=SC2086 # words
		printf '%s\n' "${WORDS[@]:from + 1:to - from}" |
			$command "${WORDS[0]}" "${!word}" > "/run/out/$i.calls" &
		jobs+=($!)
	done
	diff_wait "${jobs[@]}"
	diff_count
}

# diff_alone COMMAND: one process makes all sequences, since they would see what another does
diff_alone() {
	diff_started
	# shellcheck disable=SC2086 # words
	printf '%s\n' "${WORDS[@]:1}" | $1 "${WORDS[0]}" > /run/out/0.calls &
	diff_wait $!
	diff_count
}

# diff_wait JOB...: until they end. If a core stops to answer, so that its processes may not even
# end, the scenario fails at once.
diff_wait() {
	local job
	while kill -0 "$@" 2>/dev/null; do
		! grep -qs '^stopped' /run/out/*.calls || fail "the core has stopped to answer"
		busybox usleep 300000
	done
	for job; do
		wait "$job" || fail "a process that makes calls"
	done
}

# The time that the calls take, in seconds since the boot, is in /run/out/time.
diff_started() { cut -d ' ' -f 1 /proc/uptime > /run/out/time; }

# diff_count: what was compared, as the log tells
diff_count() {
	cut -d ' ' -f 1 /proc/uptime >> /run/out/time
	cat /run/out/*.calls | awk '
		/^#/ { sequences++ }
		/^[^ #].* = / { calls++; if (/ = ok/) good++ }
		/^  event/ { events++ }
		END { printf "diff: %d sequences, %d calls, %d succeed, %d events\n",
			sequences, calls, good, events }'
}
