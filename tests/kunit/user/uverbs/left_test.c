// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The handles that processes keep of a removed device, and destroy as
 * usual: libraries of providers rely on that.
 */
#define UVERBS_MODULE_NAME left_drv
#include <rdma/uverbs_named_ioctl.h>
#include "user/queues/events.h"
#include "user/call/methods.h"
#include "user/queues/process_queues.h"
#include "race.h"
#include "user/fixture.h"

static void remove_device(struct commands *c)
{
	ib_unregister_device(&c->hca->ibdev);
	KUNIT_EXPECT_EQ(c->test, fake_hca_objects(c->hca), 0);
	KUNIT_EXPECT_EQ(c->test, commands_objects(c), 0);
}

/* ---- each kind, by each call ---- */

enum way { BY_COMMAND, BY_INVOKED_COMMAND, BY_IOCTL, WAYS };

static int destroy_by(struct commands *c, const struct race_kind *kind, u32 handle,
		      enum way way)
{
	int ret;

	c->invoke = way == BY_INVOKED_COMMAND;
	ret = race_destroy(c, kind, handle, way == BY_IOCTL);
	c->invoke = false;
	return ret;
}

static void check_each_kind(struct kunit *test, enum way way)
{
	struct commands *c = test->priv;
	u32 handles[NR_KINDS], more;
	int i;

	for (i = 0; i < NR_KINDS; i++)
		KUNIT_ASSERT_EQ(test, race_kinds[i].make(c, queues.pd, queues.cq,
							 &handles[i]), 0);
	remove_device(c);
	/* The order here destroys parents first. */
	for (i = 0; i < NR_KINDS; i++) {
		KUNIT_EXPECT_EQ_MSG(test, destroy_by(c, &race_kinds[i], handles[i], way),
				    0, "kind %d by %d", i, way);
		KUNIT_EXPECT_EQ(test, destroy_by(c, &race_kinds[i], handles[i], way),
				-ENOENT);
		KUNIT_EXPECT_EQ(test, race_kinds[i].make(c, queues.pd, queues.cq, &more),
				-EIO);
	}
	race_renew(test);
}

static void handles_of_a_removed_device_are_destroyed(struct kunit *test)
{
	enum way way;

	for (way = 0; way < WAYS; way++)
		check_each_kind(test, way);
}

static void flows_and_their_like_are_destroyed(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 wq = queues_wq(c), table = queues_ind_tbl(c, wq);

	remove_device(c);
	KUNIT_EXPECT_EQ(test, queues_destroy_wq(c, wq), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, table), 0);
	KUNIT_EXPECT_EQ(test, queues_destroy_ind_tbl(c, table), -ENOENT);
}

/* A process can destroy its own objects, not those of others; nothing else is allowed. */
static void nothing_but_destroys(struct kunit *test)
{
	struct commands *c = test->priv;
	struct ib_uverbs_file *own = c->file;
	struct ib_uverbs_dealloc_mw wrong = { .mw_handle = queues.pd };
	struct ib_uverbs_poll_cq poll = { .cq_handle = queues.cq, .ne = 1 };
	struct ib_uverbs_poll_cq_resp resp;

	c->file = commands_open(c);
	remove_device(c);
	KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[KIND_PD], queues.pd, true),
			-ENOENT);
	commands_close(c);
	c->file = own;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(DEALLOC_MW), &wrong, sizeof(wrong),
					     NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(POLL_CQ), &poll, sizeof(poll), &resp,
					     sizeof(resp)), -EIO);
	c->invoke = true;
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(POLL_CQ), &poll, sizeof(poll), &resp,
					     sizeof(resp)), -EIO);
	c->invoke = false;
	commands_begin(c, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	commands_obj(c, UVERBS_ATTR_QUERY_MR_HANDLE, queues.pd);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EIO);
	KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[KIND_PD], queues.pd, false), 0);
	KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[KIND_CQ], queues.cq, false), 0);
}

