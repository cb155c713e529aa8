// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Threads of a process that destroy objects which others destroy, use or create. */
#include "user/queues/process_queues.h"
#include "race.h"
#include "user/uverbs_test.h"

#define ROUNDS		2000
#define BATCHES		40
#define STEPS		60		/* of each thread in a batch */
#define HANDLES		24

static u32 make(struct commands *c, const struct race_kind *kind)
{
	u32 handle;

	KUNIT_ASSERT_EQ_MSG(c->test, kind->make(c, queues.pd, queues.cq, &handle), 0,
			    "object %u", kind->object);
	return handle;
}

static void go_destroy(struct commands *c, struct racer *r, const struct race_kind *kind,
		       u32 handle, bool ioctl)
{
	r->kind = kind;
	r->handle = handle;
	r->ioctl = ioctl;
	racer_go(c, r, race_destroy_in_thread);
}

/* ---- two that destroy ---- */

static void check_twice(struct commands *c, const struct race_kind *kind, bool ioctl)
{
	u32 handle = make(c, kind);

	gate_close(c, kind->fake, false);
	go_destroy(c, &racers[0], kind, handle, ioctl);
	gate_wait(c->test);
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, kind, handle, false), -EBUSY);
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, kind, handle, true), -EBUSY);
	gate_open();
	KUNIT_EXPECT_EQ(c->test, racer_wait(c->test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, kind, handle, false), -ENOENT);
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, kind, handle, true), -ENOENT);
}

static void the_second_who_destroys_is_told_so(struct kunit *test)
{
	int i;

	for (i = 0; i < NR_KINDS; i++) {
		check_twice(test->priv, &race_kinds[i], false);
		check_twice(test->priv, &race_kinds[i], true);
	}
	queues_expect_idle(test->priv);
}

/* The adapter refused to destroy the object, which can be destroyed later. */
static void what_was_not_destroyed_is_as_it_was(struct kunit *test)
{
	struct commands *c = test->priv;
	u32 handle;
	int i;

	for (i = 0; i < NR_KINDS; i++) {
		handle = make(c, &race_kinds[i]);
		gate_close(c, race_kinds[i].fake, false);
		atomic_set(&c->hca->fail_destroy[race_kinds[i].fake], 1);
		go_destroy(c, &racers[0], &race_kinds[i], handle, i & 1);
		gate_wait(test);
		KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[i], handle, false), -EBUSY);
		gate_open();
		KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), -EIO);
		KUNIT_EXPECT_EQ(test, race_destroy(c, &race_kinds[i], handle, true), 0);
	}
	queues_expect_idle(c);
}

static int destroy_sometime(struct racer *r)
{
	race_delay(3);
	return race_destroy_in_thread(r);
}

static void one_of_two_destroys(struct kunit *test)
{
	struct commands *c = test->priv;
	unsigned int round, late = 0, busy = 0;
	const struct race_kind *kind;
	u32 handle;
	int i, ret, zeros;

	for (round = 1; round <= ROUNDS; round++) {
		race_shuffle(c, 0);
		kind = &race_kinds[round % NR_KINDS];
		handle = make(c, kind);
		race_shuffle(c, round);
		for (i = zeros = 0; i < 2; i++) {
			racers[i].kind = kind;
			racers[i].handle = handle;
			racers[i].ioctl = race_random(2);
			racer_go(c, &racers[i], destroy_sometime);
		}
		for (i = 0; i < 2; i++) {
			ret = racer_wait(test, &racers[i]);
			zeros += !ret;
			late += ret == -ENOENT;
			busy += ret == -EBUSY;
		}
		KUNIT_ASSERT_EQ_MSG(test, zeros, 1, "seed %u", round);
	}
	KUNIT_EXPECT_EQ(test, late + busy, (unsigned int)ROUNDS);
	/* In some rounds the two met, in others they did not. */
	KUNIT_EXPECT_GT(test, late, ROUNDS / 20u);
	KUNIT_EXPECT_GT(test, busy, ROUNDS / 20u);
	queues_expect_idle(c);
}

/* ---- parents ---- */

