// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The commands that librdmacm sends, one write() each. */
#include <linux/anon_inodes.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <kunit/test-bug.h>
#include "ucm_test.h"

int chan_open(struct chan *chan)
{
	int ret;

	chan->filp = anon_inode_getfile("rdma_cm", &ucm_fops, NULL, O_RDWR | O_NONBLOCK);
	if (IS_ERR(chan->filp))
		return PTR_ERR(chan->filp);
	ret = ucm_fops.open(NULL, chan->filp);
	KUNIT_ASSERT_EQ(kunit_get_current_test(), ret, 0);
	chan->fd = get_unused_fd_flags(O_CLOEXEC);
	if (chan->fd >= 0) {
		get_file(chan->filp);
		fd_install(chan->fd, chan->filp);
	}
	return chan->fd < 0 ? chan->fd : 0;
}

void chan_close(struct chan *chan)
{
	if (IS_ERR_OR_NULL(chan->filp))
		return;
	if (chan->fd >= 0)
		close_fd(chan->fd);
	flush_delayed_fput();
	__fput_sync(chan->filp);
	chan->filp = NULL;
}

void chan_clone(struct kunit *test, struct chan *copy, const struct chan *chan)
{
	*copy = *chan;
	copy->mem = user_pages(test, 1, TEST_RW);
}

u64 chan_resp_at(const struct chan *chan)
{
	return chan->bad_resp ? NO_MEMORY : chan->mem + RESP_AT;
}

void chan_resp(struct chan *chan, void *resp, size_t len)
{
	if (copy_from_user(resp, (void __user *)(chan->mem + RESP_AT), len))
		memset(resp, 0xff, len);
}

ssize_t chan_raw(struct chan *chan, const void *data, size_t len)
{
	void __user *at = (void __user *)chan->mem;
	loff_t pos = 0;

	if (copy_to_user(at, data, len))
		return -EDOM;
	return ucm_fops.write(chan->filp, at, len, &pos);
}

int chan_write(struct chan *chan, u32 cmd, const void *body, size_t in, size_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		u8 body[RESP_AT - sizeof(struct rdma_ucm_cmd_hdr)];
	} *msg;
	ssize_t ret;

	/* This must not be an allocation that a test makes fail. */
	msg = kzalloc(sizeof(*msg), GFP_KERNEL | __GFP_NOFAIL);
	msg->hdr.cmd = cmd;
	msg->hdr.in = in;
	msg->hdr.out = out;
	memcpy(msg->body, body, in);
	ret = chan_raw(chan, msg, sizeof(msg->hdr) + in);
	kfree(msg);
	if (ret < 0)
		return ret;
	return ret == sizeof(struct rdma_ucm_cmd_hdr) + in ? 0 : -EPROTO;
}

int chan_create(struct chan *chan, enum rdma_ucm_port_space ps, u64 uid, u32 *id)
{
	struct rdma_ucm_create_id cmd = {
		.uid = uid, .response = chan_resp_at(chan), .ps = ps,
		.qp_type = IB_QPT_RC,
	};
	int ret = chan_do(chan, CREATE_ID, cmd, sizeof(struct rdma_ucm_create_id_resp));

	if (!ret)
		chan_resp(chan, id, sizeof(*id));
	return ret;
}

int chan_destroy(struct chan *chan, u32 id, u32 *reported)
{
	struct rdma_ucm_destroy_id cmd = { .response = chan_resp_at(chan), .id = id };
	int ret = chan_do(chan, DESTROY_ID, cmd, sizeof(struct rdma_ucm_destroy_id_resp));

	if (!ret && reported)
		chan_resp(chan, reported, sizeof(*reported));
	return ret;
}

int chan_bind(struct chan *chan, u32 id, const void *addr)
{
	struct rdma_ucm_bind cmd = { .id = id, .addr_size = rdma_addr_size(addr) };

	memcpy(&cmd.addr, addr, sizeof(cmd.addr));
	return chan_do(chan, BIND, cmd, 0);
}

int chan_resolve(struct chan *chan, u32 id, const void *src, const void *dst)
{
	struct rdma_ucm_resolve_addr cmd = { .id = id, .timeout_ms = TEST_TIMEOUT };

	if (src) {
		cmd.src_size = rdma_addr_size(src);
		memcpy(&cmd.src_addr, src, sizeof(cmd.src_addr));
	}
	cmd.dst_size = rdma_addr_size(dst);
	memcpy(&cmd.dst_addr, dst, sizeof(cmd.dst_addr));
	return chan_do(chan, RESOLVE_ADDR, cmd, 0);
}

int chan_route(struct chan *chan, u32 id)
{
	struct rdma_ucm_resolve_route cmd = { .id = id, .timeout_ms = TEST_TIMEOUT };

	return chan_do(chan, RESOLVE_ROUTE, cmd, 0);
}

int chan_listen(struct chan *chan, u32 id, u32 backlog)
{
	struct rdma_ucm_listen cmd = { .id = id, .backlog = backlog };

	return chan_do(chan, LISTEN, cmd, 0);
}

