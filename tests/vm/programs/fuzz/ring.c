// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* vib's rings: mapped, filled with requests, spoilt, polled; doorbells, and connections. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/vib-abi.h>

#include "fuzz.h"

enum { RC = 2, UC, UD, XRC_INI = 9, XRC_TGT };	/* enum ib_qp_type */

static struct ring {
	struct vib_abi_ring *at;	/* NULL: this place is free */
	struct vib_abi_map map;
	char kind;			/* c, s; of a QP: U and S send datagrams and others, r */
	__u32 handle;			/* of its object */
} rings[2 * POOL];

static struct qp {
	__u32 handle, number;
	__u8 type;
} qps[POOL];

#define RINGS (sizeof(rings) / sizeof(*rings))

/* Files are opened again: what was mapped of the old ones goes. */
void unmap_rings(void)
{
	struct ring *ring;

	for (ring = rings; ring < rings + RINGS; ring++)
		if (ring->at)
			munmap(ring->at, ring->map.length);
	memset(rings, 0, sizeof(rings));
	memset(qps, 0, sizeof(qps));
}

/* The kernel may have answered with nothing: then it is chance what @map has. */
static void map_ring(struct vib_abi_map map, char kind, __u32 of)
{
	struct ring *ring = &rings[rnd(RINGS)];
	void *at;

	if (!map.entries || map.entries & (map.entries - 1) || map.length > 64 << 20 ||
	    map.entry_size < (strchr("rs", kind) ? 16 : 64) ||
	    sizeof(*ring->at) + (__u64)map.entries * map.entry_size > map.length)
		return;
	at = mmap(NULL, map.length, PROT_READ | PROT_WRITE, MAP_SHARED, w.uverbs, map.offset);
	if (at == MAP_FAILED)
		return;
	if (ring->at)
		munmap(ring->at, ring->map.length);
	*ring = (struct ring){ .at = at, .map = map, .kind = kind, .handle = of };
}

/*
 * A command was accepted: maps what it has made. Of a QP @type is the type that was asked
 * for; of a resized CQ or SRQ @old is its handle.
 */
void map_rings(const struct command *c, __u32 type, __u32 old)
{
	struct vib_abi_map map[2];
	__u32 handle, number;

	memcpy(map, resp + c->out, sizeof(map));
	memcpy(&handle, resp, sizeof(handle));
	memcpy(&number, resp + sizeof(handle), sizeof(number));
	if (c->made == 'c' || c->made == 's')
		map_ring(map[0], c->made, handle);
	else if (!c->extended && c->number == IB_USER_VERBS_CMD_RESIZE_CQ)
		map_ring(map[0], 'c', old);
	else if (c->number == IB_USER_VERBS_CMD_MODIFY_SRQ)
		map_ring(map[0], 's', old);
	if (c->made != 'q')
		return;
	qps[rnd(POOL)] = (struct qp){ handle, number, type };
	map_ring(map[0], type == UD ? 'U' : 'S', handle);
	map_ring(map[1], 'r', handle);
}

/* ---- entries ---- */

static void *entry(struct ring *ring, __u32 index)
{
	return ring->at->entries + (size_t)(index & (ring->map.entries - 1)) *
	       ring->map.entry_size;
}

/* As many SGEs as are asked for, and as there is room for in @room bytes. */
static void put_sges(struct vib_abi_sge *sge, __u32 number, size_t room)
{
	for (; number && room >= sizeof(*sge); number--, sge++, room -= sizeof(*sge))
		*sge = (struct vib_abi_sge) {
			.addr = (uintptr_t)arena + rnd(chance(8) ? 2 * ARENA : 8192),
			.length = chance(8) ? rnd(2 * ARENA) : rnd(2048),
			.lkey = handle('j'),
		};
}

/* Mostly none: such a request is right whatever keys there are, and does not end the connection. */
static __u32 number_of_sges(void)
{
	return chance(32) ? rnd64() : chance(2) ? rnd(3) : 0;
}