static const struct {
	u8 parent, child;
} families[] = {
	{ KIND_PD, KIND_QP }, { KIND_PD, KIND_SRQ }, { KIND_PD, KIND_WQ },
	{ KIND_PD, KIND_MR }, { KIND_PD, KIND_MW }, { KIND_PD, KIND_AH },
	{ KIND_CQ, KIND_QP }, { KIND_CQ, KIND_WQ },
};

static void check_making(struct commands *c, const struct race_kind *parent,
			 const struct race_kind *child, int error)
{
	u32 *handle = parent->fake == FAKE_PD ? &queues.pd : &queues.cq;

	gate_close(c, child->fake, true);
	atomic_set(&c->hca->fail_create[child->fake], !!error);
	racers[0].kind = child;
	racer_go(c, &racers[0], race_make_in_thread);
	gate_wait(c->test);
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, parent, *handle, false), -EBUSY);
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, parent, *handle, true), -EBUSY);
	gate_open();
	KUNIT_EXPECT_EQ(c->test, racer_wait(c->test, &racers[0]), error);
	if (!error) {
		KUNIT_EXPECT_EQ(c->test, race_destroy(c, parent, *handle, true), -EBUSY);
		KUNIT_EXPECT_EQ(c->test, race_destroy(c, child, racers[0].handle, false), 0);
	}
	KUNIT_EXPECT_EQ(c->test, race_destroy(c, parent, *handle, false), 0);
	*handle = make(c, parent);
}

static void a_parent_stays_while_a_child_is_made(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		check_making(test->priv, &race_kinds[families[i].parent],
			     &race_kinds[families[i].child], 0);
		check_making(test->priv, &race_kinds[families[i].parent],
			     &race_kinds[families[i].child], -ENOMEM);
	}
	queues_expect_idle(test->priv);
}

static void check_ending(struct commands *c, const struct race_kind *parent,
			 const struct race_kind *child, int error)
{
	u32 *handle = parent->fake == FAKE_PD ? &queues.pd : &queues.cq, got;

	gate_close(c, parent->fake, false);
	atomic_set(&c->hca->fail_destroy[parent->fake], !!error);
	go_destroy(c, &racers[0], parent, *handle, error);
	gate_wait(c->test);
	KUNIT_EXPECT_EQ(c->test, child->make(c, queues.pd, queues.cq, &got), -EBUSY);
	gate_open();
	KUNIT_EXPECT_EQ(c->test, racer_wait(c->test, &racers[0]), error);
	if (error) {
		KUNIT_EXPECT_EQ(c->test, child->make(c, queues.pd, queues.cq, &got), 0);
		KUNIT_EXPECT_EQ(c->test, race_destroy(c, child, got, true), 0);
		return;
	}
	KUNIT_EXPECT_EQ(c->test, child->make(c, queues.pd, queues.cq, &got), -ENOENT);
	*handle = make(c, parent);
}

static void no_child_of_a_parent_that_is_destroyed(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		check_ending(test->priv, &race_kinds[families[i].parent],
			     &race_kinds[families[i].child], 0);
		check_ending(test->priv, &race_kinds[families[i].parent],
			     &race_kinds[families[i].child], -EIO);
	}
	queues_expect_idle(test->priv);
}

/* An object that is being created cannot be found, even by the handle it will get. */
static void nobody_finds_what_is_being_made(struct kunit *test)
{
	struct commands *c = test->priv;
	const struct race_kind *kind = &race_kinds[KIND_MR];
	u32 handle = make(c, kind);

	KUNIT_ASSERT_EQ(test, race_destroy(c, kind, handle, false), 0);
	gate_close(c, FAKE_MR, true);
	racers[0].kind = kind;
	racer_go(c, &racers[0], race_make_in_thread);
	gate_wait(test);
	KUNIT_EXPECT_EQ(test, race_destroy(c, kind, handle, false), -ENOENT);
	KUNIT_EXPECT_EQ(test, race_destroy(c, kind, handle, true), -ENOENT);
	gate_open();
	KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[0]), 0);
	KUNIT_EXPECT_EQ(test, racers[0].handle, handle);
	KUNIT_EXPECT_EQ(test, race_destroy(c, kind, handle, true), 0);
	queues_expect_idle(c);
}

/* ---- all at once ---- */

