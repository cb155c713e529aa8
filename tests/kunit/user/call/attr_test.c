// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The attributes of a method call, and memory that is freed at its end. */
#include <linux/uaccess.h>
#include "faults.h"
#include "user/uverbs_test.h"

#define NR_ATTRS 4
#define ARENA 256
#define DRIVER_ATTR UVERBS_API_NS_FLAG

static struct uverbs_call *call;
static size_t call_size;
static struct ib_uverbs_attr uattrs[NR_ATTRS];
/* The process's memory: its attributes, a page for output, an unmapped address. */
static unsigned long user_attrs, user_out, user_hole;

static struct uverbs_call *start(struct kunit *test, void *buf, size_t size)
{
	struct uverbs_call *c = uverbs_call_init(buf, size, NR_ATTRS, NULL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->uattrs = uattrs;
	c->nr_uattrs = NR_ATTRS;
	c->user_attrs = (struct ib_uverbs_attr __user *)user_attrs;
	return c;
}

static int attr_test_init(struct kunit *test)
{
	void *buf;

	call_size = uverbs_call_size(NR_ATTRS, ARENA);
	buf = kunit_kmalloc(test, call_size, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	user_attrs = user_pages(test, 3, TEST_RW);
	user_out = user_attrs + PAGE_SIZE;
	user_hole = user_attrs + 2 * PAGE_SIZE;
	if (vm_munmap(user_hole, PAGE_SIZE))
		return -ENOMEM;
	memset(buf, 0xaa, call_size);
	memset(uattrs, 0, sizeof(uattrs));
	call = start(test, buf, call_size);
	return 0;
}

static void attr_test_exit(struct kunit *test)
{
	if (call)
		uverbs_call_finish(call);
	call = NULL;
}

/* Gives the call an attribute with ID @id, whose index in the user's array is @uattr. */
static struct uverbs_ptr_attr *give(u32 id, u16 len, u64 data, u16 uattr)
{
	unsigned int bkey = uapi_bkey_attr(uapi_key_attr(id));
	struct uverbs_ptr_attr *ptr = &call->bundle.attrs[bkey].ptr_attr;

	ptr->len = len;
	ptr->data = data;
	ptr->uattr_idx = uattr;
	__set_bit(bkey, call->bundle.attr_present);
	return ptr;
}

static u16 flags_told(struct kunit *test, unsigned int i)
{
	struct ib_uverbs_attr attr;

	KUNIT_ASSERT_EQ(test, copy_from_user(&attr, &call->user_attrs[i],
					     sizeof(attr)), 0ul);
	return attr.flags;
}

static void a_call_starts_empty(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, bitmap_empty(call->bundle.attr_present,
					     UVERBS_API_ATTR_BKEY_LEN));
	KUNIT_EXPECT_NULL(test, call->bundle.context);
	KUNIT_EXPECT_NULL(test, call->bundle.uobject);
	KUNIT_EXPECT_NULL(test, memchr_inv(call->bundle.attrs, 0,
					   NR_ATTRS * sizeof(struct uverbs_attr)));
	KUNIT_EXPECT_PTR_EQ(test, rdma_udata_to_uverbs_attr_bundle(&call->bundle.driver_udata),
			    &call->bundle);
	KUNIT_EXPECT_PTR_EQ(test, uverbs_call_of(&call->bundle), call);
	KUNIT_EXPECT_EQ(test, call_size, uverbs_call_size(NR_ATTRS, 0) + ARENA);
}

static void small_allocations_share_the_calls_buffer(struct kunit *test)
{
	void *buf = call, *end = buf + call_size, *a, *b, *c;

	a = uverbs_alloc(&call->bundle, 5);
	b = uverbs_zalloc(&call->bundle, 100);
	KUNIT_ASSERT_FALSE(test, IS_ERR(a));
	KUNIT_ASSERT_FALSE(test, IS_ERR(b));
	KUNIT_EXPECT_TRUE(test, a >= (void *)&call->bundle.attrs[NR_ATTRS]);
	KUNIT_EXPECT_TRUE(test, b >= a + 5 && b + 100 <= end);
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)a, 8));
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)b, 8));
	KUNIT_EXPECT_NULL(test, memchr_inv(b, 0, 100));
	/* Uses the rest of the buffer to the last byte, and then more. */
	c = uverbs_zalloc(&call->bundle, ALIGN_DOWN(end - (b + 104), 8));
	KUNIT_EXPECT_TRUE(test, c >= b + 100 && c < end);
	KUNIT_EXPECT_NULL(test, call->spills);
	c = uverbs_alloc(&call->bundle, 8);
	KUNIT_EXPECT_FALSE(test, c >= buf && c < end);
	KUNIT_EXPECT_NOT_NULL(test, call->spills);
	KUNIT_EXPECT_FALSE(test, IS_ERR_OR_NULL(uverbs_alloc(&call->bundle, 0)));
}

