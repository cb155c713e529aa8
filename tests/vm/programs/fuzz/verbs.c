// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* uverbs: the write commands, the ioctl methods, the file itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "fuzz.h"

#define CMD(number, name, fields, made) { \
	IB_USER_VERBS_CMD_##number, sizeof(struct ib_uverbs_##name), \
	sizeof(struct ib_uverbs_##name##_resp), fields, made, 0 }
#define CMD_ONLY(number, name, fields) { \
	IB_USER_VERBS_CMD_##number, sizeof(struct ib_uverbs_##name), 0, fields, 0, 0 }
#define EX(number, in, out, fields, made) { \
	IB_USER_VERBS_EX_CMD_##number, in, out, fields, made, 1 }

static const struct command commands[] = {
	CMD(GET_CONTEXT, get_context, "R", 'F'),
	CMD(QUERY_DEVICE, query_device, "R", 0),
	CMD(QUERY_PORT, query_port, "R10", 0),
	CMD(ALLOC_PD, alloc_pd, "R", 'p'),
	CMD_ONLY(DEALLOC_PD, dealloc_pd, "p"),
	CMD(OPEN_XRCD, open_xrcd, "RFn", 'x'),
	CMD_ONLY(CLOSE_XRCD, close_xrcd, "x"),
	CMD(REG_MR, reg_mr, "RPLPpA", 'm'),
	CMD(REG_MR, reg_mr, "RPLPpA", 'm'),
	CMD(REREG_MR, rereg_mr, "RmnPLPpA", 0),
	CMD_ONLY(DEREG_MR, dereg_mr, "m"),
	CMD(ALLOC_MW, alloc_mw, "Rp1", 'w'),
	CMD_ONLY(DEALLOC_MW, dealloc_mw, "w"),
	CMD(CREATE_COMP_CHANNEL, create_comp_channel, "R", 'C'),
	CMD(CREATE_CQ, create_cq, "RUn0C0", 'c'),
	CMD(CREATE_CQ, create_cq, "RUn0e0", 'c'),
	CMD(RESIZE_CQ, resize_cq, "Rcn", 0),
	CMD(DESTROY_CQ, destroy_cq, "Rc0", 0),
	CMD(POLL_CQ, poll_cq, "Rcy", 0),
	CMD_ONLY(REQ_NOTIFY_CQ, req_notify_cq, "cy"),
	CMD(CREATE_QP, create_qp, "RUpccsnnyynQ", 'q'),
	CMD(CREATE_QP, create_qp, "RUpccsnnyynQ", 'q'),
	{ IB_USER_VERBS_CMD_OPEN_QP, sizeof(struct ib_uverbs_open_qp),
	  sizeof(struct ib_uverbs_create_qp_resp), "RUprn", 'q', 0 },
	CMD(QUERY_QP, query_qp, "Rqr", 0),
	CMD_ONLY(MODIFY_QP, modify_qp, "DDqrrrrrA"),
	CMD_ONLY(MODIFY_QP, modify_qp, "DDqrrrrrA"),
	CMD_ONLY(MODIFY_QP, modify_qp, "DDqrrrrrA"),
	CMD(DESTROY_QP, destroy_qp, "Rq0", 0),
	CMD(POST_SEND, post_send, "Rqyye", 0),
	CMD(POST_RECV, post_recv, "Rqyye", 0),
	CMD_ONLY(ATTACH_MCAST, attach_mcast, "Gq0"),
	CMD_ONLY(DETACH_MCAST, detach_mcast, "Gq0"),
	CMD(CREATE_SRQ, create_srq, "RUpnyn", 's'),
	CMD_ONLY(MODIFY_SRQ, modify_srq, "synn"),
	CMD(QUERY_SRQ, query_srq, "Rs0", 0),
	CMD(DESTROY_SRQ, destroy_srq, "Rs0", 0),
	CMD(POST_SRQ_RECV, post_srq_recv, "Rsyye", 0),
	{ IB_USER_VERBS_CMD_CREATE_XSRQ, sizeof(struct ib_uverbs_create_xsrq),
	  sizeof(struct ib_uverbs_create_srq_resp), "RUypnyn0xc", 's', 0 },
	CMD(CREATE_AH, create_ah, "RUp0H", 'a'),
	CMD_ONLY(DESTROY_AH, destroy_ah, "a"),
	EX(QUERY_DEVICE, 8, 304, "00", 0),
	EX(CREATE_CQ, 32, 16, "Un0C000", 'c'),
	EX(CREATE_QP, 64, 48, "UpccsnnyynQ00t0", 'q'),
	EX(MODIFY_QP, 120, 8, "DDqrrrrrA", 0),
	EX(CREATE_FLOW, 64, 8, "0q0nn", 'l'),
	EX(DESTROY_FLOW, 8, 0, "0l", 0),
	EX(CREATE_WQ, 40, 24, "00Upcny0", 'v'),
	EX(MODIFY_WQ, 24, 0, "yvyyyy", 0),
	EX(DESTROY_WQ, 8, 8, "0v", 0),
	EX(CREATE_RWQ_IND_TBL, 16, 16, "0yvv", 't'),
	EX(DESTROY_RWQ_IND_TBL, 8, 0, "0t", 0),
	EX(MODIFY_CQ, 16, 0, "c1nn", 0),
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

const struct command *pick_command(void)
{
	return &commands[rnd(COMMANDS)];
}

/* Uses attribute masks of the usual transitions, so that some QPs become usable. */
static void fill_modify(__u32 *buf)
{
	static const __u32 masks[] = {
		0x39, 0x79, 0x00129181, 0x0001bf81, 0x1, 0x10001, 0x12e01, 0x1391d1, 0x1f,
	};
	struct ib_uverbs_modify_qp *m = (void *)buf;

	m->attr_mask = chance(4) ? rnd64() : masks[rnd(sizeof(masks) / sizeof(*masks))];
	m->qkey = chance(2) ? 0x11111111 : rnd64();
	m->dest_qp_num = 16 + rnd(64);
	m->pkey_index = 0;
	m->alt_pkey_index = 0;
	m->qp_state = chance(8) ? rnd(256) : rnd(7);
	m->cur_qp_state = rnd(7);
	m->path_mtu = rnd(6);
	m->path_mig_state = rnd(3);
	m->max_rd_atomic = rnd(4);
	m->max_dest_rd_atomic = rnd(4);
	m->min_rnr_timer = rnd(32);
	m->port_num = chance(16) ? rnd(256) : 1;
	m->timeout = rnd(16);
	m->retry_cnt = rnd(8);
	m->rnr_retry = rnd(8);
}

/* The word of a command that has a QP's type, or NULL. */
static __u32 *type_of(const struct command *c, __u32 *buf)
{
	if (c->number != IB_USER_VERBS_CMD_CREATE_QP)
		return NULL;
	/* an extended command does not begin with where the response goes */
	return buf + (c->extended ? 11 : 13);
}

/* On vib there is XRC, whose domains need a file, and whose receiving QPs have no PD. */
static void fill_xrc(const struct command *c, __u32 *buf)
{
	static const __u8 types[] = { 2, 2, 3, 4, 9, 10 };
	__u32 *type = type_of(c, buf), chosen = types[rnd(sizeof(types))];

	if (type) {
		*type = (*type & ~0xff00) | chosen << 8;
		if (chosen == 10)
			type[-9] = handle('x');
	} else if (c->number == IB_USER_VERBS_CMD_OPEN_XRCD) {
		buf[3] = O_CREAT;
	}
}

void build(const struct command *c, __u32 *buf)
{
	fill(c->fields, buf, c->in / 4);
	if (c->number == IB_USER_VERBS_CMD_MODIFY_QP)
		fill_modify(buf);
	if (on_vib && !chance(8))
		fill_xrc(c, buf);
	spoil(buf, c->in / 4);
}

static void keep_answer(const struct command *c)
{
	__u32 words[3];

	memcpy(words, resp, sizeof(words));
	if (c->made)
		keep(c->made, words[0]);
	if (c->made == 'q') {
		keep('z', words[1]);
	} else if (c->made == 'm') {
		keep('j', words[1]);
		keep('j', words[2]);
	} else if (c->made == 'w') {
		keep('j', words[1]);
	}
}

static void map_made(const struct command *c, __u32 *core)
{
	__u32 *type = type_of(c, core);

	map_rings(c, type ? *type >> 8 & 0xff : 0,
		  core[c->number == IB_USER_VERBS_CMD_RESIZE_CQ ? 2 : 0]);
}

int fuzz_write(void)
{
	const struct command *c = pick_command();
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		__u32 body[256];
	} buf;
	struct ib_uverbs_ex_cmd_hdr *ex = (void *)buf.body;
	__u32 driver_in = chance(8) ? 4 * rnd(16) : 0;
	__u32 driver_out = chance(4) ? 4 * rnd(32) : 64;
	int resizes_srq = on_vib && c->number == IB_USER_VERBS_CMD_MODIFY_SRQ;
	__u64 to = (uintptr_t)resp;
	size_t size;

	if (resizes_srq)		/* it is told where the map of the ring goes */
		driver_in = sizeof(to);
	size = sizeof(buf.hdr) + c->in + driver_in;
	memset(&buf, 0, sizeof(buf));
	memset(resp, 0xff, 4);
	buf.hdr.command = c->number;
	if (c->extended) {
		size += sizeof(*ex);
		build(c, buf.body + sizeof(*ex) / 4);
		buf.hdr.command |= IB_USER_VERBS_CMD_FLAG_EXTENDED;
		buf.hdr.in_words = c->in / 8;
		buf.hdr.out_words = c->out / 8;
		ex->response = (uintptr_t)resp;
		ex->provider_in_words = driver_in / 8;
		ex->provider_out_words = driver_out / 8;
		if (chance(20))
			spoil((__u32 *)ex, sizeof(*ex) / 4);
	} else {
		build(c, buf.body);
		if (resizes_srq)
			memcpy(buf.body + c->in / 4, &to, sizeof(to));
		buf.hdr.in_words = size / 4;
		buf.hdr.out_words = c->out ? (c->out + driver_out) / 4 : 0;
	}
	if (chance(16))
		spoil((__u32 *)&buf.hdr, 2);
	if (chance(30))
		size = rnd(size + 32);
	if (write(w.uverbs, &buf, size) < 0)
		return 0;
	keep_answer(c);
	if (on_vib)
		map_made(c, buf.body + (c->extended ? sizeof(*ex) / 4 : 0));
	return 1;
}

/* --- ioctl ------------------------------------------------------------------ */
/*
 * A method: its object, its number, and its attributes as "id:kind" pairs. Kinds
 * are those of fields, for handles and inline values, or: h, the handle of a
 * new object; o, u and O, room for output (4 bytes, 20, many); b and g, input
 * in a buffer (16 bytes, 20); B, a byte; E, a constant, which takes 8.
 */
struct method {
	__u16 object;
	__u16 number;
	const char *attrs;
	char made;
};

static const struct method methods[] = {
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, "0E1o2O", 0 },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "0B1O", 0 },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "0o1U", 0 },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, "0o1U", 0 },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, "0E102O3U", 0 },
	{ UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, "011y203O", 0 },
	{ UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "0p", 0 },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "0h1n2U406o", 'c' },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "0h1n2U3C40506o", 'c' },
	{ UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "0c1O", 0 },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "0h2p4c5c7U8g9E=u>o", 'q' },
	{ UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "0q1O", 0 },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, "0h1p4U5n6y7n9E;o<o=o", 's' },
	{ UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, "0s1O", 0 },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "0m", 0 },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, "0m1o2o3U4U", 0 },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, "0p1E2y3b", 0 },
	{ UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, "0h1p203U4U5F6A7o8o", 'm' },
	{ UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, "0w", 0 },
	{ UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "0a", 0 },
	{ UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, "0x", 0 },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, "0h1p2c3U4E6n7y809o:o;o", 'v' },
	{ UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, "0v1O", 0 },
	{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, "0h1L2n", 'd' },
	{ UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, "0d", 0 },
	{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE, "0h", 'k' },
	{ UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, "0k1O20", 0 },
	{ UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "0h", 'F' },
};

