// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Commands: their two forms of write(), and INVOKE_WRITE. */
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include "faults.h"
#include "methods.h"
#include "user/fixture.h"
#include "user/uverbs_test.h"

#define EX IB_USER_VERBS_CMD_FLAG_EXTENDED

/* A write(): the user's buffer is at @at, with room for the response behind it. */
static unsigned long at;
static struct {
	struct ib_uverbs_cmd_hdr hdr;
	union {
		struct {
			struct write_req req;
			u32 more[8];
		};
		struct {
			struct ib_uverbs_ex_cmd_hdr ex;
			struct write_req ex_req;
			u64 ex_more[8];
		};
	};
} rq;

static unsigned long response(void)
{
	return at + 1024;
}

/* A plain command with @in bytes after the header and room for @out. */
static void plain(u32 command, size_t in, size_t out)
{
	memset(&rq, 0, sizeof(rq));
	rq.hdr.command = command;
	rq.hdr.in_words = (sizeof(rq.hdr) + in) / 4;
	rq.hdr.out_words = out / 4;
	rq.req.response = response();
}

/* An extended command; @in, @out: sizes of the core's part, then of the driver's. */
static void extended(u32 command, size_t in, size_t out, size_t in_driver,
		     size_t out_driver)
{
	memset(&rq, 0, sizeof(rq));
	rq.hdr.command = command | EX;
	rq.hdr.in_words = in / 8;
	rq.hdr.out_words = out / 8;
	rq.ex.response = out + out_driver ? response() : 0;
	rq.ex.provider_in_words = in_driver / 8;
	rq.ex.provider_out_words = out_driver / 8;
}

static size_t length(void)
{
	if (rq.hdr.command & EX)
		return sizeof(rq.hdr) + sizeof(rq.ex) +
		       (rq.hdr.in_words + rq.ex.provider_in_words) * 8;
	return rq.hdr.in_words * 4;
}

static int send(struct fixture *t, size_t count)
{
	u8 fill[64];
	int idx, ret;

	memset(fill, 0xee, sizeof(fill));
	if (copy_to_user((void __user *)at, &rq, sizeof(rq)) ||
	    copy_to_user((void __user *)response(), fill, sizeof(fill)))
		return -EFAULT;
	idx = uverbs_section_begin(t->file);
	if (idx < 0)
		return idx;
	ret = uverbs_call_write(t->file, (const char __user *)at, count);
	uverbs_section_end(t->file, idx);
	return ret;
}

static u32 answer(struct kunit *test, unsigned int word)
{
	u32 value = 0;

	KUNIT_ASSERT_EQ(test, copy_from_user(&value, (void __user *)response() + word * 4,
					     sizeof(value)), 0ul);
	return value;
}

static int nr_objects(struct fixture *t)
{
	return list_count_nodes(&t->file->objects);
}

static int write_init(struct kunit *test)
{
	int ret;

	memset(&methods_seen, 0, sizeof(methods_seen));
	ret = fixture_init(test);
	if (ret)
		return ret;
	at = user_pages(test, 2, TEST_RW);
	return 0;
}

static void a_command_is_split_where_its_parts_end(struct kunit *test)
{
	struct fixture *t = test->priv;

	plain(WRITE_ANSWER, sizeof(rq.req) + 8, sizeof(rq.req) + 12);
	rq.req.n = 77;
	KUNIT_ASSERT_EQ(test, send(t, length()), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.core.inlen, sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, methods_seen.core.outlen, sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, methods_seen.inlen, 8u);
	KUNIT_EXPECT_EQ(test, methods_seen.outlen, 12u);
	KUNIT_EXPECT_EQ(test, answer(test, 3), 77u);
	KUNIT_EXPECT_EQ(test, answer(test, 4), 0xeeeeeeeeu);

	/* Without a core response no word of the request is an address. */
	plain(WRITE_DRIVER, sizeof(rq.req) + 4, 64);
	KUNIT_ASSERT_EQ(test, send(t, length()), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.inlen, 4u);
	KUNIT_EXPECT_EQ(test, methods_seen.outlen, 0u);
	KUNIT_EXPECT_EQ(test, answer(test, 0), 0xeeeeeeeeu);
}

static void an_extended_command_says_where_its_parts_end(struct kunit *test)
{
	struct fixture *t = test->priv;

	extended(WRITE_ANSWER, sizeof(rq.ex_req), 24, 16, 8);
	rq.ex_req.n = 78;
	KUNIT_ASSERT_EQ(test, send(t, length()), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.core.inlen, sizeof(rq.ex_req));
	KUNIT_EXPECT_EQ(test, methods_seen.inlen, 16u);
	KUNIT_EXPECT_EQ(test, methods_seen.outlen, 8u);
	KUNIT_EXPECT_EQ(test, answer(test, 3), 78u);
	/* The rest of the core's response is 0; the driver's part is not written. */
	KUNIT_EXPECT_EQ(test, answer(test, 4), 0u);
	KUNIT_EXPECT_EQ(test, answer(test, 5), 0u);
	KUNIT_EXPECT_EQ(test, answer(test, 6), 0xeeeeeeeeu);
}