static void large_allocations_live_as_long_as_the_call(struct kunit *test)
{
	u8 *mem[8];
	int i;

	for (i = 0; i < 8; i++) {
		mem[i] = uverbs_kcalloc(&call->bundle, 100 << i, 8);
		KUNIT_ASSERT_FALSE(test, IS_ERR(mem[i]));
		KUNIT_EXPECT_NULL(test, memchr_inv(mem[i], 0, 800 << i));
		memset(mem[i], i, 800 << i);
	}
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_NULL(test, memchr_inv(mem[i], i, 800 << i));
	uverbs_call_finish(call);
	KUNIT_EXPECT_NULL(test, call->spills);
}

static void an_allocation_no_memory_can_hold_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_alloc(&call->bundle, SIZE_MAX)), -EOVERFLOW);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_alloc(&call->bundle, SIZE_MAX - 7)),
			-EOVERFLOW);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_alloc(&call->bundle, 1ul << 31)),
			-EOVERFLOW);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_kcalloc(&call->bundle, SIZE_MAX, 2)),
			-EOVERFLOW);
}

static int call_once(struct kunit *test)
{
	u64 buf[32];
	struct uverbs_call *c = uverbs_call_init(buf, sizeof(buf), 0, NULL);
	int ret = 0, i;
	void *mem;

	for (i = 0; !ret && i < 3; i++) {
		mem = uverbs_zalloc(&c->bundle, 500);
		ret = PTR_ERR_OR_ZERO(mem);
	}
	uverbs_call_finish(c);
	return ret;
}

static void a_call_survives_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ibex_each_allocation(test, call_once), 3u);
}

static void flags_are_32_or_64_bits_long(struct kunit *test)
{
	u64 flags = 7;
	u32 low = 7;

	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&flags, &call->bundle, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, flags, 0ull);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&low, &call->bundle, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, low, 0u);

	give(0, 8, BIT_ULL(40) | 1, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&flags, &call->bundle, 0,
						 BIT_ULL(40) | 3), 0);
	KUNIT_EXPECT_EQ(test, flags, BIT_ULL(40) | 1);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&low, &call->bundle, 0, U64_MAX), -EINVAL);
	KUNIT_EXPECT_EQ(test, low, 0u);

	/* The bytes behind a short value are not part of it. */
	*(u32 *)&give(0, 4, U64_MAX, 0)->data = 6;
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&flags, &call->bundle, 0, 6), 0);
	KUNIT_EXPECT_EQ(test, flags, 6ull);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&low, &call->bundle, 0, 7), 0);
	KUNIT_EXPECT_EQ(test, low, 6u);
}

static void flags_that_are_not_known_are_refused(struct kunit *test)
{
	u64 flags = 7;

	give(DRIVER_ATTR, 8, 5, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&flags, &call->bundle, DRIVER_ATTR, 4),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, flags, 0ull);
	give(DRIVER_ATTR, 2, 4, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&flags, &call->bundle, DRIVER_ATTR, 4),
			-EINVAL);
}

static void a_constant_must_fit_its_type(struct kunit *test)
{
	s32 narrow;
	u8 byte;
	s64 wide;
	u64 big;

	give(0, 8, (u64)(s64)S32_MIN, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&narrow, &call->bundle, 0), 0);
	KUNIT_EXPECT_EQ(test, narrow, S32_MIN);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&wide, &call->bundle, 0), 0);
	KUNIT_EXPECT_EQ(test, wide, (s64)S32_MIN);
	give(0, 8, (u64)((s64)S32_MIN - 1), 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&narrow, &call->bundle, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, narrow, 0);
	give(0, 8, (u64)S32_MAX + 1, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&narrow, &call->bundle, 0), -EINVAL);

	give(0, 8, 255, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&byte, &call->bundle, 0), 0);
	KUNIT_EXPECT_EQ(test, byte, 255);
	give(0, 8, 256, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&byte, &call->bundle, 0), -EINVAL);
	give(0, 8, U64_MAX, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&byte, &call->bundle, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&big, &call->bundle, 0), 0);
	KUNIT_EXPECT_EQ(test, big, U64_MAX);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&wide, &call->bundle, 0), 0);
	KUNIT_EXPECT_EQ(test, wide, -1ll);
}