static void fill_param(struct chan *chan, struct rdma_ucm_conn_param *param)
{
	/* Only the lower 24 bits count. */
	param->qp_num = chan->qp_num ?: 0x7f000123 + chan->nr_qps++;
	param->responder_resources = 2;
	param->initiator_depth = 3;
	param->retry_count = 7;
	param->rnr_retry_count = 6;
	param->valid = 1;
}

int chan_connect(struct chan *chan, u32 id, const void *data, u8 len)
{
	struct rdma_ucm_connect cmd = { .id = id, .ece = { 0x123456, 0x654321 } };

	fill_param(chan, &cmd.conn_param);
	if (len)
		memcpy(cmd.conn_param.private_data, data, len);
	cmd.conn_param.private_data_len = len;
	return chan_do(chan, CONNECT, cmd, 0);
}

int chan_accept(struct chan *chan, u32 id, u64 uid)
{
	struct rdma_ucm_accept cmd = { .id = id, .uid = uid };

	fill_param(chan, &cmd.conn_param);
	memcpy(cmd.conn_param.private_data, "welcome", 8);
	cmd.conn_param.private_data_len = 8;
	return chan_do(chan, ACCEPT, cmd, 0);
}

int chan_confirm(struct chan *chan, u32 id)
{
	struct rdma_ucm_accept cmd = { .id = id };

	return chan_do(chan, ACCEPT, cmd, 0);
}

int chan_reject(struct chan *chan, u32 id, u8 reason)
{
	struct rdma_ucm_reject cmd = { .id = id, .reason = reason,
				       .private_data = "no", .private_data_len = 3 };

	return chan_do(chan, REJECT, cmd, 0);
}

int chan_disconnect(struct chan *chan, u32 id)
{
	struct rdma_ucm_disconnect cmd = { .id = id };

	return chan_do(chan, DISCONNECT, cmd, 0);
}

/* The value is at the place of the response, which this command does not have. */
int chan_option(struct chan *chan, u32 id, u32 level, u32 name, const void *value,
		u32 len)
{
	struct rdma_ucm_set_option cmd = {
		.id = id, .level = level, .optname = name, .optlen = len,
		.optval = chan->mem + RESP_AT,
	};

	if (!value)
		cmd.optval = NO_MEMORY;
	else if (copy_to_user((void __user *)(chan->mem + RESP_AT), value,
			      min(len, RESP_AT)))
		return -EDOM;
	return chan_do(chan, SET_OPTION, cmd, 0);
}

int chan_join(struct chan *chan, u32 id, const void *addr, u16 flags, u64 uid, u32 *mc)
{
	struct rdma_ucm_join_mcast cmd = {
		.response = chan_resp_at(chan), .uid = uid, .id = id,
		.addr_size = rdma_addr_size(addr), .join_flags = flags,
	};
	int ret;

	memcpy(&cmd.addr, addr, sizeof(cmd.addr));
	ret = chan_do(chan, JOIN_MCAST, cmd, sizeof(struct rdma_ucm_create_id_resp));
	if (!ret)
		chan_resp(chan, mc, sizeof(*mc));
	return ret;
}

int chan_leave(struct chan *chan, u32 mc, u32 *reported)
{
	struct rdma_ucm_destroy_id cmd = { .response = chan_resp_at(chan), .id = mc };
	int ret = chan_do(chan, LEAVE_MCAST, cmd, sizeof(struct rdma_ucm_destroy_id_resp));

	if (!ret && reported)
		chan_resp(chan, reported, sizeof(*reported));
	return ret;
}

int chan_migrate(struct chan *to, const struct chan *from, u32 id, u32 *reported)
{
	struct rdma_ucm_migrate_id cmd = {
		.response = chan_resp_at(to), .id = id, .fd = from->fd,
	};
	int ret = chan_do(to, MIGRATE_ID, cmd, sizeof(struct rdma_ucm_migrate_resp));

	if (!ret && reported)
		chan_resp(to, reported, sizeof(*reported));
	return ret;
}

int chan_read(struct chan *chan, struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_get_event cmd = { .response = chan_resp_at(chan) };
	int ret = chan_do(chan, GET_EVENT, cmd, sizeof(*event));

	if (!ret)
		chan_resp(chan, event, sizeof(*event));
	return ret;
}

bool chan_expect(struct kunit *test, struct chan *chan, enum rdma_cm_event_type type,
		 struct rdma_ucm_event_resp *event)
{
	struct rdma_ucm_event_resp local;
	int ret = -EAGAIN, i;

	event = event ?: &local;
	for (i = 0; i < 10000 && ret == -EAGAIN; i++) {
		if (i)
			msleep(20);
		ret = chan_read(chan, event);
	}
	KUNIT_EXPECT_EQ_MSG(test, ret, 0, "waiting for %s", rdma_event_msg(type));
	if (ret)
		return false;
	KUNIT_EXPECT_EQ_MSG(test, event->event, type, "%s, status %d",
			    rdma_event_msg(event->event), event->status);
	return event->event == type;
}

/* Gives events in progress time to arrive, and returns whether there is none. */
bool chan_is_empty(struct chan *chan)
{
	struct rdma_ucm_event_resp event;

	msleep(500);
	return chan_read(chan, &event) == -EAGAIN;
}
