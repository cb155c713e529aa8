// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Completion queues, by command and by ioctl. */
#include <linux/uaccess.h>
#include "events.h"
#include "faults.h"
#include "user/fixture.h"

#define EX(command)	((command) | IB_USER_VERBS_CMD_FLAG_EXTENDED)
#define NO_HANDLE	0x7ffffff0

static int create(struct commands *c, const struct ib_uverbs_create_cq *cmd,
		  struct ib_uverbs_create_cq_resp *resp)
{
	return commands_write(c, IB_USER_VERBS_CMD_CREATE_CQ, cmd, sizeof(*cmd), resp,
			      sizeof(*resp));
}

static int create_ex(struct commands *c, const struct ib_uverbs_ex_create_cq *cmd,
		     struct ib_uverbs_ex_create_cq_resp *resp)
{
	return commands_write(c, EX(IB_USER_VERBS_EX_CMD_CREATE_CQ), cmd, sizeof(*cmd),
			      resp, sizeof(*resp));
}

/* Begins a create by ioctl, without the optional attributes. */
static void begin_create(struct commands *c, u32 cqe, u32 vector)
{
	commands_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_CQE, cqe);
	commands_u64(c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 'i');
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, vector);
	commands_out(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(u32));
}

static struct ib_cq *cq_of(struct commands *c, u32 handle)
{
	return commands_object(c, UVERBS_OBJECT_CQ, handle);
}

static int alive(struct commands *c)
{
	return atomic_read(&c->hca->alive[FAKE_CQ]);
}

static int destroy(struct commands *c, u32 handle)
{
	struct ib_uverbs_destroy_cq_resp resp;

	return events_destroy(c, handle, &resp);
}

static void a_cq_is_made_by_command(struct kunit *test)
{
	struct ib_uverbs_create_cq cmd = {
		.user_handle = 'a', .cqe = 20, .comp_vector = 3, .comp_channel = -1,
	};
	struct ib_uverbs_create_cq_resp resp;
	struct commands *c = test->priv;
	struct ib_cq *cq;

	KUNIT_ASSERT_EQ(test, create(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.cqe, 20);
	cq = cq_of(c, resp.cq_handle);
	KUNIT_ASSERT_NOT_NULL(test, cq);
	KUNIT_EXPECT_EQ(test, c->hca->cq.vector, 3);
	KUNIT_EXPECT_EQ(test, cq->comp_vector, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&cq->usecnt), 0);
	KUNIT_EXPECT_PTR_EQ(test, cq->device, &c->hca->ibdev);
	KUNIT_EXPECT_PTR_EQ(test, cq->uobject->base.uobject.object, (void *)cq);
	KUNIT_EXPECT_FALSE(test, rdma_is_kernel_res(&cq->res));
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&c->hca->ibdev, RDMA_RESTRACK_CQ, false),
			1);
	KUNIT_EXPECT_EQ(test, destroy(c, resp.cq_handle), 0);
	KUNIT_EXPECT_EQ(test, alive(c), 0);
	KUNIT_EXPECT_EQ(test, rdma_restrack_count(&c->hca->ibdev, RDMA_RESTRACK_CQ, false),
			0);
	KUNIT_EXPECT_EQ(test, destroy(c, resp.cq_handle), -ENOENT);
}

