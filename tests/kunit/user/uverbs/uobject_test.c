// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* User objects with a handle, the file's context, teardown, removal of the device. */
#include <linux/kthread.h>
#include <linux/delay.h>
#include "faults.h"
#include "user/fixture.h"

static void a_handle_is_found_once_committed(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uobject *uobj, *found;
	int id;

	uobj = rdma_alloc_begin_uobject(&fixture_type, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	KUNIT_EXPECT_PTR_EQ(test, uobj->context, t->file->context);
	id = uobj->id;
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_READ, &found), -ENOENT);
	uobj->object = t;
	rdma_alloc_commit_uobject(uobj, t->attrs);

	fixture_call(t);
	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_READ, &found), 0);
	KUNIT_EXPECT_PTR_EQ(test, found, uobj);
	KUNIT_EXPECT_PTR_EQ(test, t->attrs->context, t->file->context);
	rdma_lookup_put_uobject(found, UVERBS_LOOKUP_READ);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_other, id,
					     UVERBS_LOOKUP_READ, &found), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, NULL, id, UVERBS_LOOKUP_READ,
					     &found), 0);
	rdma_lookup_put_uobject(found, UVERBS_LOOKUP_READ);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, id + 1,
					     UVERBS_LOOKUP_READ, &found), -ENOENT);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, -1,
					     UVERBS_LOOKUP_READ, &found), -EINVAL);
}

static void a_destroyed_handle_is_free_again(struct kunit *test)
{
	struct fixture *t = test->priv;
	int id = fixture_make(t, &fixture_type, 'a');
	struct ib_uobject *uobj;

	KUNIT_ASSERT_GE(test, id, 0);
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			0);
	KUNIT_EXPECT_STREQ(test, t->destroyed, "a");
	KUNIT_EXPECT_STREQ(test, t->why, "0");
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, fixture_make(t, &fixture_type, 'b'), id);

	/* The object that a destroy returns can still be read, but not be found. */
	uobj = __uobj_get_destroy(&fixture_type, id, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	KUNIT_EXPECT_NULL(test, uobj->object);
	KUNIT_EXPECT_EQ(test, uobj->id, id);
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			-ENOENT);
	uobj_put_destroy(uobj);
}

static void readers_share_and_a_writer_is_alone(struct kunit *test)
{
	struct fixture *t = test->priv;
	int id = fixture_make(t, &fixture_type, 'a');
	struct ib_uobject *one, *two;

	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_READ, &one), 0);
	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_READ, &two), 0);
	rdma_lookup_put_uobject(one, UVERBS_LOOKUP_READ);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_WRITE, &one), -EBUSY);
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			-EBUSY);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);
	rdma_lookup_put_uobject(two, UVERBS_LOOKUP_READ);

	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_WRITE, &one), 0);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_READ, &two), -EBUSY);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_WRITE, &two), -EBUSY);
	rdma_lookup_put_uobject(one, UVERBS_LOOKUP_WRITE);
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			0);
}

static void a_refused_destroy_changes_nothing(struct kunit *test)
{
	struct fixture *t = test->priv;
	int id = fixture_make(t, &fixture_type, 'a');
	struct ib_uobject *uobj;

	t->refuse = 'a';
	t->refusals = 1;
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			-EBUSY);
	KUNIT_ASSERT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_WRITE, &uobj), 0);
	KUNIT_EXPECT_PTR_EQ(test, uobj->object, (void *)t);
	rdma_lookup_put_uobject(uobj, UVERBS_LOOKUP_WRITE);
	KUNIT_EXPECT_EQ(test, __uobj_perform_destroy(&fixture_type, id, t->attrs),
			0);
}

static void an_aborted_creation_leaves_nothing(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uobject *uobj;
	int id;

	uobj = rdma_alloc_begin_uobject(&fixture_type, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	id = uobj->id;
	rdma_alloc_abort_uobject(uobj, t->attrs, false);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);

	uobj = rdma_alloc_begin_uobject(&fixture_type, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	KUNIT_EXPECT_EQ(test, uobj->id, id);
	uobj->object = t;
	rdma_alloc_abort_uobject(uobj, t->attrs, true);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
	KUNIT_EXPECT_STREQ(test, t->why, "3");
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file->handles));
	KUNIT_EXPECT_TRUE(test, list_empty(&t->file->objects));
}

