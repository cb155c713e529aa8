// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* User objects that are a file descriptor. */
#include <linux/file.h>
#include "faults.h"
#include "user/fixture.h"

static void a_descriptor_is_found_by_its_number(struct kunit *test)
{
	struct fixture *t = test->priv;
	int fd = fixture_make(t, &fixture_fd, 'f');
	struct ib_uverbs_file *other;
	struct ib_uobject *uobj;

	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_fd, fd, UVERBS_LOOKUP_READ,
					     &uobj), 0);
	KUNIT_EXPECT_EQ(test, uobj->id, fd);
	rdma_lookup_put_uobject(uobj, UVERBS_LOOKUP_READ);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_fd, fd, UVERBS_LOOKUP_WRITE,
					     &uobj), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_fd, fd + 1,
					     UVERBS_LOOKUP_READ, &uobj), -EBADF);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_fd, -1, UVERBS_LOOKUP_READ,
					     &uobj), -EBADF);

	/* It cannot be used with another file. */
	other = uverbs_file_create(t->udev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other));
	uobj = rdma_lookup_get_uobject(&fixture_fd, other, fd, UVERBS_LOOKUP_READ,
				       NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uobj), -EBADF);
	uverbs_file_close(other);
	fixture_close_fd(fd);
}

static void its_close_destroys_it(struct kunit *test)
{
	struct fixture *t = test->priv;
	int fd = fixture_make(t, &fixture_fd, 'f');

	KUNIT_ASSERT_GE(test, fd, 0);
	fixture_close_fd(fd);
	KUNIT_EXPECT_STREQ(test, t->destroyed, "f");
	KUNIT_EXPECT_STREQ(test, t->why, "1");
	KUNIT_EXPECT_TRUE(test, list_empty(&t->file->objects));
	fixture_close(t);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
}

static void its_file_ends_first(struct kunit *test)
{
	struct fixture *t = test->priv;
	int fd = fixture_make(t, &fixture_fd, 'f');

	KUNIT_ASSERT_GE(test, fd, 0);
	fixture_close(t);
	KUNIT_EXPECT_STREQ(test, t->destroyed, "f");
	/* The user can still close the descriptor; the object is destroyed once. */
	fixture_close_fd(fd);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
}

static void its_device_goes_first(struct kunit *test)
{
	struct fixture *t = test->priv;
	int fd = fixture_make(t, &fixture_fd, 'f');

	KUNIT_ASSERT_GE(test, fd, 0);
	ib_unregister_device(&t->hca->ibdev);
	KUNIT_EXPECT_STREQ(test, t->destroyed, "f");
	KUNIT_EXPECT_STREQ(test, t->why, "2");
	fixture_close_fd(fd);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
}

/*
 * The descriptor is closed during a method that uses it: its object is
 * not destroyed before the end of the method.
 */
static void a_close_during_a_method(struct kunit *test)
{
	struct fixture *t = test->priv;
	int fd = fixture_make(t, &fixture_fd, 'f');
	struct ib_uobject *uobj;

	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_fd, fd, UVERBS_LOOKUP_READ,
					     &uobj), 0);
	fixture_close_fd(fd);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);
	rdma_lookup_put_uobject(uobj, UVERBS_LOOKUP_READ);
	flush_delayed_fput();
	KUNIT_EXPECT_STREQ(test, t->destroyed, "f");
}

static void an_aborted_descriptor_is_free_again(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uobject *uobj;
	int fd;

	uobj = rdma_alloc_begin_uobject(&fixture_fd, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	fd = uobj->id;
	rdma_alloc_abort_uobject(uobj, t->attrs, false);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);

	uobj = rdma_alloc_begin_uobject(&fixture_fd, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	KUNIT_EXPECT_EQ(test, uobj->id, fd);
	rdma_alloc_abort_uobject(uobj, t->attrs, true);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
	KUNIT_EXPECT_STREQ(test, t->why, "3");
}

static int make_and_close(struct kunit *test)
{
	struct fixture *t = test->priv;
	unsigned int nth;
	int fd = fixture_make(t, &fixture_fd, 'f');

	if (fd < 0)
		return fd;
	/* Only allocations of the creation fail. */
	nth = current->fail_nth;
	current->fail_nth = 0;
	fixture_close_fd(fd);
	current->fail_nth = nth;
	return 0;
}

static void descriptors_survive_each_failed_allocation(struct kunit *test)
{
	struct fixture *t = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_close), 2);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->file->objects));
}

static struct kunit_case fd_cases[] = {
	KUNIT_CASE(a_descriptor_is_found_by_its_number),
	KUNIT_CASE(its_close_destroys_it),
	KUNIT_CASE(its_file_ends_first),
	KUNIT_CASE(its_device_goes_first),
	KUNIT_CASE(a_close_during_a_method),
	KUNIT_CASE(an_aborted_descriptor_is_free_again),
	KUNIT_CASE(descriptors_survive_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_fd_suite = {
	.name = "uverbs_fd",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = fd_cases,
};

kunit_test_suite(uverbs_fd_suite);