static void a_cq_is_made_by_extended_command(struct kunit *test)
{
	struct ib_uverbs_ex_create_cq cmd = {
		.user_handle = 'a', .cqe = 20, .comp_vector = 2, .comp_channel = -1,
		.flags = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION,
	};
	struct ib_uverbs_ex_create_cq_resp resp;
	struct commands *c = test->priv;

	KUNIT_ASSERT_EQ(test, create_ex(c, &cmd, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.base.cqe, 20);
	KUNIT_EXPECT_EQ(test, resp.comp_mask, 0);
	KUNIT_EXPECT_EQ(test, resp.response_length, sizeof(resp));
	KUNIT_EXPECT_EQ(test, c->hca->cq.flags, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION);
	KUNIT_EXPECT_EQ(test, c->hca->cq.vector, 2);
	KUNIT_EXPECT_EQ(test, destroy(c, resp.base.cq_handle), 0);
	cmd.comp_mask = 1;
	KUNIT_EXPECT_EQ(test, create_ex(c, &cmd, &resp), -EINVAL);
	cmd.comp_mask = 0;
	cmd.reserved = 1;
	KUNIT_EXPECT_EQ(test, create_ex(c, &cmd, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
}

static void a_cq_is_made_by_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	struct ib_uverbs_destroy_cq_resp resp;
	struct ib_cq *cq;
	char names[8];
	u32 handle;

	begin_create(c, 33, 1);
	commands_fd(c, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, channel);
	commands_fd(c, UVERBS_ATTR_CREATE_CQ_EVENT_FD, async);
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_FLAGS, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	KUNIT_EXPECT_EQ(test, commands_got_u32(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE), 33);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE));
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	KUNIT_EXPECT_EQ(test, c->hca->cq.flags, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN);
	cq = cq_of(c, handle);
	KUNIT_ASSERT_NOT_NULL(test, cq);
	events_complete(cq);
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "i");
	fake_hca_cq_event(cq, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, events_next(c, async).element, 'i');

	commands_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	commands_obj(c, UVERBS_ATTR_DESTROY_CQ_HANDLE, handle);
	commands_out(c, UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(resp));
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	commands_got_data(c, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 1);
	KUNIT_EXPECT_EQ(test, alive(c), 0);
	fixture_close_fd(channel);
	fixture_close_fd(async);
}

static void a_vector_that_is_none(struct kunit *test)
{
	struct ib_uverbs_create_cq cmd = { .cqe = 1, .comp_channel = -1 };
	struct ib_uverbs_ex_create_cq ex = { .cqe = 1, .comp_channel = -1 };
	struct ib_uverbs_ex_create_cq_resp ex_resp;
	struct ib_uverbs_create_cq_resp resp;
	struct commands *c = test->priv;

	cmd.comp_vector = c->hca->ibdev.num_comp_vectors;
	ex.comp_vector = cmd.comp_vector;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_ex(c, &ex, &ex_resp), -EINVAL);
	begin_create(c, 1, cmd.comp_vector);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	cmd.comp_vector = U32_MAX;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&c->file->handles));
}

static void a_channel_that_is_none(struct kunit *test)
{
	struct ib_uverbs_create_cq cmd = { .cqe = 1 };
	struct ib_uverbs_create_cq_resp resp;
	struct commands *c = test->priv;
	struct ib_uverbs_file *file = c->file;
	int async = events_async(c), others;

	cmd.comp_channel = async;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EBADF);
	cmd.comp_channel = 1000;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EBADF);
	c->file = commands_open(c);
	others = events_channel(c);
	uverbs_file_close(c->file);
	c->file = file;
	cmd.comp_channel = others;
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -EBADF);
	begin_create(c, 1, 0);
	commands_fd(c, UVERBS_ATTR_CREATE_CQ_EVENT_FD, others);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EBADF);
	fixture_close_fd(others);
	fixture_close_fd(async);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
}

static void a_channel_outlives_none_of_its_cqs_or_all(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 1);

	KUNIT_EXPECT_EQ(test, destroy(c, a.handle), 0);
	fixture_close_fd(channel);
	events_complete(b.cq);
	KUNIT_EXPECT_EQ(test, destroy(c, b.handle), 0);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
}

static void flags_that_are_none(struct kunit *test)
{
	struct commands *c = test->priv;

	begin_create(c, 1, 0);
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_FLAGS, 4);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 0);
}

static void a_cq_is_resized(struct kunit *test)
{
	struct commands *c = test->priv;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_uverbs_resize_cq cmd = { .cq_handle = a.handle, .cqe = 40 };
	struct ib_uverbs_resize_cq_resp resp;

	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), 0);
	KUNIT_EXPECT_EQ(test, resp.cqe, 40);
	KUNIT_EXPECT_EQ(test, a.cq->cqe, 40);
	commands_check_lengths(c, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd, sizeof(cmd),
			       sizeof(resp), true);
	cmd.cqe = U32_MAX;
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), -EINVAL);
	cmd.cqe = 50;
	c->hca->cq.error = -ENOSPC;
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), -ENOSPC);
	KUNIT_EXPECT_EQ(test, a.cq->cqe, 40);
	cmd.cq_handle = NO_HANDLE;
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd,
					     sizeof(cmd), &resp, sizeof(resp)), -ENOENT);
}