#define METHODS (sizeof(methods) / sizeof(*methods))

static void put_attr(struct ib_uverbs_attr *a, __u16 id, char kind)
{
	__u32 words[32] = {};

	a->attr_id = id;
	a->flags = chance(8) ? 0 : UVERBS_ATTR_F_MANDATORY;
	if (strchr("hpcqsmwaxvtlkdCF", kind)) {
		a->data = kind == 'h' ? 0 : handle(kind);
	} else if (strchr("oOu", kind)) {
		a->len = kind == 'o' ? 4 : kind == 'u' ? 20 : 8 << rnd(7);
		a->data = (uintptr_t)resp;
	} else if (strchr("bg", kind)) {
		a->len = kind == 'b' ? 16 : 20;
		a->data = (uintptr_t)arena;
		fill("nnyyy", (__u32 *)arena, 5);
	} else if (strchr("BE", kind)) {
		a->len = kind == 'B' ? 1 : 8;
		a->data = kind == 'B' ? 1 : rnd(8);
	} else {
		a->len = strchr("UL", kind) ? 8 : 4;
		fill((char[]){ kind, 0 }, words, 2);
		memcpy(&a->data, words, 8);
		if (kind == 'U' && chance(2))
			a->data = (uintptr_t)resp;
	}
}

static void spoil_attr(struct ib_uverbs_attr *a)
{
	switch (rnd(5)) {
	case 0:
		a->attr_id = chance(4) ? rnd(65536) : rnd(16) | (chance(2) ? 0x1000 : 0);
		break;
	case 1:
		a->len = chance(2) ? rnd(64) : rnd(65536);
		break;
	case 2:
		a->flags = rnd(65536);
		break;
	case 3:
		a->data = chance(2) ? (uintptr_t)arena : rnd64();
		break;
	default:
		a->attr_data.reserved = rnd(65536);
	}
}