enum { DONE, BUSY, ABSENT, REFUSED };

/* The kind of the object with @handle; sometimes a random kind. */
static const struct race_kind *kind_of(struct commands *c, u32 handle)
{
	struct ib_uobject *uobj;
	u32 i = race_random(8 * NR_KINDS);

	if (i >= NR_KINDS) {
		rcu_read_lock();
		uobj = xa_load(&c->file->handles, handle);
		for (i = NR_KINDS - 1; uobj && i; i--)
			if (race_kinds[i].object == uobj->uapi_object->id)
				break;
		rcu_read_unlock();
	}
	return &race_kinds[i];
}

/* Creates an object or destroys one. */
static int step(struct racer *r)
{
	const struct race_kind *kind = &race_kinds[race_random(NR_KINDS)];
	u32 handle;

	if (race_random(8) == 0)
		atomic_set(race_random(2) ? &r->c.hca->fail_create[kind->fake] :
					    &r->c.hca->fail_destroy[kind->fake], 1);
	if (race_random(2) && commands_objects(&r->c) < HANDLES)
		return kind->make(&r->c, race_random(4) ? queues.pd : race_random(HANDLES),
				  race_random(4) ? queues.cq : race_random(HANDLES),
				  &handle);
	/* Handles 0 and 1 are the PD and CQ of the case, which are rarely destroyed. */
	handle = race_random(16) ? 2 + race_random(HANDLES - 2) : race_random(2);
	return race_destroy(&r->c, kind_of(&r->c, handle), handle, race_random(2));
}

static int steps(struct racer *r)
{
	int i, ret;

	for (i = 0; i < STEPS; i++) {
		race_delay(2);
		ret = step(r);
		switch (ret) {
		case 0:
			r->counts[DONE]++;
			break;
		case -EBUSY:
			r->counts[BUSY]++;
			break;
		case -ENOENT:
		case -EINVAL:		/* it is another type's */
			r->counts[ABSENT]++;
			break;
		case -EIO:
		case -ENOMEM:
			r->counts[REFUSED]++;
			break;
		default:
			return ret;
		}
	}
	return 0;
}

static void a_storm_of_calls(struct kunit *test)
{
	struct commands *c = test->priv;
	unsigned int sums[4] = {};
	int batch, i, j;

	for (batch = 1; batch <= BATCHES; batch++) {
		race_shuffle(c, 1000 + batch);
		for (i = 0; i < RACERS; i++)
			racer_go(c, &racers[i], steps);
		for (i = 0; i < RACERS; i++)
			KUNIT_EXPECT_EQ(test, racer_wait(test, &racers[i]), 0);
		/* The adapter has the objects of the process, and the context. */
		KUNIT_ASSERT_EQ_MSG(test, fake_hca_objects(c->hca),
				    commands_objects(c) + 1, "seed %d", 1000 + batch);
	}
	for (i = 0; i < RACERS; i++)
		for (j = 0; j < 4; j++)
			sums[j] += racers[i].counts[j];
	kunit_info(test, "done %u busy %u absent %u refused %u", sums[0], sums[1], sums[2],
		   sums[3]);
	for (j = 0; j < 4; j++)
		KUNIT_EXPECT_GT(test, sums[j], 100u);
	for (i = 0; i < NR_KINDS; i++) {
		atomic_set(&c->hca->fail_create[race_kinds[i].fake], 0);
		atomic_set(&c->hca->fail_destroy[race_kinds[i].fake], 0);
	}
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(the_second_who_destroys_is_told_so),
	KUNIT_CASE(what_was_not_destroyed_is_as_it_was),
	KUNIT_CASE_SLOW(one_of_two_destroys),
	KUNIT_CASE(a_parent_stays_while_a_child_is_made),
	KUNIT_CASE(no_child_of_a_parent_that_is_destroyed),
	KUNIT_CASE(nobody_finds_what_is_being_made),
	KUNIT_CASE_SLOW(a_storm_of_calls),
	{}
};

static struct kunit_suite uverbs_race_suite = {
	.name = "uverbs_race",
	.init = race_init,
	.exit = race_exit,
	.test_cases = race_cases,
};

kunit_test_suite(uverbs_race_suite);
