// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Methods called by ioctl: checks, creation and its undoing. */
#include <linux/file.h>
#include <kunit/test-bug.h>
#include "faults.h"
#include "methods.h"
#include "user/fixture.h"
#include "user/uverbs_test.h"

#define MAX_ATTRS 8

/* A call: the user's array is at @at, the data of its attributes behind it. */
struct request {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[MAX_ATTRS];
	unsigned long at;
};

static struct request rq;

static unsigned long user_data(unsigned int i)
{
	return rq.at + 1024 + i * 256;
}

static void begin(u16 object, u16 method)
{
	struct fixture *t = kunit_get_current_test()->priv;
	unsigned long at = rq.at;

	memset(&rq, 0, sizeof(rq));
	rq.at = at;
	rq.hdr.object_id = object;
	rq.hdr.method_id = method;
	rq.hdr.driver_id = t->hca->ibdev.ops.driver_id;
	rq.hdr.length = sizeof(rq.hdr);
}

static struct ib_uverbs_attr *add(u16 id, u16 len, u64 data)
{
	struct ib_uverbs_attr *attr = &rq.attrs[rq.hdr.num_attrs++];

	attr->attr_id = id;
	attr->len = len;
	attr->data = data;
	rq.hdr.length += sizeof(*attr);
	return attr;
}

static int call(struct fixture *t)
{
	int idx, ret;

	if (copy_to_user((void __user *)rq.at, rq.attrs, sizeof(rq.attrs)))
		return -EFAULT;
	idx = uverbs_section_begin(t->file);
	if (idx < 0)
		return idx;
	ret = uverbs_call_ioctl(t->file, &rq.hdr, (void __user *)rq.at);
	uverbs_section_end(t->file, idx);
	/* The attributes as the user sees them afterwards. */
	if (copy_from_user(rq.attrs, (void __user *)rq.at, sizeof(rq.attrs)))
		return -EFAULT;
	return ret;
}

static int create(struct fixture *t)
{
	int ret;

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	ret = call(t);
	return ret ?: (int)rq.attrs[0].data;
}

static int destroy(struct fixture *t, u64 id)
{
	begin(THING_OBJECT, THING_DESTROY);
	add(DESTROY_HANDLE, 0, id);
	return call(t);
}

static int nr_objects(struct fixture *t)
{
	return list_count_nodes(&t->file->objects);
}

static int ioctl_init(struct kunit *test)
{
	int ret;

	memset(&methods_seen, 0, sizeof(methods_seen));
	ret = fixture_init(test);
	if (ret)
		return ret;
	rq.at = user_pages(test, 2, TEST_RW);
	return 0;
}

static void an_object_is_made_used_and_destroyed(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct thing_struct out = { .b = 1, .c = 1 };
	int id;

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 99);
	add(CREATE_VALUE, 8, 0x1122334455667788);
	add(CREATE_OUT, 4, user_data(0));
	KUNIT_ASSERT_EQ(test, call(t), 0);
	id = rq.attrs[0].data;
	KUNIT_EXPECT_NE(test, id, 99);
	KUNIT_EXPECT_EQ(test, methods_seen.value, 0x1122334455667788ull);
	KUNIT_EXPECT_EQ(test, rq.attrs[2].flags, UVERBS_ATTR_F_VALID_OUTPUT);
	KUNIT_EXPECT_EQ(test, user_read(test, user_data(0)), 0xcd);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 1);

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user_data(1), &out,
					   sizeof(out)), 0ul);
	begin(THING_OBJECT, THING_QUERY);
	add(QUERY_HANDLE, 0, id);
	add(QUERY_RAW_FD, 0, 0)->data_s64 = 5;
	add(QUERY_OUT, sizeof(out), user_data(1));
	KUNIT_ASSERT_EQ(test, call(t), 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(&out, (void __user *)user_data(1),
					     sizeof(out)), 0ul);
	KUNIT_EXPECT_EQ(test, methods_seen.raw_fd, 5);
	KUNIT_EXPECT_EQ(test, out.a, 7);
	KUNIT_EXPECT_EQ(test, out.b, 0);
	KUNIT_EXPECT_EQ(test, out.c, 0);

	KUNIT_EXPECT_EQ(test, destroy(t, id), 0);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 0);
	KUNIT_EXPECT_EQ(test, destroy(t, id), -ENOENT);
	KUNIT_EXPECT_EQ(test, destroy(t, BIT_ULL(32) + id), -EINVAL);
}