static void put_receive(struct ring *ring)
{
	struct vib_abi_recv_wqe *wqe = entry(ring, ring->at->tail);

	wqe->wr_id = rnd64();
	wqe->num_sge = number_of_sges();
	put_sges(wqe->sge, wqe->num_sge, ring->map.entry_size - sizeof(*wqe));
}

static __u8 opcode(void)
{
	return chance(16) ? rnd(256) : rnd(10);
}

/* Mostly just a completion. */
static __u8 flags(void)
{
	return chance(4) ? rnd(256) : 2;
}

static void put_datagram(struct ring *ring)
{
	struct vib_abi_ud_wqe *wqe = entry(ring, ring->at->tail);

	*wqe = (struct vib_abi_ud_wqe) {
		.wr_id = rnd64(),
		.av = {
			.dlid = lid(),
			.port = chance(16) ? rnd(256) : 1,
			.sl = rnd(3),
			.grh = chance(4),
			.hop_limit = 64,
		},
		.remote_qpn = handle('z'),
		.remote_qkey = chance(4) ? rnd64() : 0x11111111,
		.ex = rnd64(),
		.num_sge = number_of_sges(),
		.opcode = chance(6) ? opcode() : 2 + rnd(2),	/* sends */
		.flags = flags(),
	};
	put_gid((__u32 *)wqe->av.dgid);
	put_sges((void *)(wqe + 1), wqe->num_sge, ring->map.entry_size - sizeof(*wqe));
}

static void put_request(struct ring *ring)
{
	struct vib_abi_rc_wqe *wqe = entry(ring, ring->at->tail);

	*wqe = (struct vib_abi_rc_wqe) {
		.wr_id = rnd64(),
		.addr = (uintptr_t)arena + 8 * rnd(1024),
		.compare_add = chance(2) ? rnd(4096) : rnd64(),
		.swap = rnd64(),
		.rkey = handle('j'),
		.ex = handle('j'),
		.xrc_srqn = rnd(32),
		.access = rnd(32),
		.mw_lkey = handle('j'),
		.mw_rkey = handle('j'),
		.num_sge = number_of_sges(),
		.opcode = chance(6) ? opcode() : 2 * rnd(2),	/* RDMA WRITE and SEND */
		.flags = flags(),
	};
	put_sges((void *)(wqe + 1), wqe->num_sge, ring->map.entry_size - sizeof(*wqe));
}

/* ---- states ---- */

static int modify(const struct qp *qp, __u8 state, __u32 mask)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_modify_qp body;
	} cmd = {
		.hdr = { IB_USER_VERBS_CMD_MODIFY_QP, sizeof(cmd) / 4, 0 },
		.body = {
			.qp_handle = qp->handle,
			.attr_mask = mask,
			.qp_state = state,
			.path_mtu = 1 + rnd(5),
			.port_num = 1,
			.qkey = 0x11111111,
			.qp_access_flags = 15,
			.dest_qp_num = chance(3) ? handle('z') : qp->number,
			.rq_psn = 1000,
			.sq_psn = 1000,
			.max_rd_atomic = 1 + rnd(4),
			.max_dest_rd_atomic = 1 + rnd(4),
			.timeout = rnd(16),
			.retry_cnt = rnd(8),
			.rnr_retry = rnd(8),
		},
	};

	fill("D", (__u32 *)&cmd.body.dest, 8);
	if (chance(16))
		spoil((__u32 *)&cmd.body, sizeof(cmd.body) / 4);
	return write(w.uverbs, &cmd, sizeof(cmd)) == sizeof(cmd);
}

/* ---- what is done to a ring ---- */

static int doorbell(__u32 command, __u32 qp)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_post_send body;	/* as that of a receive */
	} cmd = {
		.hdr = { command, sizeof(cmd) / 4, 1 },
		.body = {
			.response = (uintptr_t)resp,
			.qp_handle = qp,
			.wqe_size = command == IB_USER_VERBS_CMD_POST_SEND ?
				sizeof(struct ib_uverbs_send_wr) : sizeof(struct ib_uverbs_recv_wr),
		},
	};

	return write(w.uverbs, &cmd, sizeof(cmd)) == sizeof(cmd);
}