static int modify(struct commands *c, const struct ib_uverbs_ex_modify_cq *cmd)
{
	return commands_write(c, EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ), cmd, sizeof(*cmd),
			      NULL, 0);
}

static void moderation_reaches_the_provider(struct kunit *test)
{
	struct commands *c = test->priv;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_uverbs_ex_modify_cq cmd = {
		.cq_handle = a.handle, .attr_mask = IB_CQ_MODERATE,
		.attr = { .cq_count = 16, .cq_period = 60000 },
	};

	KUNIT_EXPECT_EQ(test, modify(c, &cmd), 0);
	KUNIT_EXPECT_EQ(test, c->hca->cq.count, 16);
	KUNIT_EXPECT_EQ(test, c->hca->cq.period, 60000);
	commands_check_lengths(c, EX(IB_USER_VERBS_EX_CMD_MODIFY_CQ), &cmd, sizeof(cmd),
			       0, true);
	cmd.attr_mask = 0;
	KUNIT_EXPECT_EQ(test, modify(c, &cmd), -EINVAL);
	cmd.attr_mask = 3;
	KUNIT_EXPECT_EQ(test, modify(c, &cmd), -EOPNOTSUPP);
	cmd.attr_mask = IB_CQ_MODERATE;
	cmd.reserved = 1;
	KUNIT_EXPECT_EQ(test, modify(c, &cmd), -EINVAL);
	cmd.reserved = 0;
	c->hca->cq.error = -EIO;
	KUNIT_EXPECT_EQ(test, modify(c, &cmd), -EIO);
	cmd.cq_handle = NO_HANDLE;
	KUNIT_EXPECT_EQ(test, modify(c, &cmd), -ENOENT);
}

static void what_the_provider_lacks_is_not_there(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_device *ibdev = &c->hca->ibdev;
	struct ib_device_ops ops = ibdev->ops;
	struct uverbs_api *api;

	ibdev->ops.modify_cq = NULL;
	ibdev->ops.resize_cq = NULL;
	ibdev->ops.poll_cq = NULL;
	ibdev->ops.req_notify_cq = NULL;
	api = uverbs_api_create(ibdev, uverbs_cq_definitions);
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_EX_CMD_MODIFY_CQ, true));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_RESIZE_CQ, false));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_POLL_CQ, false));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
						 false));
	KUNIT_EXPECT_NOT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_CREATE_CQ,
						     false));
	uverbs_api_free(api);
	ibdev->ops.create_cq = NULL;
	api = uverbs_api_create(ibdev, uverbs_cq_definitions);
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, IB_USER_VERBS_CMD_CREATE_CQ, false));
	uverbs_api_free(api);
	ibdev->ops = ops;
}

struct polled {
	struct ib_uverbs_poll_cq_resp resp;
	struct ib_uverbs_wc wc[4];
};

static int poll(struct commands *c, u32 handle, u32 ne, struct polled *polled, size_t len)
{
	struct ib_uverbs_poll_cq cmd = { .cq_handle = handle, .ne = ne };

	return commands_write(c, IB_USER_VERBS_CMD_POLL_CQ, &cmd, sizeof(cmd), polled,
			      len);
}

