// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /dev/infiniband/umad*: agents, and MADs of two processes to each other. */
#include <linux/uaccess.h>
#include "../umad/umad_test.h"
#include "fuzz.h"

#define PEER	BIT(0)		/* by the other process */
#define LARGE	1200		/* bytes of an RMPP transfer */

enum {
	UM_REGISTER, UM_REGISTER_OLD, UM_UNREGISTER, UM_ENABLE_PKEY, UM_SEND, UM_SEND_RMPP,
	UM_REPLY, UM_READ, UM_POLL
};

struct umad_files {
	struct umad_end end[2];
	u8 asked[sizeof(struct ib_user_mad_hdr) + IB_MGMT_MAD_SIZE];	/* last by the peer */
};

#define OP(name, number, needs, takes, makes, flags) { \
	name, needs, takes, makes, "", number, 0, 0, flags }

/*
 * Kinds: g an agent, h one of RMPP, k the peer's; v a MAD or a timeout that can be read, w a
 * request that the peer can read, y one that it has read.
 */
static const struct fuzz_op umad_ops[] = {
	OP("register", UM_REGISTER, "", "", "g", 0),
	OP("register_rmpp", UM_REGISTER, "", "", "h", 0),
	OP("register_old", UM_REGISTER_OLD, "", "", "g", 0),
	OP("register_peer", UM_REGISTER, "", "", "k", PEER),
	OP("unregister", UM_UNREGISTER, "g", "g", "", 0),
	OP("unregister_rmpp", UM_UNREGISTER, "h", "h", "", 0),
	OP("unregister_peer", UM_UNREGISTER, "k", "k", "", PEER),
	OP("enable_pkey", UM_ENABLE_PKEY, "", "", "", 0),
	OP("send", UM_SEND, "g", "", "v", 0),
	OP("send_to_peer", UM_SEND, "gk", "", "w", 0),
	OP("send_rmpp", UM_SEND_RMPP, "h", "", "v", 0),
	OP("read_peer", UM_READ, "w", "w", "y", PEER),
	OP("reply", UM_REPLY, "ky", "y", "v", PEER),
	OP("read", UM_READ, "v", "v", "", 0),
	OP("poll", UM_POLL, "v", "", "", 0),
};

static void __user *at_user(const struct fuzz *f)
{
	return (void __user *)f->mem;
}

static bool do_ioctl(struct fuzz *f, struct umad_end *end, unsigned int cmd, size_t len)
{
	f->len = len;
	fuzz_spoil(f);
	if (copy_to_user(at_user(f), f->msg, FUZZ_MESSAGE))
		return false;
	return end->filp->f_op->unlocked_ioctl(end->filp, cmd, f->mem) >= 0;
}

static bool do_register(struct fuzz *f, const struct fuzz_op *op, struct umad_end *end)
{
	struct ib_user_mad_reg_req2 *req = (void *)f->msg;

	req->qpn = 1;
	req->mgmt_class_version = 1;
	req->oui = IB_OPENIB_OUI;
	if (*op->makes == 'h') {
		req->mgmt_class = TEST_RMPP_CLASS + fuzz_rnd(f, 4);
		req->rmpp_version = fuzz_rnd(f, 4) ? 1 : 0;
	} else {
		req->mgmt_class = TEST_CLASS + (*op->makes == 'g' ? fuzz_rnd(f, 4) : 0);
	}
	if (*op->makes == 'k')
		req->method_mask[0] = BIT(IB_MGMT_METHOD_GET);
	else if (!fuzz_rnd(f, 4))
		req->method_mask[0] = BIT(IB_MGMT_METHOD_SET);
	return do_ioctl(f, end, IB_USER_MAD_REGISTER_AGENT2, sizeof(*req));
}

static bool do_register_old(struct fuzz *f, struct umad_end *end)
{
	struct ib_user_mad_reg_req *req = (void *)f->msg;

	req->qpn = 1;
	req->mgmt_class = fuzz_rnd(f, 2) ? TEST_CLASS : TEST_RMPP_CLASS;
	req->mgmt_class_version = 1;
	req->oui[1] = 0x14;
	req->oui[2] = 0x05;
	return do_ioctl(f, end, IB_USER_MAD_REGISTER_AGENT, sizeof(*req));
}

static void put_mad(struct fuzz *f, struct umad_mad *mad, int id, struct umad_end *to)
{
	mad->hdr.id = id;
	mad->hdr.timeout_ms = 20 + fuzz_rnd(f, 20);
	mad->hdr.retries = fuzz_rnd(f, 3);
	mad->hdr.qpn = cpu_to_be32(1);
	mad->hdr.qkey = cpu_to_be32(IB_QP1_QKEY);
	mad->hdr.lid = cpu_to_be16(to->hca->port[1].lid);
	mad->mad.base_version = IB_MGMT_BASE_VERSION;
	mad->mad.mgmt_class = TEST_CLASS;
	mad->mad.class_version = 1;
	mad->mad.method = IB_MGMT_METHOD_GET;
	mad->mad.tid = cpu_to_be64(1 + fuzz_rnd(f, 1000));
}

static void put_rmpp(struct fuzz *f, struct umad_mad *mad)
{
	mad->mad.mgmt_class = TEST_RMPP_CLASS;
	mad->rmpp.rmpp_hdr.rmpp_version = IB_MGMT_RMPP_VERSION;
	mad->rmpp.rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_DATA;
	mad->rmpp.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE;
	mad->vendor.oui[1] = 0x14;
	mad->vendor.oui[2] = 0x05;
}