static void what_is_no_proper_call(struct kunit *test)
{
	struct fixture *t = test->priv;

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	rq.hdr.length++;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
	rq.hdr.length--;
	rq.hdr.reserved1 = 1;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.hdr.reserved1 = 0;
	rq.hdr.reserved2 = 1;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.hdr.reserved2 = 0;
	rq.hdr.driver_id++;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
	rq.hdr.driver_id--;
	rq.hdr.method_id = THING_OPEN + 1;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.hdr.method_id = 0xffff;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.hdr.method_id = THING_CREATE;
	rq.hdr.object_id = THING_LACKED_OBJECT;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.hdr.object_id = 0xfff;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.hdr.object_id = THING_OBJECT;
	KUNIT_EXPECT_EQ(test, methods_seen.calls, 0u);
	KUNIT_EXPECT_EQ(test, call(t), 0);

	begin(THING_OBJECT, THING_CREATE);
	rq.hdr.num_attrs = 1;
	rq.hdr.length += sizeof(struct ib_uverbs_attr);
	KUNIT_EXPECT_EQ(test, uverbs_call_ioctl(t->file, &rq.hdr, NULL), -EFAULT);
}

static void attributes_missing_twice_or_unknown(struct kunit *test)
{
	struct fixture *t = test->priv;

	begin(THING_OBJECT, THING_CREATE);
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	add(CREATE_HANDLE, 0, 0);
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	add(NS | 30, 8, 0)->flags = UVERBS_ATTR_F_MANDATORY;
	KUNIT_EXPECT_EQ(test, call(t), -EPROTONOSUPPORT);
	rq.attrs[1].flags = 0;
	KUNIT_EXPECT_EQ(test, nr_objects(t), 0);
	KUNIT_EXPECT_EQ(test, call(t), 0);
	rq.attrs[1].attr_id = 0xffff;
	KUNIT_EXPECT_EQ(test, call(t), 0);
	rq.attrs[0].attr_data.reserved = 1;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
	rq.attrs[0].attr_data.reserved = 0;
	rq.attrs[0].len = 4;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
}

/* Creates an object, with one more attribute. */
static int create_with(struct fixture *t, u16 id, u16 len, u64 data)
{
	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	add(id, len, data);
	return call(t);
}

static void values_of_every_length(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct thing_struct st[2] = { { 1, 2, 3 } };
	unsigned long at = user_data(0);

	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_VALUE, 4, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_VALUE, 9, at), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_OUT, 3, at), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_OUT, 5, at), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_OUT, 4, 0), -EFAULT);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_COPY, 0, at), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_COPY, 24, 0), -EFAULT);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 0);

	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, st, sizeof(st)), 0ul);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_COPY, 24, at), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.copy_len, 24);
	KUNIT_EXPECT_EQ(test, memcmp(methods_seen.copy, st, 24), 0);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_COPY, 2, 0x4142), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.copy[1], 0x41);

	/* The struct of an older program, of this kernel, and of a newer program. */
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_STRUCT, 15, at), -EINVAL);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_STRUCT, 16, at), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.st.b, 2);
	KUNIT_EXPECT_EQ(test, methods_seen.st.c, 0);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_STRUCT, 24, at), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.st.c, 3);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_STRUCT, 40, at), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.st.c, 3);
	user_write(test, at + 39, 1);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_STRUCT, 40, at), -EOPNOTSUPP);
}

/*
 * Inline by this kernel's length, but a newer program passes a pointer to a longer value.
 */