/* Fills in a write command for its ioctl; returns the number of attributes. */
static unsigned int invoke_write(struct ib_uverbs_attr *a, const struct command *c)
{
	build(c, (__u32 *)arena);
	a[0] = (struct ib_uverbs_attr) { UVERBS_ATTR_CORE_IN, c->in, 1, {}, {
					 (uintptr_t)arena } };
	a[1] = (struct ib_uverbs_attr) { UVERBS_ATTR_CORE_OUT, c->out, 1, {}, {
					 (uintptr_t)resp } };
	a[2] = (struct ib_uverbs_attr) { UVERBS_ATTR_WRITE_CMD, 8, 1, {}, {
					 c->number | (c->extended ? 0x80000000u : 0) } };
	/* without output there is no attribute for it */
	if (!c->out)
		a[1] = a[2];
	return c->out ? 3 : 2;
}

int fuzz_ioctl(void)
{
	struct {
		struct ib_uverbs_ioctl_hdr hdr;
		struct ib_uverbs_attr attrs[24];
	} buf = {};
	const struct command *c = NULL;
	const struct method *m = &methods[rnd(METHODS)];
	const char *s = m->attrs;
	unsigned int n = 0, i;

	if (chance(3)) {
		c = pick_command();
		buf.hdr.method_id = UVERBS_METHOD_INVOKE_WRITE;
		n = invoke_write(buf.attrs, c);
	} else if (chance(5)) {		/* anything at all */
		static const char any[] = "hpcqsmwaxvtlkdCFoOubgBEULn01r";

		buf.hdr.object_id = rnd(18);
		buf.hdr.method_id = rnd(8);
		for (n = 0; n < rnd(16); n++)
			put_attr(&buf.attrs[n], rnd(16), any[rnd(sizeof(any) - 1)]);
	} else {
		buf.hdr.object_id = m->object;
		buf.hdr.method_id = m->number;
		for (; *s; s += 2, n++)
			put_attr(&buf.attrs[n], s[0] - '0', s[1]);
	}
	if (!chance(6)) {
		put_attr(&buf.attrs[n], UVERBS_ATTR_UHW_OUT, 'O');
		buf.attrs[n++].len = 64;
	}
	for (i = chance(3) ? 1 + rnd(2) : 0; i && n; i--)
		spoil_attr(&buf.attrs[rnd(n)]);
	buf.hdr.num_attrs = n;
	buf.hdr.length = sizeof(buf.hdr) + n * sizeof(buf.attrs[0]);
	buf.hdr.driver_id = on_vib ? RDMA_DRIVER_UNKNOWN : RDMA_DRIVER_RXE;
	if (chance(24))
		spoil((__u32 *)&buf.hdr, sizeof(buf.hdr) / 4);
	if (ioctl(w.uverbs, RDMA_VERBS_IOCTL, &buf) < 0)
		return 0;
	if (c)
		keep_answer(c);
	else if (buf.hdr.object_id == m->object && m->made)
		keep(m->made, buf.attrs[0].data);
	return 1;
}