/* The library waits until it has acknowledged as many events as destroy reports. */
static void a_destroy_tells_how_many_events_were_read(struct kunit *test)
{
	struct commands *c = test->priv;
	int channel = events_channel(c), async = events_async(c);
	struct events_cq a = events_cq(c, channel, 'a', 0), b = events_cq(c, channel, 'b', 0);
	u32 qp = queues_qp(c, IB_QPT_RC);
	struct ib_uverbs_destroy_qp qp_cmd = { .qp_handle = qp };
	struct ib_uverbs_destroy_qp_resp qp_resp = {};
	struct ib_uverbs_destroy_cq_resp resp;
	u64 name;

	events_complete(a.cq);
	events_complete(a.cq);
	fake_hca_cq_event(b.cq, IB_EVENT_CQ_ERR);
	fake_hca_qp_event(commands_object(c, UVERBS_OBJECT_QP, qp), IB_EVENT_COMM_EST);
	fake_hca_qp_event(commands_object(c, UVERBS_OBJECT_QP, qp), IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, events_read(c, channel, &name, sizeof(name)),
			(ssize_t)sizeof(name));
	KUNIT_EXPECT_EQ(test, (int)events_next(c, async).event_type, IB_EVENT_CQ_ERR);
	KUNIT_EXPECT_EQ(test, (int)events_next(c, async).event_type, IB_EVENT_COMM_EST);
	remove_device(c);
	KUNIT_EXPECT_EQ(test, events_destroy(c, a.handle, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 1u);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 0u);
	commands_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	commands_obj(c, UVERBS_ATTR_DESTROY_CQ_HANDLE, b.handle);
	commands_out(c, UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(resp));
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	commands_got_data(c, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	KUNIT_EXPECT_EQ(test, resp.comp_events_reported, 0u);
	KUNIT_EXPECT_EQ(test, resp.async_events_reported, 1u);
	KUNIT_EXPECT_EQ(test, commands_write(c, CMD(DESTROY_QP), &qp_cmd, sizeof(qp_cmd),
					     &qp_resp, sizeof(qp_resp)), 0);
	KUNIT_EXPECT_EQ(test, qp_resp.events_reported, 1u);
	fixture_close_fd(channel);
	fixture_close_fd(async);
}

/* Handles that are not destroyed are freed with the file; kmemleak checks this. */
static void what_is_not_destroyed_goes_with_the_file(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;

	KUNIT_ASSERT_EQ(test, race_kinds[KIND_QP].make(c, queues.pd, queues.cq, &handle), 0);
	remove_device(c);
	KUNIT_EXPECT_FALSE(test, xa_empty(&c->file->handles));
	commands_close(c);
}

/* The handle remains, and can be destroyed, even if the driver kept its object. */
static void what_the_driver_keeps_is_destroyed_too(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;

	KUNIT_ASSERT_EQ(test, race_kinds[KIND_MR].make(c, queues.pd, queues.cq, &handle), 0);
	atomic_set(&c->hca->fail_destroy[FAKE_MR], 1);
	remove_device(c);
	KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[KIND_MR], handle, true), 0);
}

/* ---- while the device is being removed ---- */

static bool is_gone(void *arg)
{
	return READ_ONCE(((struct commands *)arg)->udev->gone);
}

/* Removal waits for a running call: until then a destroy still calls the driver. */
static void a_destroy_before_teardown_calls_the_driver(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;

	KUNIT_ASSERT_EQ(test, race_kinds[KIND_MR].make(c, queues.pd, queues.cq, &handle), 0);
	racers[0].kind = &race_kinds[KIND_QP];
	gate_close(c, FAKE_QP, true);
	racer_go(c, &racers[0], race_make_in_thread);
	gate_wait(test);
	racer_go(c, &racers[1], race_remove_in_thread);
	KUNIT_ASSERT_TRUE(test, user_wait(is_gone, c));
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_MR]), 1);
	KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[KIND_MR], handle, true), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&c->hca->alive[FAKE_MR]), 0);
	/* The call that creates the QP still delays the removal. */
	racer_expect_stuck(test, &racers[1]);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[1]), 0);
	KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[KIND_QP], racers[0].handle, true),
			0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

/* A destroy waits until the driver has destroyed another object of the file. */
static void a_destroy_during_teardown_waits_for_it(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 qp;

	KUNIT_ASSERT_EQ(test, race_kinds[KIND_MR].make(c, queues.pd, queues.cq,
						       &racers[0].handle), 0);
	KUNIT_ASSERT_EQ(test, race_kinds[KIND_QP].make(c, queues.pd, queues.cq, &qp), 0);
	gate_close(c, FAKE_QP, false);
	racer_go(c, &racers[1], race_remove_in_thread);
	gate_wait(test);
	racers[0].kind = &race_kinds[KIND_MR];
	racer_go(c, &racers[0], race_destroy_in_thread);
	racer_expect_stuck(test, &racers[0]);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[1]), 0);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(c->hca), 0);
}

/* ---- objects of a driver ---- */

/* The driver's definitions in its module, which is unloaded after its device. */
struct left_module {
	struct uverbs_attr_def make_attr, end_attr;
	const struct uverbs_attr_def *make_attrs[1], *end_attrs[1];
	struct uverbs_method_def make, end;
	const struct uverbs_method_def *methods[2];
	struct uverbs_obj_idr_type type;
	struct uverbs_object_def object;
	struct uapi_definition defs[2];
};

static int left_make(struct uverbs_attr_bundle *attrs)
{
	uverbs_attr_get_uobject(attrs, CREATE_HANDLE)->object = attrs;
	uverbs_finalize_uobj_create(attrs, CREATE_HANDLE);
	return 0;
}