static void completions_are_polled(struct kunit *test)
{
	struct commands *c = test->priv;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_qp qp = { .qp_num = 77 };
	struct ib_wc wc = {
		.status = IB_WC_LOC_LEN_ERR, .opcode = IB_WC_RECV, .vendor_err = 5,
		.byte_len = 100, .qp = &qp, .src_qp = 9, .slid = 12, .sl = 3,
		.wc_flags = IB_WC_WITH_IMM, .pkey_index = 2, .dlid_path_bits = 1,
		.port_num = 1, .ex.imm_data = cpu_to_be32(0xabcd),
	};
	struct ib_uverbs_wc want = {
		.wr_id = 41, .status = IB_WC_LOC_LEN_ERR, .opcode = IB_WC_RECV,
		.vendor_err = 5, .byte_len = 100, .qp_num = 77, .src_qp = 9, .slid = 12,
		.sl = 3, .wc_flags = IB_WC_WITH_IMM, .pkey_index = 2,
		.dlid_path_bits = 1, .port_num = 1, .ex.imm_data = cpu_to_be32(0xabcd),
	};
	struct polled polled;

	KUNIT_EXPECT_EQ(test, poll(c, a.handle, 4, &polled, sizeof(polled)), 0);
	KUNIT_EXPECT_EQ(test, polled.resp.count, 0);
	for (wc.wr_id = 41; wc.wr_id < 46; wc.wr_id++)
		fake_hca_complete(a.cq, &wc);
	KUNIT_EXPECT_EQ(test, poll(c, a.handle, 1, &polled, sizeof(polled)), 0);
	KUNIT_EXPECT_EQ(test, polled.resp.count, 1);
	KUNIT_EXPECT_MEMEQ(test, &polled.wc[0], &want, sizeof(want));
	/* No more completions than the buffer has room for. */
	KUNIT_EXPECT_EQ(test, poll(c, a.handle, 1000, &polled,
				   sizeof(polled) - sizeof(want) - 4), 0);
	KUNIT_EXPECT_EQ(test, polled.resp.count, 2);
	KUNIT_EXPECT_EQ(test, polled.wc[1].wr_id, 43);
	KUNIT_EXPECT_EQ(test, poll(c, a.handle, 4, &polled, sizeof(polled.resp)), 0);
	KUNIT_EXPECT_EQ(test, polled.resp.count, 0);
	c->invoke = true;
	KUNIT_EXPECT_EQ(test, poll(c, a.handle, 4, &polled, sizeof(polled)), 0);
	KUNIT_EXPECT_EQ(test, polled.resp.count, 2);
	KUNIT_EXPECT_EQ(test, polled.wc[1].wr_id, 45);
	KUNIT_EXPECT_TRUE(test, commands_is_written(c, UVERBS_ATTR_CORE_OUT));
	KUNIT_EXPECT_EQ(test, poll(c, NO_HANDLE, 4, &polled, sizeof(polled)), -ENOENT);
}

static int req_notify(struct commands *c, u32 handle, u32 solicited)
{
	struct ib_uverbs_req_notify_cq cmd = {
		.cq_handle = handle, .solicited_only = solicited,
	};

	return commands_write(c, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &cmd, sizeof(cmd), NULL,
			      0);
}

static void a_completion_raises_an_event_once_armed(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 2);
	struct ib_qp qp = {};
	struct ib_wc wc = { .qp = &qp };
	char names[8];

	fake_hca_complete(a.cq, &wc);
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "");
	KUNIT_EXPECT_EQ(test, req_notify(c, a.handle, 1), 0);
	KUNIT_EXPECT_EQ(test, c->hca->cq.notify, IB_CQ_SOLICITED);
	KUNIT_EXPECT_EQ(test, req_notify(c, a.handle, 0), 0);
	KUNIT_EXPECT_EQ(test, c->hca->cq.notify, IB_CQ_NEXT_COMP);
	fake_hca_complete(a.cq, &wc);
	fake_hca_complete(a.cq, &wc);
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "a");
	KUNIT_EXPECT_EQ(test, req_notify(c, NO_HANDLE, 0), -ENOENT);
	fixture_close_fd(channel);
}

static void a_cq_in_use_stays(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	char names[8];

	events_complete(a.cq);
	atomic_inc(&a.cq->usecnt);
	KUNIT_EXPECT_EQ(test, destroy(c, a.handle), -EBUSY);
	atomic_dec(&a.cq->usecnt);
	atomic_set(&c->hca->fail_destroy[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, destroy(c, a.handle), -EIO);
	/* The CQ works as before. */
	KUNIT_EXPECT_PTR_EQ(test, cq_of(c, a.handle), a.cq);
	events_complete(a.cq);
	events_read_names(c, channel, names, sizeof(names));
	KUNIT_EXPECT_STREQ(test, names, "aa");
	KUNIT_EXPECT_EQ(test, destroy(c, a.handle), 0);
	KUNIT_EXPECT_EQ(test, alive(c), 0);
	fixture_close_fd(channel);
}

static int (*real_destroy_cq)(struct ib_cq *cq, struct ib_udata *udata);

static int noisy_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	events_complete(cq);
	fake_hca_cq_event(cq, IB_EVENT_CQ_ERR);
	return real_destroy_cq(cq, udata);
}