/* --- the file --------------------------------------------------------------- */

int fuzz_uverbs_file(void)
{
	struct pollfd p = { .events = POLLIN };
	size_t len = 4096 << rnd(4);
	off_t off = (off_t)(chance(4) ? rnd(1 << 20) : rnd(64)) << 12;
	void *at;
	int fd = handle(chance(2) ? 'C' : 'F');

	switch (rnd(4)) {
	case 0:
		at = mmap(NULL, len, rnd(4), rnd(2) ? MAP_SHARED : MAP_PRIVATE, w.uverbs, off);
		if (at == MAP_FAILED)
			return 0;
		munmap(at, len);
		return 1;
	case 1:		/* an event file or a wrong number: never a file of its own */
		if (fd < 16)
			return 0;
		fcntl(fd, F_SETFL, O_NONBLOCK);
		return read(fd, resp, rnd(64)) > 0;
	case 2:
		p.fd = fd;
		return poll(&p, 1, 0) > 0;
	default:
		return fd >= 16 && close(fd) == 0;
	}
}

/* checks that no string reaches beyond its structure, no structure beyond a buffer */
int check_commands(const struct command *c, size_t n)
{
	for (; n; n--, c++)
		if (c->in > 900 || words_of(c->fields) > c->in / 4)
			return -1;
	return 0;
}

int check_verbs(void)
{
	return check_commands(commands, COMMANDS);
}
