// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands to the character device, some of them spoiled. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "calls.h"

union response resp;

/* How the call that is being made is spoiled, if it is. */
static struct {
	int in, out;		/* added to the sizes of the command and the response */
	bool response;		/* an address that nobody can write to */
} spoiled;

static const size_t in_size[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = sizeof(struct rdma_ucm_create_id),
	[RDMA_USER_CM_CMD_DESTROY_ID] = sizeof(struct rdma_ucm_destroy_id),
	[RDMA_USER_CM_CMD_BIND_IP] = sizeof(struct rdma_ucm_bind_ip),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = sizeof(struct rdma_ucm_resolve_ip),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = sizeof(struct rdma_ucm_resolve_route),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = sizeof(struct rdma_ucm_query),
	[RDMA_USER_CM_CMD_CONNECT] = sizeof(struct rdma_ucm_connect),
	[RDMA_USER_CM_CMD_LISTEN] = sizeof(struct rdma_ucm_listen),
	[RDMA_USER_CM_CMD_ACCEPT] = sizeof(struct rdma_ucm_accept),
	[RDMA_USER_CM_CMD_REJECT] = sizeof(struct rdma_ucm_reject),
	[RDMA_USER_CM_CMD_DISCONNECT] = sizeof(struct rdma_ucm_disconnect),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = sizeof(struct rdma_ucm_init_qp_attr),
	[RDMA_USER_CM_CMD_SET_OPTION] = sizeof(struct rdma_ucm_set_option),
	[RDMA_USER_CM_CMD_NOTIFY] = sizeof(struct rdma_ucm_notify),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = sizeof(struct rdma_ucm_destroy_id),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = sizeof(struct rdma_ucm_migrate_id),
	[RDMA_USER_CM_CMD_QUERY] = sizeof(struct rdma_ucm_query),
	[RDMA_USER_CM_CMD_BIND] = sizeof(struct rdma_ucm_bind),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = sizeof(struct rdma_ucm_resolve_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = sizeof(struct rdma_ucm_join_mcast),
};

static const char *error_name(int error)
{
	static char number[16];

	if (strerrorname_np(error))
		return strerrorname_np(error);
	/* Some numbers are the kernel's own. */
	snprintf(number, sizeof(number), "error %d", error);
	return number;
}

/* Makes a call, and prints its result behind what was printed of it. */
int call(unsigned int channel, __u32 number, void *body, size_t out, int resp_at)
{
	size_t in = in_size[number];
	struct command cmd = { .hdr = { number, in + spoiled.in, out + spoiled.out } };
	__u64 address = spoiled.response ? 8 : (__u64)&resp;
	ssize_t ret;

	memset(&resp, 0, sizeof(resp));
	memcpy(cmd.body, body, in);
	if (resp_at != NO_RESP)
		memcpy(cmd.body + resp_at, &address, sizeof(address));
	call_begins();
	ret = write(channels[channel], &cmd, sizeof(cmd.hdr) + cmd.hdr.in);
	call_ends();
	if (spoiled.in || spoiled.out || spoiled.response)
		show(" spoiled %d %d %d", spoiled.in, spoiled.out, spoiled.response);
	show(" = %s", ret < 0 ? error_name(errno) : "ok");
	return ret < 0 ? -errno : 0;
}

void spoil(size_t out)
{
	memset(&spoiled, 0, sizeof(spoiled));
	if (!one_in(40))
		return;
	switch (rnd(3)) {
	case 0:
		spoiled.in = (int)rnd(33) - 16;
		break;
	case 1:
		spoiled.out = (int)rnd(33) - (int)(out < 16 ? out : 16);
		break;
	default:
		spoiled.response = true;
	}
}

void whole(void)
{
	memset(&spoiled, 0, sizeof(spoiled));
}

__u32 number_of(int i)
{
	return ids[i].progress == FREE ? NOBODY : ids[i].number;
}

unsigned int channel_of(int i)
{
	if (ids[i].progress == FREE)
		return 0;
	return one_in(100) ? !ids[i].channel : ids[i].channel;
}

/*
 * A command that there is not, or whose length is not what its header says.  The numbers of reading
 * events, and of the commands of old that are gone, are among them.
 */
void no_command(void)
{
	struct command cmd = {
		.hdr = { rnd(one_in(2) ? 24 : 5) + (one_in(9) ? 0x10000 : 0), rnd(40), rnd(64) },
	};
	size_t size = sizeof(cmd.hdr) + cmd.hdr.in;
	ssize_t ret;

	memset(cmd.body, 0xff, sizeof(cmd.body));
	switch (rnd(4)) {
	case 0:
		size += 1 + rnd(9);
		break;
	case 1:
		size -= 1 + rnd(size);
		break;
	default:
		/* of this length, but of no use to commands that exist */
		cmd.hdr.cmd = one_of(6, 8, 11, 16, 23, 24, 0x80000000);
	}
	show("command %x in %u out %u size %zu", cmd.hdr.cmd, cmd.hdr.in, cmd.hdr.out, size);
	ret = write(channels[0], &cmd, size);
	show(" = %s\n", ret < 0 ? error_name(errno) : "ok");
}