/* Events are raised as late as an interrupt can raise them. */
static void events_come_while_a_cq_is_destroyed(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);
	struct events_cq b = events_cq(c, channel, 'b', 0);
	struct ib_uverbs_destroy_cq_resp resp;

	real_destroy_cq = c->hca->ibdev.ops.destroy_cq;
	c->hca->ibdev.ops.destroy_cq = noisy_destroy_cq;
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 0);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 0);
	KUNIT_EXPECT_EQ(test, events_poll(channel), 0);
	KUNIT_EXPECT_EQ(test, events_poll(async), 0);
	/* Likewise when the node is closed or the device is removed. */
	KUNIT_EXPECT_NOT_NULL(test, b.cq);
	commands_close(c);
	KUNIT_EXPECT_EQ(test, alive(c), 0);
	c->hca->ibdev.ops.destroy_cq = real_destroy_cq;
	fixture_close_fd(channel);
	fixture_close_fd(async);
}

/* What the events refer to remains, because the CQ may still raise some. */
static void a_driver_never_lets_go_of_a_cq(struct kunit *test)
{
	struct commands *c = test->priv;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_uobject *uobj = &a.cq->uobject->base.uobject;
	const struct uverbs_obj_idr_type *type =
		container_of(uobj->uapi_object->type_attrs, struct uverbs_obj_idr_type,
			     type);
	struct uverbs_attr_bundle attrs = { .ufile = c->file, .context = uobj->context };

	atomic_set(&c->hca->fail_destroy[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, type->destroy_object(uobj, RDMA_REMOVE_CLOSE, &attrs), -EIO);
	KUNIT_EXPECT_EQ(test, kref_read(&uobj->ref), 1);
	atomic_set(&c->hca->fail_destroy[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, type->destroy_object(uobj, RDMA_REMOVE_DRIVER_FAILURE,
						   &attrs), -EIO);
	KUNIT_EXPECT_EQ(test, kref_read(&uobj->ref), 2);
	uverbs_uobject_put(uobj);
}

static void cqs_end_with_the_device(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c);
	struct events_cq a = events_cq(c, channel, 'a', 0);

	events_complete(a.cq);
	ib_unregister_device(&c->hca->ibdev);
	KUNIT_EXPECT_EQ(test, alive(c), 0);
	KUNIT_EXPECT_EQ(test, destroy(c, a.handle), 0);
	KUNIT_EXPECT_EQ(test, destroy(c, a.handle), -ENOENT);
	fixture_close_fd(channel);
}

static void what_is_no_proper_command(struct kunit *test)
{
	struct commands *c = test->priv;
	struct events_cq a = events_cq(c, -1, 'a', 0);
	struct ib_uverbs_create_comp_channel channel = {};
	struct ib_uverbs_create_cq cmd = { .cqe = 1, .comp_channel = -1 };
	struct ib_uverbs_ex_create_cq ex = { .cqe = 1, .comp_channel = -1 };
	struct ib_uverbs_destroy_cq gone = { .cq_handle = a.handle };
	struct ib_uverbs_poll_cq poll_cmd = { .cq_handle = a.handle };
	struct ib_uverbs_req_notify_cq notify = { .cq_handle = a.handle };
	struct ib_uverbs_destroy_cq_resp resp;

	commands_check_lengths(c, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &channel,
			       sizeof(channel),
			       sizeof(struct ib_uverbs_create_comp_channel_resp), false);
	commands_check_lengths(c, IB_USER_VERBS_CMD_CREATE_CQ, &cmd, sizeof(cmd),
			       sizeof(struct ib_uverbs_create_cq_resp), true);
	commands_check_lengths(c, EX(IB_USER_VERBS_EX_CMD_CREATE_CQ), &ex, sizeof(ex),
			       sizeof(struct ib_uverbs_ex_create_cq_resp), true);
	commands_check_lengths(c, IB_USER_VERBS_CMD_POLL_CQ, &poll_cmd, sizeof(poll_cmd),
			       sizeof(struct ib_uverbs_poll_cq_resp), false);
	commands_check_lengths(c, IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, &notify,
			       sizeof(notify), 0, false);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, commands_objects(c), 1);
	/* For a command that destroys, only errors found before it does. */
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_DESTROY_CQ, &gone,
					     sizeof(gone) - 4, &resp, sizeof(resp)),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, commands_write(c, IB_USER_VERBS_CMD_DESTROY_CQ, &gone,
					     sizeof(gone), &resp, sizeof(resp) - 4),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, destroy(c, NO_HANDLE), -ENOENT);
	KUNIT_EXPECT_PTR_EQ(test, cq_of(c, a.handle), a.cq);
}