static void an_extended_request_may_be_longer_if_that_is_zero(struct kunit *test)
{
	struct fixture *t = test->priv;

	extended(WRITE_ANSWER, sizeof(rq.ex_req) + 16, 16, 0, 0);
	KUNIT_EXPECT_EQ(test, send(t, length()), 0);
	rq.ex_more[1] = 1;
	KUNIT_EXPECT_EQ(test, send(t, length()), -EOPNOTSUPP);
}

static void what_is_no_proper_command(struct kunit *test)
{
	struct fixture *t = test->priv;

	plain(WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, send(t, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, send(t, sizeof(rq.hdr) - 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, send(t, length() - 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, send(t, length() + 1), -EINVAL);
	plain(WRITE_ANSWER, sizeof(rq.req) - 4, sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENOSPC);
	plain(WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req) - 4);
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENOSPC);
	plain(WRITE_ANSWER | 0x100, sizeof(rq.req), sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, send(t, length()), -EINVAL);
	plain(WRITE_NONE, sizeof(rq.req), sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, send(t, length()), -EOPNOTSUPP);
	plain(WRITE_LACKED, sizeof(rq.req), sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, send(t, length()), -EOPNOTSUPP);
	plain(0xff, sizeof(rq.req), sizeof(rq.req));
	KUNIT_EXPECT_EQ(test, send(t, length()), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, methods_seen.calls, 0u);
}

static void what_is_no_proper_extended_command(struct kunit *test)
{
	struct fixture *t = test->priv;
	size_t len;

	extended(WRITE_ANSWER, 16, 16, 0, 0);
	len = length();
	KUNIT_EXPECT_EQ(test, send(t, sizeof(rq.hdr) + 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, send(t, len - 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, send(t, len + 8), -EINVAL);
	rq.ex.cmd_hdr_reserved = 1;
	KUNIT_EXPECT_EQ(test, send(t, len), -EINVAL);
	rq.ex.cmd_hdr_reserved = 0;
	rq.ex.response = 0;
	KUNIT_EXPECT_EQ(test, send(t, len), -EINVAL);
	rq.ex.response = -8;
	KUNIT_EXPECT_EQ(test, send(t, len), -EFAULT);
	extended(WRITE_ANSWER, 16, 0, 0, 0);
	rq.ex.response = response();
	KUNIT_EXPECT_EQ(test, send(t, length()), -EINVAL);
	extended(WRITE_ANSWER, 8, 16, 0, 0);
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENOSPC);
	extended(WRITE_ANSWER, 16, 8, 0, 0);
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENOSPC);
	KUNIT_EXPECT_EQ(test, methods_seen.calls, 0u);
}

static void memory_that_is_not_there(struct kunit *test)
{
	struct fixture *t = test->priv;
	int idx = uverbs_section_begin(t->file);

	KUNIT_ASSERT_GE(test, idx, 0);
	KUNIT_EXPECT_EQ(test, uverbs_call_write(t->file, NULL, 64), -EFAULT);
	uverbs_section_end(t->file, idx);
	plain(WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req));
	rq.req.make = 1;
	rq.req.response = 8;
	KUNIT_EXPECT_EQ(test, send(t, length()), -EFAULT);
	/* The user would not learn of the object, so it is destroyed. */
	KUNIT_EXPECT_EQ(test, nr_objects(t), 0);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
}

static void an_object_stays_if_its_command_succeeds(struct kunit *test)
{
	struct fixture *t = test->priv;

	plain(WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req));
	rq.req.make = 1;
	KUNIT_EXPECT_EQ(test, send(t, length()), 0);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 1);
	methods_seen.ret = -ENODATA;
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENODATA);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 1);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
}

static void what_follows_a_request_is_read_in_bounds(struct kunit *test)
{
	struct fixture *t = test->priv;

	plain(WRITE_SUM, sizeof(rq.req) + 12, 0);
	rq.req.n = 3;
	rq.more[0] = 1;
	rq.more[1] = 20;
	rq.more[2] = 300;
	KUNIT_EXPECT_EQ(test, send(t, length()), 0);
	KUNIT_EXPECT_EQ(test, methods_seen.value, 321u);
	rq.req.n = 4;
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENOSPC);
	rq.req.n = U32_MAX;
	KUNIT_EXPECT_EQ(test, send(t, length()), -ENOSPC);
	rq.req.n = 2;
	KUNIT_EXPECT_EQ(test, send(t, length()), -EOPNOTSUPP);
	rq.more[2] = 0;
	KUNIT_EXPECT_EQ(test, send(t, length()), 0);
}

/* ---- by ioctl ---- */

static struct ib_uverbs_attr attrs[8];