static int left_end(struct ib_uobject *uobj, enum rdma_remove_reason why,
		    struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static int own_destroy(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static void set_attr(struct uverbs_attr_def *def, u16 id, u8 access)
{
	*def = (struct uverbs_attr_def){
		.id = id,
		.attr.type = UVERBS_ATTR_TYPE_IDR,
		.attr.mandatory = 1,
		.attr.u.obj.obj_type = THING_OBJECT,
		.attr.u.obj.access = access,
	};
}

static void set_method(struct uverbs_method_def *def, u16 id,
		       int (*handler)(struct uverbs_attr_bundle *attrs),
		       const struct uverbs_attr_def *(*attrs)[1])
{
	*def = (struct uverbs_method_def){
		.id = id,
		.handler = handler,
		.num_attrs = 1,
		.attrs = (const struct uverbs_attr_def *const (*)[])attrs,
	};
}

static struct left_module *load(struct kunit *test,
				int (*destroy)(struct uverbs_attr_bundle *attrs))
{
	const struct uverbs_obj_idr_type type = {
		.type = { .type_class = &uverbs_idr_class,
			  .obj_size = sizeof(struct ib_uobject) },
		.destroy_object = left_end,
	};
	struct left_module *m = kzalloc(sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	set_attr(&m->make_attr, CREATE_HANDLE, UVERBS_ACCESS_NEW);
	set_attr(&m->end_attr, DESTROY_HANDLE, UVERBS_ACCESS_DESTROY);
	m->make_attrs[0] = &m->make_attr;
	m->end_attrs[0] = &m->end_attr;
	set_method(&m->make, THING_CREATE, left_make, &m->make_attrs);
	set_method(&m->end, THING_DESTROY, destroy, &m->end_attrs);
	m->methods[0] = &m->make;
	m->methods[1] = &m->end;
	memcpy(&m->type, &type, sizeof(type));
	m->object = (struct uverbs_object_def){
		.id = THING_OBJECT,
		.type_attrs = &m->type.type,
		.num_methods = 2,
		.methods = (const struct uverbs_method_def *const (*)[])&m->methods,
	};
	m->defs[0] = (struct uapi_definition){
		.kind = UAPI_DEF_CHAIN_OBJ_TREE,
		.object_start.object_id = THING_OBJECT,
		.chain_obj_tree = &m->object,
	};
	return m;
}

/* A process with a device of such a driver, and an object of the driver. */
static struct commands *process_of(struct kunit *test, const struct left_module *m,
				   u32 *handle)
{
	static const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
		.user = true,
	};
	struct commands *c;

	commands_exit(test);
	KUNIT_ASSERT_EQ(test, commands_init_driver(test, &params, m->defs), 0);
	c = test->priv;
	commands_begin(c, THING_OBJECT, THING_CREATE);
	commands_new(c, CREATE_HANDLE);
	KUNIT_ASSERT_EQ(test, commands_ioctl(c), 0);
	*handle = commands_got_handle(c, CREATE_HANDLE);
	return c;
}

static void a_driver_s_own_objects_outlive_its_module(struct kunit *test)
{
	struct left_module *m = load(test, uverbs_destroy_def_handler);
	struct commands *c;
	u32 handle;

	c = process_of(test, m, &handle);
	remove_device(c);
	memset(m, POISON_FREE, sizeof(*m));
	kfree(m);
	commands_begin(c, THING_OBJECT, THING_CREATE);
	commands_new(c, CREATE_HANDLE);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EIO);
	commands_begin(c, THING_OBJECT, THING_DESTROY);
	commands_obj(c, DESTROY_HANDLE, handle);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), 0);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -ENOENT);
}

/* The driver's own destroy handler is not called, so the destroy fails. */
static void a_driver_s_own_handler_is_not_called(struct kunit *test)
{
	struct left_module *m = load(test, own_destroy);
	struct commands *c;
	u32 handle;

	c = process_of(test, m, &handle);
	remove_device(c);
	kfree(m);
	commands_begin(c, THING_OBJECT, THING_DESTROY);
	commands_obj(c, DESTROY_HANDLE, handle);
	KUNIT_EXPECT_EQ(test, commands_ioctl(c), -EIO);
}

static struct kunit_case left_cases[] = {
	KUNIT_CASE(handles_of_a_removed_device_are_destroyed),
	KUNIT_CASE(flows_and_their_like_are_destroyed),
	KUNIT_CASE(nothing_but_destroys),
	KUNIT_CASE(a_destroy_tells_how_many_events_were_read),
	KUNIT_CASE(what_is_not_destroyed_goes_with_the_file),
	KUNIT_CASE(what_the_driver_keeps_is_destroyed_too),
	KUNIT_CASE(a_destroy_before_teardown_calls_the_driver),
	KUNIT_CASE(a_destroy_during_teardown_waits_for_it),
	KUNIT_CASE(a_driver_s_own_objects_outlive_its_module),
	KUNIT_CASE(a_driver_s_own_handler_is_not_called),
	{}
};

static struct kunit_suite uverbs_left_suite = {
	.name = "uverbs_left",
	.init = race_init,
	.exit = race_exit,
	.test_cases = left_cases,
};

kunit_test_suite(uverbs_left_suite);