/*
 * Takes completions out. Where an index was spoilt there are none; they differ from real ones
 * by their wr_id, for ours are not 0.
 */
static int poll_ring(struct ring *ring)
{
	__u32 head = ring->at->head, tail = __atomic_load_n(&ring->at->tail, __ATOMIC_ACQUIRE);
	struct vib_abi_cqe *cqe;
	int n;

	if (tail - head > ring->map.entries)	/* an index was spoilt: begin anew */
		head = tail;
	for (n = 0; head != tail && n < 16; n++, head++) {
		cqe = entry(ring, head);
		if (cqe->wr_id && cqe->status)
			tally->failed++;
		else if (cqe->wr_id)
			tally->done++;
		cqe->wr_id = 0;
	}
	__atomic_store_n(&ring->at->head, head, __ATOMIC_RELEASE);
	return n > 0;
}

/* Rings the doorbell of a queue to which @put has added entries. */
static int post_ring(struct ring *ring, void (*put)(struct ring *ring))
{
	__u32 tail = ring->at->tail, n = 1 + rnd(3);

	while (n--) {
		put(ring);
		if (chance(16))
			spoil(entry(ring, tail), ring->map.entry_size / 4);
		__atomic_store_n(&ring->at->tail, ++tail, __ATOMIC_RELEASE);
	}
	if (ring->kind == 's')
		return 1;
	return doorbell(ring->kind == 'r' ? IB_USER_VERBS_CMD_POST_RECV :
			IB_USER_VERBS_CMD_POST_SEND, chance(16) ? handle('q') : ring->handle);
}

static int use(struct ring *ring)
{
	switch (ring->kind) {
	case 'c':
		return poll_ring(ring);
	case 'U':
		return post_ring(ring, chance(16) ? put_request : put_datagram);
	case 'S':
		return post_ring(ring, chance(16) ? put_datagram : put_request);
	default:
		return post_ring(ring, put_receive);
	}
}

/* Uses all rings of a QP, and of all CQs. */
static void use_all(__u32 qp)
{
	struct ring *ring;

	for (ring = rings; ring < rings + RINGS; ring++)
		if (ring->at && ring->kind != 's' && (ring->kind == 'c' || ring->handle == qp))
			use(ring);
}

/* Takes a QP from RESET to RTS; mostly its peer is itself, so that it is answered. */
static int connect_qp(void)
{
	static const struct {
		__u8 type;
		__u32 masks[3];		/* to INIT, RTR, RTS */
	} types[] = {
		{ RC, { 0x39, 0x129181, 0x12e01 } },
		{ UC, { 0x39, 0x101181, 0x10001 } },
		{ UD, { 0x71, 0x1, 0x10001 } },
		{ XRC_INI, { 0x39, 0x101181, 0x12e01 } },
		{ XRC_TGT, { 0x39, 0x129181, 0x10201 } },
	};
	const struct qp *qp = &qps[rnd(POOL)];
	unsigned int t = 0, state;

	while (types[t].type != qp->type)
		if (++t == sizeof(types) / sizeof(*types))
			return 0;
	if (chance(2))
		modify(qp, 0, 1);
	for (state = 1; state <= 3; state++)
		if (!modify(qp, state, types[t].masks[state - 1]))
			return 0;
	use_all(qp->handle);
	return 1;
}

int fuzz_ring(void)
{
	struct ring *ring = &rings[rnd(RINGS)];

	if (chance(16))
		return connect_qp();
	if (!ring->at)
		return 0;
	switch (rnd(40)) {
	case 0:
		spoil((__u32 *)ring->at, ring->map.length / 4);
		return 1;
	case 1:
		ring->at->tail = chance(2) ? rnd64() : ring->at->tail + rnd(64);
		return 1;
	case 2:
		ring->at->head = chance(2) ? rnd64() : ring->at->tail - rnd(64);
		return 1;
	}
	return use(ring);
}