static int invoke(struct fixture *t, u64 command, size_t in, size_t out, size_t uhw)
{
	struct ib_uverbs_ioctl_hdr hdr = {
		.object_id = UVERBS_OBJECT_DEVICE,
		.method_id = UVERBS_METHOD_INVOKE_WRITE,
		.num_attrs = 4,
	};
	int idx, ret;

	memset(attrs, 0, sizeof(attrs));
	attrs[0].attr_id = UVERBS_ATTR_WRITE_CMD;
	attrs[0].len = sizeof(u64);
	attrs[0].data = command;
	attrs[1].attr_id = UVERBS_ATTR_CORE_IN;
	attrs[1].len = in;
	attrs[1].data = in > 8 ? at + 512 : 5;
	attrs[2].attr_id = UVERBS_ATTR_CORE_OUT;
	attrs[2].len = out;
	attrs[2].data = response();
	attrs[3].attr_id = UVERBS_ATTR_UHW_IN;
	attrs[3].len = uhw;
	attrs[3].data = at + 768;
	hdr.length = struct_size(&hdr, attrs, hdr.num_attrs);
	if (copy_to_user((void __user *)at, attrs, sizeof(attrs)) ||
	    copy_to_user((void __user *)at + 512, &rq.req, sizeof(rq.req) + 32))
		return -EFAULT;
	idx = uverbs_section_begin(t->file);
	if (idx < 0)
		return idx;
	ret = uverbs_call_ioctl(t->file, &hdr, (void __user *)at);
	uverbs_section_end(t->file, idx);
	return copy_from_user(attrs, (void __user *)at, sizeof(attrs)) ? -EFAULT : ret;
}

static void an_ioctl_brings_a_command(struct kunit *test)
{
	struct fixture *t = test->priv;

	memset(&rq, 0, sizeof(rq));
	rq.req.n = 79;
	rq.req.make = 1;
	KUNIT_ASSERT_EQ(test, invoke(t, WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req), 32),
			0);
	KUNIT_EXPECT_EQ(test, answer(test, 3), 79u);
	KUNIT_EXPECT_EQ(test, methods_seen.inlen, 32u);
	KUNIT_EXPECT_EQ(test, methods_seen.outlen, 0u);
	KUNIT_EXPECT_EQ(test, attrs[2].flags, UVERBS_ATTR_F_VALID_OUTPUT);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 1);
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_ANSWER | EX, sizeof(rq.req),
				     sizeof(rq.req), 32), 0);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 2);
	methods_seen.ret = -ENODATA;
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req), 32),
			-ENODATA);
	KUNIT_EXPECT_EQ(test, nr_objects(t), 2);
}

static void an_ioctl_brings_a_command_inline(struct kunit *test)
{
	struct fixture *t = test->priv;

	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_PLAIN, 4, 0, 32), 0);
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_PLAIN | EX, 8, 0, 32), 0);
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_PLAIN | EX, 4, 0, 32), -ENOSPC);
}

static void an_ioctl_brings_no_proper_command(struct kunit *test)
{
	struct fixture *t = test->priv;
	size_t size = sizeof(rq.req);

	memset(&rq, 0, sizeof(rq));
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_ANSWER, size - 4, size, 32), -ENOSPC);
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_ANSWER, size, size - 4, 32), -ENOSPC);
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_NONE, size, size, 32), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, invoke(t, 0x100, size, size, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, invoke(t, BIT_ULL(32), size, size, 32), -EINVAL);
	rq.more[0] = 1;
	KUNIT_EXPECT_EQ(test, invoke(t, WRITE_ANSWER, size + 4, size, 32), -EOPNOTSUPP);
}

static int make_by_ioctl(struct kunit *test)
{
	struct fixture *t = test->priv;
	int before = nr_objects(t), ret;

	memset(&rq, 0, sizeof(rq));
	rq.req.make = 1;
	ret = invoke(t, WRITE_ANSWER, sizeof(rq.req), sizeof(rq.req), 32);
	KUNIT_EXPECT_EQ(test, nr_objects(t), before + !ret);
	return ret;
}

static void each_allocation_of_a_command_fails_once(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_by_ioctl), 2u);
}

static struct kunit_case write_cases[] = {
	KUNIT_CASE(a_command_is_split_where_its_parts_end),
	KUNIT_CASE(an_extended_command_says_where_its_parts_end),
	KUNIT_CASE(an_extended_request_may_be_longer_if_that_is_zero),
	KUNIT_CASE(what_is_no_proper_command),
	KUNIT_CASE(what_is_no_proper_extended_command),
	KUNIT_CASE(memory_that_is_not_there),
	KUNIT_CASE(an_object_stays_if_its_command_succeeds),
	KUNIT_CASE(what_follows_a_request_is_read_in_bounds),
	KUNIT_CASE(an_ioctl_brings_a_command),
	KUNIT_CASE(an_ioctl_brings_a_command_inline),
	KUNIT_CASE(an_ioctl_brings_no_proper_command),
	KUNIT_CASE(each_allocation_of_a_command_fails_once),
	{}
};

static struct kunit_suite uverbs_write_suite = {
	.name = "ib_uverbs_write",
	.init = write_init,
	.exit = fixture_exit,
	.test_cases = write_cases,
};

kunit_test_suite(uverbs_write_suite);
