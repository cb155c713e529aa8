// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See race.h. */
#include <linux/fcntl.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>
#include "user/queues/process_queues.h"
#include "race.h"
#include "user/uverbs_test.h"

struct racer racers[MAX_RACERS];

static struct {
	bool closed;
	enum fake_hca_object kind;
	bool create;
	struct completion reached, opened;
} gate;

static struct rnd_state rnd;
static bool shuffling;

/* ---- the adapter ---- */

u32 race_random(u32 n)
{
	return prandom_u32_state(&rnd) % n;
}

void race_delay(u32 n)
{
	u32 ticks = race_random(n);

	if (ticks)
		schedule_timeout_uninterruptible(ticks);
}

static void on_verb(struct fake_hca *hca, enum fake_hca_object kind, bool create)
{
	if (gate.closed && kind == gate.kind && create == gate.create) {
		gate.closed = false;
		complete(&gate.reached);
		wait_for_completion_timeout(&gate.opened, 60 * HZ);
	}
	if (shuffling)
		race_delay(4);
}

void gate_close(struct commands *c, enum fake_hca_object kind, bool create)
{
	init_completion(&gate.reached);
	init_completion(&gate.opened);
	gate.kind = kind;
	gate.create = create;
	gate.closed = true;
	c->hca->on_verb = on_verb;
}

void gate_wait(struct kunit *test)
{
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&gate.reached, 60 * HZ), 0ul);
}

void gate_open(void)
{
	complete(&gate.opened);
}

void race_shuffle(struct commands *c, u64 seed)
{
	prandom_seed_state(&rnd, seed);
	shuffling = seed;
	c->hca->on_verb = on_verb;
}

/* ---- threads ---- */

static int racer_fn(void *arg)
{
	struct racer *r = arg;

	kthread_use_mm(r->mm);
	for (;;) {
		wait_for_completion(&r->go);
		if (r->stop)
			break;
		r->ret = r->fn(r);
		complete(&r->done);
	}
	kthread_unuse_mm(r->mm);
	complete(&r->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int racer_start(struct kunit *test, struct racer *r)
{
	memset(r, 0, sizeof(*r));
	r->nr = r - racers;
	init_completion(&r->go);
	init_completion(&r->done);
	r->mem = user_pages(test, COMMANDS_PAGES, TEST_RW);
	user_fill(test, r->mem, COMMANDS_PAGES, 0);
	r->mm = current->mm;
	mmget(r->mm);
	r->task = kthread_run(racer_fn, r, "racer/%u", r->nr);
	return PTR_ERR_OR_ZERO(r->task);
}

static void racer_stop(struct kunit *test, struct racer *r)
{
	if (IS_ERR_OR_NULL(r->task))
		return;
	r->stop = true;
	complete(&r->go);
	/* If the thread does not end it hangs, which its case has reported. */
	if (wait_for_completion_timeout(&r->done, 60 * HZ)) {
		kthread_stop(r->task);
		mmput(r->mm);
	}
	r->task = NULL;
}

void racer_go(struct commands *c, struct racer *r, int (*fn)(struct racer *r))
{
	r->c = *c;
	r->c.mem = r->mem;
	r->fn = fn;
	complete(&r->go);
}

int racer_wait(struct kunit *test, struct racer *r)
{
	KUNIT_ASSERT_GT_MSG(test, wait_for_completion_timeout(&r->done, 60 * HZ), 0ul,
			    "thread %u hangs", r->nr);
	return r->ret;
}

void racer_expect_stuck(struct kunit *test, struct racer *r)
{
	/* Long enough to count as forever. */
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&r->done, 5 * HZ), 0ul);
}

int race_init_many(struct kunit *test, unsigned int n)
{
	int i, ret;

	shuffling = false;
	gate.closed = false;
	memset(racers, 0, sizeof(racers));
	ret = queues_init(test);
	for (i = 0; i < n && !ret; i++)
		ret = racer_start(test, &racers[i]);
	return ret;
}

int race_init(struct kunit *test)
{
	return race_init_many(test, RACERS);
}

void race_exit(struct kunit *test)
{
	int i;

	shuffling = false;
	for (i = 0; i < MAX_RACERS; i++)
		racer_stop(test, &racers[i]);
	commands_exit(test);
}

void race_renew(struct kunit *test)
{
	commands_exit(test);
	KUNIT_ASSERT_EQ(test, queues_init(test), 0);
}

/* ---- kinds ---- */