static void a_short_value_of_a_newer_program(struct kunit *test)
{
	struct fixture *t = test->priv;
	u32 longer[4] = { 0x1234 };
	unsigned long at = user_data(0);

	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_SHORT, 4, 0x4321), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.sh.a, 0x4321u);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_SHORT, 8, 0x5678), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.sh.a, 0x5678u);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_SHORT, 8, BIT_ULL(32)),
			-EOPNOTSUPP);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, longer,
					   sizeof(longer)), 0ul);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_SHORT, 16, at), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.sh.a, 0x1234u);
	KUNIT_EXPECT_EQ(test, create_with(t, CREATE_SHORT, 16, 0), -EFAULT);
}

static void values_of_an_enum(struct kunit *test)
{
	struct fixture *t = test->priv;

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	add(CREATE_KIND, 4, 0);
	KUNIT_EXPECT_EQ(test, call(t), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.kind, 0);
	rq.attrs[1].attr_data.enum_data.elem_id = 2;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
	rq.attrs[1].len = 0;
	KUNIT_EXPECT_EQ(test, call(t), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.kind, 2);
	rq.attrs[1].attr_data.enum_data.elem_id = 1;
	KUNIT_EXPECT_EQ(test, call(t), -EOPNOTSUPP);
	rq.attrs[1].attr_data.enum_data.elem_id = 3;
	KUNIT_EXPECT_EQ(test, call(t), -EOPNOTSUPP);
	rq.attrs[1].attr_data.enum_data.elem_id = 0;
	rq.attrs[1].attr_data.enum_data.reserved = 1;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
}

static void a_handler_that_fails(struct kunit *test)
{
	struct fixture *t = test->priv;

	methods_seen.ret = -EPERM;
	KUNIT_EXPECT_EQ(test, create(t), -EPERM);
	/* The object was not complete, so the driver need not destroy it. */
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);
	methods_seen.finalize = true;
	KUNIT_EXPECT_EQ(test, create(t), -EPERM);
	KUNIT_EXPECT_STREQ(test, t->why, "3");
	KUNIT_EXPECT_EQ(test, nr_objects(t), 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file->handles));
}

static void udata_of_a_driver(struct kunit *test)
{
	struct fixture *t = test->priv;

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	add(UVERBS_ATTR_UHW_IN, 8, 5);
	add(UVERBS_ATTR_UHW_OUT, 100, user_data(0));
	KUNIT_EXPECT_EQ(test, call(t), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.inlen, 8u);
	KUNIT_EXPECT_EQ(test, methods_seen.outlen, 100u);
	KUNIT_EXPECT_EQ(test, rq.attrs[2].flags, UVERBS_ATTR_F_VALID_OUTPUT);
	/* The flag is not set if nothing was written. */
	rq.attrs[2].flags = 0;
	methods_seen.ret = -EPERM;
	KUNIT_EXPECT_EQ(test, call(t), -EPERM);
	KUNIT_EXPECT_EQ(test, rq.attrs[2].flags, 0);
}

static int query_many(struct fixture *t, const u32 *ids, unsigned int n)
{
	u64 data = user_data(0);

	if (n <= 2)
		memcpy(&data, ids, n * sizeof(u32));
	else if (copy_to_user((void __user *)user_data(0), ids, n * sizeof(u32)))
		return -EFAULT;
	begin(THING_OBJECT, THING_QUERY);
	add(QUERY_OUT, 8, user_data(1));
	add(QUERY_MANY, n * sizeof(u32), data);
	return call(t);
}

static void arrays_of_objects(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uobject *uobj;
	u32 ids[5];
	int i;

	for (i = 0; i < 5; i++)
		ids[i] = create(t);
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 1), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.nr_many, 1);
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 4), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.nr_many, 4);
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 5), -EINVAL);
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 0), -EINVAL);

	/* The lookup gets all or none: here one does not exist, or is named twice. */
	i = ids[3];
	ids[3] = 1000;
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 4), -ENOENT);
	ids[3] = ids[0];
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 4), -EBUSY);
	ids[3] = i;
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 4), 0);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, NULL, ids[0], UVERBS_LOOKUP_WRITE,
					     &uobj), 0);
	KUNIT_EXPECT_EQ(test, query_many(t, ids, 4), -EBUSY);
	KUNIT_EXPECT_EQ(test, destroy(t, ids[0]), -EBUSY);
	rdma_lookup_put_uobject(uobj, UVERBS_LOOKUP_WRITE);
	KUNIT_EXPECT_EQ(test, destroy(t, ids[0]), 0);
}

