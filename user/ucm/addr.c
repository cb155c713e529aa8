// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Addresses of ids: binding and resolution.  Each command has two forms: one with room
 * for an IPv6 address, and one with room for any address and its length.
 */
#include "ucm.h"

static int ucm_do_bind(struct ucm_file *file, u32 nr, void *addr)
{
	struct ucm_id *id;
	int err;

	id = ucm_id_get_live(file, nr);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_bind_addr(id->cm_id, addr);
	ucm_id_release(id);
	return err;
}

int ucm_bind_ip(struct ucm_call *call)
{
	struct rdma_ucm_bind_ip *cmd = &call->cmd.bind_ip;

	if (!rdma_addr_size_in6(&cmd->addr))
		return -EINVAL;
	return ucm_do_bind(call->file, cmd->id, &cmd->addr);
}

int ucm_bind(struct ucm_call *call)
{
	struct rdma_ucm_bind *cmd = &call->cmd.bind;

	if (cmd->reserved || !cmd->addr_size ||
	    cmd->addr_size != rdma_addr_size_kss(&cmd->addr))
		return -EINVAL;
	return ucm_do_bind(call->file, cmd->id, &cmd->addr);
}

/* @src: NULL: the routing tables choose the source address. */
static int ucm_do_resolve(struct ucm_file *file, u32 nr, void *src, void *dst,
			  u32 timeout_ms)
{
	struct ucm_id *id;
	int err;

	id = ucm_id_get_live(file, nr);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_resolve_addr(id->cm_id, src, dst, timeout_ms);
	ucm_id_release(id);
	return err;
}

int ucm_resolve_ip(struct ucm_call *call)
{
	struct rdma_ucm_resolve_ip *cmd = &call->cmd.resolve_ip;
	bool has_src = cmd->src_addr.sin6_family;

	if ((has_src && !rdma_addr_size_in6(&cmd->src_addr)) ||
	    !rdma_addr_size_in6(&cmd->dst_addr))
		return -EINVAL;
	return ucm_do_resolve(call->file, cmd->id, has_src ? &cmd->src_addr : NULL,
			      &cmd->dst_addr, cmd->timeout_ms);
}

/* The family tells whether there is a source: its size may be 0, as in-tree. */
int ucm_resolve_addr(struct ucm_call *call)
{
	struct rdma_ucm_resolve_addr *cmd = &call->cmd.resolve_addr;
	bool has_src = cmd->src_addr.ss_family;
	int src_size = rdma_addr_size_kss(&cmd->src_addr);

	if (cmd->reserved || !cmd->dst_size ||
	    cmd->dst_size != rdma_addr_size_kss(&cmd->dst_addr))
		return -EINVAL;
	if ((has_src && !src_size) || (cmd->src_size && cmd->src_size != src_size))
		return -EINVAL;
	return ucm_do_resolve(call->file, cmd->id, has_src ? &cmd->src_addr : NULL,
			      &cmd->dst_addr, cmd->timeout_ms);
}

int ucm_resolve_route(struct ucm_call *call)
{
	const struct rdma_ucm_resolve_route *cmd = &call->cmd.resolve_route;
	struct ucm_id *id;
	int err;

	id = ucm_id_get_bound(call->file, cmd->id);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_resolve_route(id->cm_id, cmd->timeout_ms);
	ucm_id_release(id);
	return err;
}