static bool do_write(struct fuzz *f, struct umad_end *end)
{
	fuzz_spoil(f);
	if (copy_to_user(at_user(f), f->msg, f->len))
		return false;
	return end->filp->f_op->write(end->filp, at_user(f), f->len, &end->filp->f_pos) >= 0;
}

/* The header of a file that has not enabled P_Keys is shorter. */
static bool do_send(struct fuzz *f, const struct fuzz_op *op, struct umad_end *end,
		    struct umad_end *to)
{
	struct umad_files *files = f->priv;
	size_t head = umad_hdr_size(end->file), len = IB_MGMT_MAD_SIZE;
	struct umad_mad *mad = (void *)fixture_mad;

	memset(mad, 0, FUZZ_MESSAGE);
	put_mad(f, mad, fuzz_handle(f, *op->needs), to);
	if (op->number == UM_SEND_RMPP) {
		put_rmpp(f, mad);
		len = IB_MGMT_VENDOR_HDR + fuzz_rnd(f, LARGE);
	} else if (op->number == UM_REPLY) {
		memcpy(&mad->mad, files->asked + umad_hdr_size(end->file), IB_MGMT_MAD_SIZE);
		mad->mad.method |= IB_MGMT_METHOD_RESP;
		mad->hdr.timeout_ms = 0;
	}
	memcpy(f->msg, &mad->hdr, head);
	memcpy(f->msg + head, &mad->mad, len);
	f->len = head + len;
	return do_write(f, end);
}

static bool do_read(struct fuzz *f, const struct fuzz_op *op, struct umad_end *end)
{
	struct umad_files *files = f->priv;
	ssize_t ret;

	wait_within(fixture_readable(end), 500);
	f->len = FUZZ_MESSAGE - 64;
	fuzz_spoil(f);
	ret = end->filp->f_op->read(end->filp, at_user(f), f->len, &end->filp->f_pos);
	if (ret < 0)
		return false;
	if (op->flags & PEER && copy_from_user(files->asked, at_user(f), sizeof(files->asked)))
		return false;
	return true;
}

static bool umad_call(struct fuzz *f, const struct fuzz_op *op)
{
	struct umad_files *files = f->priv;
	struct umad_end *end = &files->end[op->flags & PEER ? 1 : 0];
	struct umad_end *to = &files->end[op->flags & PEER ? 0 : 1];
	u32 id = 0;
	bool ok;

	switch (op->number) {
	case UM_REGISTER:
		ok = do_register(f, op, end);
		break;
	case UM_REGISTER_OLD:
		ok = do_register_old(f, end);
		break;
	case UM_UNREGISTER:
		id = fuzz_handle(f, *op->needs);
		memcpy(f->msg, &id, sizeof(id));
		ok = do_ioctl(f, end, IB_USER_MAD_UNREGISTER_AGENT, sizeof(id));
		break;
	case UM_ENABLE_PKEY:
		ok = do_ioctl(f, end, IB_USER_MAD_ENABLE_PKEY, 0);
		break;
	case UM_READ:
		ok = do_read(f, op, end);
		break;
	case UM_POLL:
		ok = wait_within(fixture_readable(end), 500);
		break;
	default:
		ok = do_send(f, op, end, to);
	}
	if ((op->number == UM_REGISTER || op->number == UM_REGISTER_OLD) && ok &&
	    get_user(id, (u32 __user *)at_user(f)))
		return false;
	if (ok)
		fuzz_account(f, op, (u32[]) { id, 0 });
	return ok;
}

static int umad_begin(struct fuzz *f)
{
	struct umad_files *files = f->priv;

	return fixture_open(&files->end[0], O_NONBLOCK) ?:
	       fixture_open(&files->end[1], O_NONBLOCK);
}

static void umad_end(struct fuzz *f)
{
	struct umad_files *files = f->priv;

	fixture_close(&files->end[0]);
	fixture_close(&files->end[1]);
}

static int umad_left(struct fuzz *f)
{
	struct umad_files *files = f->priv;
	int i, left = 0;

	for (i = 0; i < 2; i++) {
		wait_within(!fixture_sends(&files->end[i]), 60000);
		left += fixture_sends(&files->end[i]);
	}
	return left;
}

static int umad_init(struct fuzz *f)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct umad_files *files = kunit_kzalloc(f->test, sizeof(*files), GFP_KERNEL);
	int i, ret = 0;

	f->priv = files;
	fixture_mad = kvzalloc(sizeof(*fixture_mad), GFP_KERNEL);
	if (!files || !fixture_mad)
		return -ENOMEM;
	for (i = 0; i < 2 && !ret; i++)
		ret = fixture_end_init(&files->end[i], &params);
	/* ib_sa makes its address handle to the SM by itself. */
	for (i = 0; i < 2 && !ret; i++) {
		wait_within(atomic_read(&files->end[i].hca->alive[FAKE_AH]), 1000);
		files->end[i].other_ahs = atomic_read(&files->end[i].hca->alive[FAKE_AH]);
		fixture_close(&files->end[i]);
	}
	return ret;
}

static void umad_exit(struct fuzz *f)
{
	struct umad_files *files = f->priv;

	if (files) {
		fixture_end_exit(&files->end[0]);
		fixture_end_exit(&files->end[1]);
	}
	kvfree(fixture_mad);
	fixture_mad = NULL;
}

const struct fuzz_target fuzz_umad = {
	.name = "umad",
	.ops = umad_ops,
	.nr_ops = ARRAY_SIZE(umad_ops),
	.init = umad_init,
	.exit = umad_exit,
	.begin = umad_begin,
	.end = umad_end,
	.call = umad_call,
	.left = umad_left,
};