static void descriptors_by_ioctl(struct kunit *test)
{
	struct fixture *t = test->priv;
	int fd;

	begin(THING_FD_OBJECT, THING_OPEN);
	add(OPEN_FD, 0, 0);
	methods_seen.ret = -EPERM;
	KUNIT_EXPECT_EQ(test, call(t), -EPERM);
	flush_delayed_fput();
	methods_seen.ret = 0;
	KUNIT_ASSERT_EQ(test, call(t), 0);
	fd = rq.attrs[0].data_s64;

	begin(THING_OBJECT, THING_QUERY);
	add(QUERY_FD, 0, 0)->data_s64 = fd;
	add(QUERY_OUT, 8, user_data(1));
	KUNIT_EXPECT_EQ(test, call(t), 0);
	rq.attrs[0].data_s64 = -1;
	KUNIT_EXPECT_EQ(test, call(t), -EBADF);
	rq.attrs[0].data_s64 = BIT_ULL(32) + fd;
	KUNIT_EXPECT_EQ(test, call(t), -EINVAL);
	fixture_close_fd(fd);
	rq.attrs[0].data_s64 = fd;
	KUNIT_EXPECT_EQ(test, call(t), -EBADF);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
}

static void commands_of_write(struct kunit *test)
{
	struct fixture *t = test->priv;
	const struct uverbs_api *api = t->udev->uapi;

	KUNIT_ASSERT_NOT_NULL(test, uverbs_api_write(api, WRITE_PLAIN, false));
	KUNIT_EXPECT_EQ(test, uverbs_api_write(api, WRITE_PLAIN, false)->req_size, 4);
	KUNIT_ASSERT_NOT_NULL(test, uverbs_api_write(api, WRITE_PLAIN, true));
	KUNIT_EXPECT_EQ(test, uverbs_api_write(api, WRITE_PLAIN, true)->req_size, 8);
	/* The driver lacks the verb, or the object; or the command does not exist. */
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, WRITE_LACKED, false));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, WRITE_LACKED_OBJECT, false));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, WRITE_NONE, false));
	KUNIT_EXPECT_NULL(test, uverbs_api_write(api, 64, false));
	KUNIT_EXPECT_NULL(test, uapi_get_object(api, THING_LACKED_OBJECT));
	KUNIT_EXPECT_NULL(test, uapi_get_object(api, 0xffff));
}

static int create_and_destroy(struct kunit *test)
{
	struct fixture *t = test->priv;
	int ret;

	begin(THING_OBJECT, THING_CREATE);
	add(CREATE_HANDLE, 0, 0);
	add(CREATE_COPY, 1024, user_data(0));
	ret = call(t);
	return ret ?: destroy(t, rq.attrs[0].data);
}

static void calls_survive_each_failed_allocation(struct kunit *test)
{
	struct fixture *t = test->priv;
	int i;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, create_and_destroy), 3);
	/* Objects whose destroy failed still exist, and can be destroyed again. */
	for (i = 0; i < 64; i++)
		destroy(t, i);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 0);
}

static struct kunit_case ioctl_cases[] = {
	KUNIT_CASE(an_object_is_made_used_and_destroyed),
	KUNIT_CASE(what_is_no_proper_call),
	KUNIT_CASE(attributes_missing_twice_or_unknown),
	KUNIT_CASE(values_of_every_length),
	KUNIT_CASE(a_short_value_of_a_newer_program),
	KUNIT_CASE(values_of_an_enum),
	KUNIT_CASE(a_handler_that_fails),
	KUNIT_CASE(udata_of_a_driver),
	KUNIT_CASE(arrays_of_objects),
	KUNIT_CASE(descriptors_by_ioctl),
	KUNIT_CASE(commands_of_write),
	KUNIT_CASE(calls_survive_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_ioctl_suite = {
	.name = "uverbs_ioctl",
	.init = ioctl_init,
	.exit = fixture_exit,
	.test_cases = ioctl_cases,
};

kunit_test_suite(uverbs_ioctl_suite);
