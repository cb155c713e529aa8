# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Programs that print "at STEP" and wait for a line of their input, each run by a name.

declare -A STEP_PID STEP_FROM STEP_TO STEP_AT SAID

# steps_start NAME COMMAND...
steps_start() {
	local name=$1 pipe=/run/steps-$1 from to
	shift
	mkfifo "$pipe.to" "$pipe.from"
	"$@" < "$pipe.to" > "$pipe.from" 2>&1 &
	STEP_PID[$name]=$!
	# In the order in which it opens them
	exec {to}> "$pipe.to" {from}< "$pipe.from"
	rm "$pipe.to" "$pipe.from"
	STEP_TO[$name]=$to
	STEP_FROM[$name]=$from
	STEP_AT[$name]=
	SAID[$name]=
}

# steps_go NAME: lets it go on from the step where it is
steps_go() {
	local to=${STEP_TO[$1]}
	[ -z "${STEP_AT[$1]}" ] || echo >&"$to"
	STEP_AT[$1]=
}

# steps_at NAME STEP: waits until it is there; what it says is in SAID[NAME]. Fails if it ends
steps_at() {
	local line from=${STEP_FROM[$1]}
	while read -r -t 120 -u "$from" line; do
		SAID[$1]+="$line;"
		echo "  $line"
		[ "$line" != "at $2" ] || { STEP_AT[$1]=$2; return 0; }
	done
	return 1
}

# steps_to NAME STEP: both
steps_to() {
	steps_go "$1"
	steps_at "$1" "$2"
}

steps_closed() {
	local from=${STEP_FROM[$1]} to=${STEP_TO[$1]}
	exec {from}<&- {to}>&-
}

# steps_ended NAME STATUS: it goes on to its end
steps_ended() {
	local status=0
	steps_to "$1" "the end" || :
	wait "${STEP_PID[$1]}" || status=$?
	steps_closed "$1"
	[ "$status" = "$2" ] || fail "$1 ended with $status, not $2"
}

# steps_killed NAME: wherever it is
steps_killed() {
	kill "${STEP_PID[$1]}" || :
	wait "${STEP_PID[$1]}" || :
	steps_closed "$1"
}