static void a_constant_not_given_is_the_default(struct kunit *test)
{
	s64 wide = 1;
	s32 value = 1;
	u32 other = 1;

	KUNIT_EXPECT_EQ(test, _uverbs_get_const_signed(&wide, &call->bundle, 0, 0, 9, NULL),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, wide, 0ll);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&value, &call->bundle, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, value, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&other, &call->bundle, 0), -ENOENT);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default(&value, &call->bundle, 0, -5), 0);
	KUNIT_EXPECT_EQ(test, value, -5);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default(&other, &call->bundle, 0, 5u), 0);
	KUNIT_EXPECT_EQ(test, other, 5u);
	give(0, 8, 9, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default(&value, &call->bundle, 0, -5), 0);
	KUNIT_EXPECT_EQ(test, value, 9);
}

/* Writes "abcdefgh" to an attribute of @len bytes and checks the output page. */
static void expect_out(struct kunit *test, unsigned int len, bool zero,
		       const char *want, size_t n)
{
	char out[16];

	memset(out, '.', sizeof(out));
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user_out, out, sizeof(out)),
			0ul);
	give(0, len, user_out, 2);
	if (zero)
		KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(&call->bundle, 0,
								    "abcdefgh", 8), 0);
	else
		KUNIT_EXPECT_EQ(test, uverbs_copy_to(&call->bundle, 0, "abcdefgh", 8),
				0);
	KUNIT_ASSERT_EQ(test, copy_from_user(out, (void __user *)user_out, sizeof(out)),
			0ul);
	KUNIT_EXPECT_MEMEQ(test, out, want, n);
}

static void an_output_is_written_as_far_as_the_user_has_room(struct kunit *test)
{
	expect_out(test, 8, false, "abcdefgh........", 16);
	expect_out(test, 5, false, "abcde...........", 16);
	expect_out(test, 12, false, "abcdefgh........", 16);
	expect_out(test, 8, true, "abcdefgh........", 16);
	expect_out(test, 5, true, "abcde...........", 16);
	expect_out(test, 12, true, "abcdefgh\0\0\0\0....", 16);
}

static void an_output_written_is_flagged_beside_the_users_flags(struct kunit *test)
{
	uattrs[2].flags = UVERBS_ATTR_F_MANDATORY;
	/* A change by the user during the call is ignored. */
	user_write(test, (unsigned long)&call->user_attrs[2].flags, 0xf0);
	expect_out(test, 8, false, "abcdefgh", 8);
	KUNIT_EXPECT_EQ(test, flags_told(test, 2),
			UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
	KUNIT_EXPECT_EQ(test, flags_told(test, 1), 0);
	KUNIT_EXPECT_EQ(test, flags_told(test, 3), 0);
}

static void an_output_that_cannot_be_written_is_not_flagged(struct kunit *test)
{
	const struct uverbs_attr_bundle *bundle = &call->bundle;

	KUNIT_EXPECT_EQ(test, uverbs_copy_to(bundle, 0, "x", 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(bundle, 0, "x", 1), -ENOENT);
	give(0, 1, user_hole, 2);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(bundle, 0, "x", 1), -EFAULT);
	/* The struct fits, but the zeroes after it do not. */
	give(0, 9, user_hole - 8, 2);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(bundle, 0, "abcdefgh", 8),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, flags_told(test, 2), 0);
	/* The array of attributes is not mapped any more. */
	give(0, 1, user_out, 2);
	call->user_attrs = (struct ib_uverbs_attr __user *)user_hole;
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(bundle, 0, "x", 1), -EFAULT);
}

static struct kunit_case attr_cases[] = {
	KUNIT_CASE(a_call_starts_empty),
	KUNIT_CASE(small_allocations_share_the_calls_buffer),
	KUNIT_CASE(large_allocations_live_as_long_as_the_call),
	KUNIT_CASE(an_allocation_no_memory_can_hold_is_refused),
	KUNIT_CASE(a_call_survives_each_failed_allocation),
	KUNIT_CASE(flags_are_32_or_64_bits_long),
	KUNIT_CASE(flags_that_are_not_known_are_refused),
	KUNIT_CASE(a_constant_must_fit_its_type),
	KUNIT_CASE(a_constant_not_given_is_the_default),
	KUNIT_CASE(an_output_is_written_as_far_as_the_user_has_room),
	KUNIT_CASE(an_output_written_is_flagged_beside_the_users_flags),
	KUNIT_CASE(an_output_that_cannot_be_written_is_not_flagged),
	{}
};

static struct kunit_suite uverbs_attr_suite = {
	.name = "uverbs_attr",
	.init = attr_test_init,
	.exit = attr_test_exit,
	.test_cases = attr_cases,
};

kunit_test_suite(uverbs_attr_suite);