/* The driver refuses to destroy the object: teardown does it later. */
static void an_abort_that_is_refused_waits_for_teardown(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uobject *uobj, *found;
	int id;

	t->refusals = 1;
	uobj = rdma_alloc_begin_uobject(&fixture_type, t->attrs);
	KUNIT_ASSERT_FALSE(test, IS_ERR(uobj));
	id = uobj->id;
	uobj->object = t;
	/* The object's letter is 0, and so is t->refuse: the destroy is refused. */
	rdma_alloc_abort_uobject(uobj, t->attrs, true);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &fixture_type, id,
					     UVERBS_LOOKUP_READ, &found), -ENOENT);
	fixture_close(t);
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 1);
	KUNIT_EXPECT_STREQ(test, t->why, "1");
}

static void teardown_goes_backwards(struct kunit *test)
{
	struct fixture *t = test->priv;
	char c;

	for (c = 'a'; c <= 'e'; c++)
		KUNIT_ASSERT_GE(test, fixture_make(t, &fixture_type, c), 0);
	fixture_close(t);
	KUNIT_EXPECT_STREQ(test, t->destroyed, "edcba");
	KUNIT_EXPECT_STREQ(test, t->why, "11111");
	KUNIT_EXPECT_EQ(test, t->contexts, 0);
}

/* An older object may use a newer one (a QP and the CQ it was moved to). */
static void teardown_comes_back_for_what_was_in_use(struct kunit *test)
{
	struct fixture *t = test->priv;
	char c;

	t->refuse = 'c';
	t->refusals = 1;
	for (c = 'a'; c <= 'd'; c++)
		KUNIT_ASSERT_GE(test, fixture_make(t, &fixture_type, c), 0);
	t->uses = 'c';
	fixture_close(t);
	/* The second pass destroys 'c', and then 'a'. */
	KUNIT_EXPECT_STREQ(test, t->destroyed, "dbca");
	KUNIT_EXPECT_STREQ(test, t->why, "1111");
}

static void teardown_tells_the_driver_when_it_gives_up(struct kunit *test)
{
	struct fixture *t = test->priv;

	t->refuse = 'a';
	t->refusals = 100;
	KUNIT_ASSERT_GE(test, fixture_make(t, &fixture_type, 'a'), 0);
	KUNIT_ASSERT_GE(test, fixture_make(t, &fixture_type, 'b'), 0);
	fixture_close(t);
	KUNIT_EXPECT_STREQ(test, t->destroyed, "ba");
	KUNIT_EXPECT_STREQ(test, t->why, "14");
}

static int remove_thread(void *arg)
{
	struct fixture *t = arg;

	ib_unregister_device(&t->hca->ibdev);
	WRITE_ONCE(t->refuse_context, 1);
	return 0;
}

static bool removed_within(struct fixture *t, unsigned int ms)
{
	while (!READ_ONCE(t->refuse_context) && ms--)
		msleep(1);
	return READ_ONCE(t->refuse_context);
}

static void removal_waits_for_a_method_and_empties_the_file(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct task_struct *task;
	int idx, id;

	id = fixture_make(t, &fixture_type, 'a');
	KUNIT_ASSERT_GE(test, id, 0);
	idx = uverbs_section_begin(t->file);
	KUNIT_ASSERT_GE(test, idx, 0);
	task = kthread_run(remove_thread, t, "remove");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	KUNIT_EXPECT_FALSE(test, removed_within(t, 1000));
	KUNIT_EXPECT_EQ(test, t->nr_destroyed, 0);
	/* No method begins meanwhile, or later. */
	KUNIT_EXPECT_EQ(test, uverbs_section_begin(t->file), -EIO);
	uverbs_section_end(t->file, idx);
	KUNIT_EXPECT_TRUE(test, removed_within(t, 10000));

	KUNIT_EXPECT_STREQ(test, t->destroyed, "a");
	KUNIT_EXPECT_STREQ(test, t->why, "2");
	KUNIT_EXPECT_EQ(test, t->contexts, 0);
	KUNIT_EXPECT_EQ(test, uverbs_section_begin(t->file), -EIO);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_uverbs_get_ucontext_file(t->file)), -EIO);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_file_create(t->udev)), -ENODEV);
}

