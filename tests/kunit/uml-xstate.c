// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The extended state of a process of User Mode Linux, as much of it as registers.c has
 * room for.  The rest, that of AMX, stays as in a new process; it must be written, too,
 * as the host accepts only the whole state. registers.c includes this file.
 */
#include <string.h>

#define XSTATE_BV	(512 / sizeof(unsigned long))	/* which components follow */
#define XSTATE_AMX	(3UL << 17)

static unsigned long xstate[16384 / sizeof(unsigned long)];

static long xstate_read(int pid)
{
	struct iovec iov = { .iov_base = xstate, .iov_len = sizeof(xstate) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &iov) < 0)
		return -1;
	return iov.iov_len;
}

static int xstate_GET(int pid, struct iovec *to)
{
	long len = xstate_read(pid);

	if (len < 0)
		return -1;
	if (to->iov_len > (unsigned long)len)
		to->iov_len = len;
	memcpy(to->iov_base, xstate, to->iov_len);
	return 0;
}

static int xstate_SET(int pid, struct iovec *from)
{
	static long len;
	struct iovec iov = { .iov_base = xstate };

	if (!len)
		len = xstate_read(pid);
	if (len < 0)
		return -1;
	iov.iov_len = len;
	memset(xstate, 0, len);
	if (from->iov_len > iov.iov_len)
		from->iov_len = iov.iov_len;
	memcpy(xstate, from->iov_base, from->iov_len);
	if (from->iov_len < iov.iov_len)
		xstate[XSTATE_BV] &= ~XSTATE_AMX;
	return ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &iov);
}