static int make_pd(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct ib_uverbs_alloc_pd cmd = {};
	int ret = commands_write(c, CMD(ALLOC_PD), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.pd_handle;
	return ret;
}

static int make_cq(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_create_cq cmd = { .cqe = 4, .comp_channel = -1 };
	struct ib_uverbs_create_cq_resp resp;
	int ret = commands_write(c, CMD(CREATE_CQ), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.cq_handle;
	return ret;
}

static int make_qp(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_ex_create_qp_resp resp;
	struct ib_uverbs_ex_create_qp cmd;
	int ret;

	queues_qp_cmd(&cmd, IB_QPT_RC);
	cmd.pd_handle = pd;
	cmd.send_cq_handle = cq;
	cmd.recv_cq_handle = cq;
	ret = queues_create_qp(c, &cmd, &resp);
	*handle = resp.base.qp_handle;
	return ret;
}

static int make_srq(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_create_srq cmd = { .pd_handle = pd, .max_wr = 8, .max_sge = 1 };
	struct ib_uverbs_create_srq_resp resp;
	int ret = commands_write(c, CMD(CREATE_SRQ), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.srq_handle;
	return ret;
}

static int make_wq(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_ex_create_wq cmd = { .pd_handle = pd, .cq_handle = cq,
					      .max_wr = 8, .max_sge = 1 };
	struct ib_uverbs_ex_create_wq_resp resp;
	int ret = commands_write(c, EX(CREATE_WQ), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.wq_handle;
	return ret;
}

static int make_mr(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_reg_mr cmd = { .start = 0x10000, .length = 4096, .hca_va = 0x10000,
					.pd_handle = pd,
					.access_flags = IB_ACCESS_LOCAL_WRITE };
	struct ib_uverbs_reg_mr_resp resp;
	int ret = commands_write(c, CMD(REG_MR), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.mr_handle;
	return ret;
}

static int make_mw(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_alloc_mw cmd = { .pd_handle = pd, .mw_type = IB_MW_TYPE_1 };
	struct ib_uverbs_alloc_mw_resp resp;
	int ret = commands_write(c, CMD(ALLOC_MW), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.mw_handle;
	return ret;
}

static int make_ah(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_create_ah cmd = { .pd_handle = pd, .attr.port_num = 1,
					   .attr.dlid = 77 };
	struct ib_uverbs_create_ah_resp resp;
	int ret = commands_write(c, CMD(CREATE_AH), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.ah_handle;
	return ret;
}

static int make_xrcd(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = -1, .oflags = O_CREAT };
	struct ib_uverbs_open_xrcd_resp resp;
	int ret = commands_write(c, CMD(OPEN_XRCD), &cmd, sizeof(cmd), &resp, sizeof(resp));

	*handle = resp.xrcd_handle;
	return ret;
}

static int make_dm(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	int ret;

	commands_begin(c, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC);
	commands_new(c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	commands_u64(c, UVERBS_ATTR_ALLOC_DM_LENGTH, 4096);
	commands_u32(c, UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 0);
	ret = commands_ioctl(c);
	*handle = commands_got_handle(c, UVERBS_ATTR_ALLOC_DM_HANDLE);
	return ret;
}

static int make_counters(struct commands *c, u32 pd, u32 cq, u32 *handle)
{
	int ret;

	commands_begin(c, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	ret = commands_ioctl(c);
	*handle = commands_got_handle(c, UVERBS_ATTR_CREATE_COUNTERS_HANDLE);
	return ret;
}

#define PLAIN(cmd) .command = CMD(cmd), .len = 4
#define ANSWERED(cmd, n) .command = CMD(cmd), .len = 16, .at = 8, .resp = (n)
const struct race_kind race_kinds[NR_KINDS] = {
	[KIND_PD] = { UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, .fake = FAKE_PD,
		      PLAIN(DEALLOC_PD), .make = make_pd },
	[KIND_CQ] = { UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, .fake = FAKE_CQ,
		      ANSWERED(DESTROY_CQ, sizeof(struct ib_uverbs_destroy_cq_resp)),
		      .make = make_cq },
	[KIND_QP] = { UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, .fake = FAKE_QP,
		      ANSWERED(DESTROY_QP, 4), .make = make_qp },
	[KIND_SRQ] = { UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, .fake = FAKE_SRQ,
		       ANSWERED(DESTROY_SRQ, 4), .make = make_srq },
	[KIND_WQ] = { UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, .fake = FAKE_WQ,
		      .command = EX(DESTROY_WQ), .len = 8, .at = 4, .got = 4,
		      .resp = sizeof(struct ib_uverbs_ex_destroy_wq_resp),
		      .make = make_wq },
	[KIND_MR] = { UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, .fake = FAKE_MR,
		      PLAIN(DEREG_MR), .make = make_mr },
	[KIND_MW] = { UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, .fake = FAKE_MW,
		      PLAIN(DEALLOC_MW), .make = make_mw },
	[KIND_AH] = { UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, .fake = FAKE_AH,
		      PLAIN(DESTROY_AH), .make = make_ah },
	[KIND_XRCD] = { UVERBS_OBJECT_XRCD, UVERBS_METHOD_XRCD_DESTROY, .fake = FAKE_XRCD,
			PLAIN(CLOSE_XRCD), .make = make_xrcd },
	[KIND_DM] = { UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, .fake = FAKE_DM,
		      .make = make_dm },
	[KIND_COUNTERS] = { UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
			    .fake = FAKE_COUNTERS, .make = make_counters },
};

int race_destroy(struct commands *c, const struct race_kind *kind, u32 handle, bool ioctl)
{
	u32 cmd[4] = {}, resp[4];

	if (!ioctl && kind->command) {
		cmd[kind->at / 4] = handle;
		return commands_write(c, kind->command, cmd, kind->len, resp, kind->resp);
	}
	commands_begin(c, kind->object, kind->destroy);
	commands_obj(c, 0, handle);
	if (kind->resp)
		commands_out(c, 1, kind->got ?: kind->resp);
	return commands_ioctl(c);
}

int race_make_in_thread(struct racer *r)
{
	return r->kind->make(&r->c, queues.pd, queues.cq, &r->handle);
}

int race_destroy_in_thread(struct racer *r)
{
	return race_destroy(&r->c, r->kind, r->handle, r->ioctl);
}

int race_remove_in_thread(struct racer *r)
{
	ib_unregister_device(&r->c.hca->ibdev);
	return 0;
}

int race_close_in_thread(struct racer *r)
{
	uverbs_file_close(r->c.file);
	return 0;
}