static void a_file_has_one_context(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uverbs_file *first = t->file;
	struct ib_uobject *uobj;

	KUNIT_EXPECT_EQ(test, uverbs_context_begin(t->attrs), -EINVAL);

	t->file = uverbs_file_create(t->udev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(t->file));
	fixture_call(t);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_uverbs_get_ucontext_file(t->file)),
			-EINVAL);
	uobj = rdma_alloc_begin_uobject(&fixture_type, t->attrs);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uobj), -EINVAL);

	t->refuse_context = -EPERM;
	KUNIT_EXPECT_EQ(test, uverbs_context_begin(t->attrs), -EPERM);
	t->refuse_context = 0;
	KUNIT_ASSERT_EQ(test, uverbs_context_begin(t->attrs), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_uverbs_get_ucontext_file(t->file)),
			-EINVAL);
	uverbs_context_abort(t->attrs);
	KUNIT_EXPECT_EQ(test, t->contexts, 1);
	KUNIT_ASSERT_EQ(test, uverbs_context_begin(t->attrs), 0);
	uverbs_context_commit(t->attrs);
	KUNIT_EXPECT_PTR_EQ(test, ib_uverbs_get_ucontext_file(t->file),
			    t->file->context);
	fixture_close(t);
	KUNIT_EXPECT_EQ(test, t->contexts, 1);
	t->file = first;
}

static void what_a_device_lacks(struct kunit *test)
{
	struct uverbs_api_object disabled = fixture_type;
	struct fixture *t = test->priv;
	struct ib_uobject *uobj;

	disabled.disabled = 1;
	uobj = rdma_alloc_begin_uobject(&disabled, t->attrs);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uobj), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fixture_lookup(t, &disabled, 0, UVERBS_LOOKUP_READ,
					     &uobj), -EOPNOTSUPP);
}

static int make_and_destroy(struct kunit *test)
{
	struct fixture *t = test->priv;
	int id = fixture_make(t, &fixture_type, 'a');

	if (id < 0)
		return id;
	return __uobj_perform_destroy(&fixture_type, id, t->attrs);
}

static int open_and_close(struct kunit *test)
{
	struct fixture *t = test->priv;
	struct ib_uverbs_file *first = t->file;
	struct ib_uverbs_file *file;
	int ret;

	file = uverbs_file_create(t->udev);
	if (IS_ERR(file))
		return PTR_ERR(file);
	t->file = file;
	fixture_call(t);
	ret = uverbs_context_begin(t->attrs);
	if (!ret)
		uverbs_context_commit(t->attrs);
	uverbs_file_close(file);
	t->file = first;
	fixture_call(t);
	return ret;
}

static void objects_survive_each_failed_allocation(struct kunit *test)
{
	struct fixture *t = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, make_and_destroy), 1);
	KUNIT_EXPECT_TRUE(test, list_empty(&t->file->objects));
	KUNIT_EXPECT_TRUE(test, xa_empty(&t->file->handles));
}

static void files_survive_each_failed_allocation(struct kunit *test)
{
	struct fixture *t = test->priv;

	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, open_and_close), 2);
	KUNIT_EXPECT_EQ(test, t->contexts, 1);
}

static struct kunit_case uobject_cases[] = {
	KUNIT_CASE(a_handle_is_found_once_committed),
	KUNIT_CASE(a_destroyed_handle_is_free_again),
	KUNIT_CASE(readers_share_and_a_writer_is_alone),
	KUNIT_CASE(a_refused_destroy_changes_nothing),
	KUNIT_CASE(an_aborted_creation_leaves_nothing),
	KUNIT_CASE(an_abort_that_is_refused_waits_for_teardown),
	KUNIT_CASE(teardown_goes_backwards),
	KUNIT_CASE(teardown_comes_back_for_what_was_in_use),
	KUNIT_CASE(teardown_tells_the_driver_when_it_gives_up),
	KUNIT_CASE_SLOW(removal_waits_for_a_method_and_empties_the_file),
	KUNIT_CASE(a_file_has_one_context),
	KUNIT_CASE(what_a_device_lacks),
	KUNIT_CASE(objects_survive_each_failed_allocation),
	KUNIT_CASE(files_survive_each_failed_allocation),
	{}
};

static struct kunit_suite uverbs_uobject_suite = {
	.name = "uverbs_uobject",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = uobject_cases,
};

kunit_test_suite(uverbs_uobject_suite);
