// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Options, and what can be asked of an id. */
#include <string.h>
#include "calls.h"

#define NOWHERE	8UL	/* an address that nobody can read from */

static void paths_option(int i)
{
	struct ib_path_rec_data paths[4] = {};
	unsigned int n = 1 + rnd(3), k;

	for (k = 0; k < n; k++)
		paths[k].flags = one_in(3) ? rnd(64) : IB_PATH_GMP | IB_PATH_PRIMARY |
						     IB_PATH_BIDIRECTIONAL;
	give_option(i, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, paths,
		    n * sizeof(*paths) - (one_in(6) ? rnd(9) : 0));
}

void give_option(int i, __u32 level, __u32 name, const void *value, __u32 length)
{
	struct rdma_ucm_set_option o = {
		.optval = (__u64)value, .id = number_of(i), .level = level, .optname = name,
		.optlen = length,
	};

	show("%d set_option %u %u length %u value %u%s", i, level, name, length,
	     o.optval == NOWHERE ? 0 : *(const __u8 *)value, o.optval == NOWHERE ? " nowhere" : "");
	if (!CALL(i, SET_OPTION, &o, 0) && level == RDMA_OPTION_ID) {
		if (name == RDMA_OPTION_ID_REUSEADDR)
			ids[i].reuse = *(const int *)value;
		else if (name == RDMA_OPTION_ID_AFONLY)
			ids[i].afonly = *(const int *)value;
	}
	show("\n");
}

void do_set_option(int i)
{
	__u8 value[512] = { rnd(256) };
	__u32 level = one_in(20) ? rnd(4) : RDMA_OPTION_ID;
	__u32 name = one_in(20) ? rnd(8) : rnd(4), length;

	if (one_in(20)) {
		paths_option(i);
		return;
	}
	if (one_in(6))
		length = one_in(2) ? rnd(20) : one_of(9, 71, 72, 73, 144, 216, 512, 8193, 0x10000,
						      0xffffffff);
	else
		length = name == RDMA_OPTION_ID_TOS || name == RDMA_OPTION_ID_ACK_TIMEOUT ? 1 : 4;
	if (name != RDMA_OPTION_ID_TOS && !one_in(4))
		value[0] %= 32;
	give_option(i, level, name, one_in(30) ? (void *)NOWHERE : value, length);
}

/*
 * After a bind or resolve that was refused the in-tree core shows other addresses, while ours keeps
 * those before.
 */
static bool keeps_dst(int i)
{
	return !ids[i].refused && !ids[i].unbound;
}

static void show_ends(int i, const void *src, const void *dst)
{
	if (!ids[i].unbound)
		show_address("from", src);
	if (keeps_dst(i))
		show_address("to", dst);
}

static void show_route(int i)
{
	show_bytes("guid", &resp.route.node_guid, 8);
	show_ends(i, &resp.route.src_addr, &resp.route.dst_addr);
	show(" port %u paths %u device %u", resp.route.port_num, resp.route.num_paths,
	     resp.route.ibdev_index);
	if (!resp.route.num_paths)
		return;
	show_bytes("gids", resp.route.ib_route[0].dgid, 32);
	show(" mtu %u rate %u life %u", resp.route.ib_route[0].mtu, resp.route.ib_route[0].rate,
	     resp.route.ib_route[0].packet_life_time);
}

static void show_query(int i, __u32 option)
{
	struct ib_path_rec_data *path = resp.path.path_data;
	__u32 n;

	if (option == RDMA_USER_CM_QUERY_PATH) {
		for (n = 0; n < resp.path.num_paths && n < 6; n++) {
			show(" flags %x", path[n].flags);
			show_path(path[n].path_rec);
		}
		return;
	}
	show_bytes("guid", &resp.addr.node_guid, 8);
	show(" port %u pkey %x sizes %u %u device %u", resp.addr.port_num, resp.addr.pkey,
	     ids[i].unbound ? 0 : resp.addr.src_size,
	     keeps_dst(i) ? resp.addr.dst_size : 0, resp.addr.ibdev_index);
	show_ends(i, &resp.addr.src_addr, &resp.addr.dst_addr);
}

static const char *where(int i)
{
	return ids[i].at_loopback ? " at loopback" : ids[i].failed ? " after an error" : "";
}

void do_query(int i)
{
	struct rdma_ucm_query q = { .id = number_of(i), .option = rnd(one_in(10) ? 5 : 3) };
	size_t out = q.option == RDMA_USER_CM_QUERY_PATH ?
		     sizeof(resp.path) + rnd(4) * sizeof(struct ib_path_rec_data) :
		     sizeof(resp.addr);

	if (one_in(4)) {
		show("%d query_route%s", i, where(i));
		if (!CALL_RESP(i, QUERY_ROUTE, &q, sizeof(resp.route)))
			show_route(i);
	} else {
		show("%d query %u of %zu%s", i, q.option, out, where(i));
		if (!CALL_RESP(i, QUERY, &q, out))
			show_query(i, q.option);
	}
	show("\n");
}

void do_init_qp_attr(int i)
{
	struct rdma_ucm_init_qp_attr q = { .id = number_of(i), .qp_state = rnd(one_in(8) ? 9 : 4) };

	show("%d init_qp_attr %u%s", i, q.qp_state, where(i));
	if (!CALL_RESP(i, INIT_QP_ATTR, &q, sizeof(resp.qp_attr)))
		show_qp_attr(&resp.qp_attr);
	show("\n");
}

