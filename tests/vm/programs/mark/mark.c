// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Begins or ends what tests/profile counts: executes an instruction that does nothing, but that
 * the emulator's plugin recognises.
 *
 * usage: mark begin|end
 */
#include <stdio.h>
#include <string.h>
#include "marks.h"

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "begin")) {
		mark_begin();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "end")) {
		mark_end();
		return 0;
	}
	fputs("usage: mark begin|end\n", stderr);
	return 2;
}