static void what_is_no_proper_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	u32 handle;

	begin_create(c, 4, 0);
	commands_fd(c, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, channel);
	commands_fd(c, UVERBS_ATTR_CREATE_CQ_EVENT_FD, async);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	commands_check_attrs(c);
	KUNIT_EXPECT_EQ(test, alive(c), 1);
	commands_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	commands_obj(c, UVERBS_ATTR_DESTROY_CQ_HANDLE, handle);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EINVAL);
	KUNIT_EXPECT_EQ(test, alive(c), 1);
	fixture_close_fd(channel);
	fixture_close_fd(async);
}

static int faulty_create(struct kunit *test)
{
	struct ib_uverbs_create_cq cmd = { .cqe = 1, .comp_channel = -1 };
	struct ib_uverbs_create_cq_resp resp;
	struct commands *c = test->priv;
	unsigned int nth;
	int ret;

	ret = create(c, &cmd, &resp);
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret)
		KUNIT_EXPECT_EQ(test, destroy(c, resp.cq_handle), 0);
	current->fail_nth = nth;
	return ret;
}

static int faulty_ioctl(struct kunit *test)
{
	struct commands *c = test->priv;
	unsigned int nth;
	u32 handle;
	int ret;

	begin_create(c, 1, 0);
	ret = commands_ioctl(c);
	nth = current->fail_nth;
	current->fail_nth = 0;
	handle = commands_got_handle(c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	if (!ret)
		KUNIT_EXPECT_EQ(test, destroy(c, handle), 0);
	current->fail_nth = nth;
	return ret;
}

static int faulty_channel(struct kunit *test)
{
	struct ib_uverbs_create_comp_channel cmd = {};
	struct ib_uverbs_create_comp_channel_resp resp;
	struct commands *c = test->priv;
	unsigned int nth;
	int ret;

	ret = commands_write(c, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &cmd, sizeof(cmd),
			     &resp, sizeof(resp));
	nth = current->fail_nth;
	current->fail_nth = 0;
	if (!ret)
		fixture_close_fd(resp.fd);
	flush_delayed_fput();
	current->fail_nth = nth;
	return ret;
}

static void cqs_survive_each_failed_allocation(struct kunit *test)
{
	struct ib_uverbs_create_cq cmd = { .cqe = 1, .comp_channel = -1 };
	struct ib_uverbs_create_cq_resp resp;
	struct commands *c = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, faulty_create), 2);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, faulty_ioctl), 2);
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, faulty_channel), 2);
	cmd.comp_channel = events_channel(c);
	atomic_set(&c->hca->fail_create[FAKE_CQ], 1);
	KUNIT_EXPECT_EQ(test, create(c, &cmd, &resp), -ENOMEM);
	KUNIT_EXPECT_EQ(test, commands_objects(c), 1);
	fixture_close_fd(cmd.comp_channel);
	KUNIT_EXPECT_EQ(test, alive(c), 0);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(a_cq_is_made_by_command),
	KUNIT_CASE(a_cq_is_made_by_extended_command),
	KUNIT_CASE(a_cq_is_made_by_ioctl),
	KUNIT_CASE(a_vector_that_is_none),
	KUNIT_CASE(a_channel_that_is_none),
	KUNIT_CASE(a_channel_outlives_none_of_its_cqs_or_all),
	KUNIT_CASE(flags_that_are_none),
	KUNIT_CASE(a_cq_is_resized),
	KUNIT_CASE(moderation_reaches_the_provider),
	KUNIT_CASE(what_the_provider_lacks_is_not_there),
	KUNIT_CASE(completions_are_polled),
	KUNIT_CASE(a_completion_raises_an_event_once_armed),
	KUNIT_CASE(a_cq_in_use_stays),
	KUNIT_CASE(events_come_while_a_cq_is_destroyed),
	KUNIT_CASE(a_driver_never_lets_go_of_a_cq),
	KUNIT_CASE(cqs_end_with_the_device),
	KUNIT_CASE(what_is_no_proper_command),
	KUNIT_CASE(what_is_no_proper_ioctl),
	KUNIT_CASE(cqs_survive_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_cq_suite = {
	.name = "uverbs_cq",
	.init = commands_init,
	.exit = commands_exit,
	.test_cases = cq_cases,
};

kunit_test_suite(uverbs_cq_suite);
