/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef CALLS_H
#define CALLS_H

/* Calls: each prints itself and its result, and keeps what is known of the ids up to date. */
#include <rdma/ib_user_sa.h>
#include "values.h"

#define NOBODY	0xfffff		/* no id has this number */

/* ---- commands (command.c) ---- */

union response {
	struct rdma_ucm_create_id_resp create;
	struct rdma_ucm_destroy_id_resp destroy;
	struct rdma_ucm_migrate_resp migrate;
	struct rdma_ucm_query_route_resp route;
	struct rdma_ucm_query_addr_resp addr;
	struct rdma_ucm_query_path_resp path;
	struct ib_uverbs_qp_attr qp_attr;
	__u8 bytes[1024];
};

struct command {
	struct rdma_ucm_cmd_hdr hdr;
	__u8 body[1024];
};

extern union response resp;	/* to the last command */

/* Where a command has the address of the response. */
enum { NO_RESP = -1, RESP_FIRST = 0, RESP_SECOND = 8 };

/* Makes a call, and prints its result behind what was printed of it. */
int call(unsigned int channel, __u32 number, void *body, size_t out, int resp_at);
/* Whether the next calls are spoiled, and how; or not. */
void spoil(size_t out);
void whole(void);
__u32 number_of(int i);
unsigned int channel_of(int i);
void no_command(void);

#define CALL(i, NUMBER, body, out)	\
	call(channel_of(i), RDMA_USER_CM_CMD_##NUMBER, body, out, NO_RESP)
#define CALL_RESP(i, NUMBER, body, out)	\
	call(channel_of(i), RDMA_USER_CM_CMD_##NUMBER, body, out, RESP_FIRST)

/* ---- ids, addresses, connections (calls.c) ---- */

void do_create(__u16 ps, __u8 qp_type);
void some_create(void);
void do_destroy(int i);
void do_migrate(int i);
void bind_to(int i, const struct __kernel_sockaddr_storage *addr, __u16 size);
void some_bind(int i);
void do_resolve_addr(int i, const struct __kernel_sockaddr_storage *src, __u16 src_size,
		     const struct __kernel_sockaddr_storage *dst, __u16 dst_size, __u32 ms);
void some_resolve_addr(int i);
void do_resolve_route(int i);
void do_listen(int i);
void do_connect(int i);
void do_accept(int i);
void do_reject(int i);
void do_disconnect(int i);
void do_notify(int i);

/* ---- multicast (multicast.c) ---- */

void do_join(int i);
void do_leave(int i);

/* ---- options and queries (queries.c) ---- */

void give_option(int i, __u32 level, __u32 name, const void *value, __u32 length);
void do_set_option(int i);
void do_query(int i);
void do_init_qp_attr(int i);

#endif
