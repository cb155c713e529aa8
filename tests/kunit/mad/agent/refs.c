// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* One send under observation, and the steps that the scenarios share. */
#include <linux/kthread.h>
#include "refs.h"
#include "wait.h"

#define FAR_LID		0x777
#define RETURN_MS	(IBMAD_DRAIN_MS + 2 * IBMAD_FLUSH_MS)

struct refs_world refs;

static void refs_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	refs.status = wc->status;
	/* The last thing that a client does before its device is removed. */
	if (refs.removed) {
		rdma_destroy_ah(refs.ah, RDMA_DESTROY_AH_SLEEPABLE);
		refs.ah = NULL;
	}
	atomic_inc(&refs.told);
}

static void refs_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
			  struct ib_mad_recv_wc *wc)
{
	ib_free_recv_mad(wc);
	atomic_inc(&refs.received);
}

static enum fake_hca_verdict nobody_there(struct fake_hca *hca,
					  struct fake_hca_packet *packet, void *arg)
{
	return FAKE_DROP;
}

static struct ib_ah *refs_path(void)
{
	return mad_ah_to(refs.agent, FAR_LID);
}

int refs_open(const struct ib_mad_reg_req *req, u8 rmpp_version)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct ib_mad_reg_req want = *req;

	memset(&refs, 0, sizeof(refs));
	init_completion(&refs.returned);
	refs.hca = fake_hca_create(&params);
	if (!refs.hca)
		return -ENOMEM;
	refs.hca->verdict = nobody_there;
	refs.hca->hold_send_completions = true;
	refs.agent = ib_register_mad_agent(&refs.hca->ibdev, 1, IB_QPT_GSI, &want,
					   rmpp_version, refs_sent, refs_received,
					   NULL, 0);
	if (IS_ERR(refs.agent))
		return PTR_ERR(refs.agent);
	refs.memory = to_agent(refs.agent);
	refs.port = refs.memory->port;
	kref_get(&refs.port->kref);
	refs.port_refs = kref_read(&refs.port->kref);
	refs.ah = refs_path();
	return PTR_ERR_OR_ZERO(refs.ah);
}

void refs_close(struct kunit *test)
{
	if (refs.thread)
		deregistered(test);
	if (!refs.removed && refs.hca) {
		refs.hca->lose_completions = false;
		fake_hca_release_completions(refs.hca);
	}
	if (!IS_ERR_OR_NULL(refs.agent))
		ib_unregister_mad_agent(refs.agent);
	if (refs.buf)
		ib_free_send_mad(refs.buf);
	if (!IS_ERR_OR_NULL(refs.ah))
		rdma_destroy_ah(refs.ah, RDMA_DESTROY_AH_SLEEPABLE);
	if (!refs.removed && refs.hca)
		fake_hca_destroy(refs.hca);
	if (refs.port)
		ibmad_port_put(refs.port);
	memset(&refs, 0, sizeof(refs));
}

u64 refs_counter(enum ibmad_counter counter)
{
	return mad_counter(refs.agent, counter);
}

struct ibmad_send_slot *refs_slot(void)
{
	struct ibmad_qp *mqp = refs.memory->mqp;
	int i;

	for (i = 0; i < SEND_DEPTH; i++)
		if (mqp->send_slots[i].send == to_send(refs.buf))
			return &mqp->send_slots[i];
	return NULL;
}

/* ---- observation ---- */

static unsigned int count_list(const struct list_head *list,
			       const struct list_head *but, bool *found)
{
	const struct list_head *entry;
	unsigned int n = 0;

	list_for_each(entry, list) {
		if (entry == but)
			*found = true;
		else
			n++;
	}
	return n;
}

static unsigned int count_slots(const struct ibmad_qp *mqp,
				const struct ibmad_send *but, bool *found)
{
	unsigned int n = 0;
	int i;

	for (i = 0; i < SEND_DEPTH; i++) {
		const struct ibmad_send *send = mqp->send_slots[i].send;

		if (!send)
			continue;
		if (send == but)
			*found = true;
		else
			n++;
	}
	return n;
}

/*
 * The list of the port that the send is on, and the number of
 * other sends, also of those on the QP.
 */
static enum refs_place refs_place(unsigned int *others, unsigned int *others_on_qp)
{
	struct ibmad_send *send = refs.buf ? to_send(refs.buf) : NULL;
	struct list_head *link = send ? &send->port_link : NULL;
	struct ibmad_qp *mqp = refs.memory->mqp;
	bool in_lane = false, on_qp = false;
	int i;

	*others = 0;
	spin_lock_irq(&mqp->send_lock);
	for (i = 0; i < IBMAD_NR_LANES; i++)
		*others += count_list(&mqp->lane[i], link, &in_lane);
	*others_on_qp = count_slots(mqp, send, &on_qp);
	*others += *others_on_qp;
	spin_unlock_irq(&mqp->send_lock);
	return on_qp ? ON_QP : in_lane ? IN_LANE : NOWHERE;
}

static bool refs_listed(void)
{
	bool found = false;

	spin_lock_irq(&refs.memory->lock);
	if (refs.buf)
		count_list(&refs.memory->sends, &to_send(refs.buf)->agent_link, &found);
	spin_unlock_irq(&refs.memory->lock);
	return found;
}

static void expect_send(struct kunit *test, const struct refs_step *step, int n)
{
	struct ibmad_send *send = to_send(refs.buf);

	KUNIT_EXPECT_EQ_MSG(test, refcount_read(&send->refs), step->send, "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, (enum ibmad_send_state)send->state, step->state,
			    "step %d", n);
	/*
	 * The send is on its agent's list until completion, on the port's as @step says.
	 */
	KUNIT_EXPECT_EQ_MSG(test, refs_listed(), step->state != IBMAD_IDLE,
			    "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, send->place == IBMAD_IN_LANE, step->place == IN_LANE,
			    "step %d", n);
	/* The timer runs, and holds a reference, while the send waits for the peer. */
	if (step->state == IBMAD_WAITING)
		KUNIT_EXPECT_TRUE_MSG(test, timer_pending(&send->timer), "step %d", n);
	if (step->state == IBMAD_IDLE)
		KUNIT_EXPECT_FALSE_MSG(test, timer_pending(&send->timer) || send->matchable,
				       "step %d", n);
}

static void expect_step(struct kunit *test, const struct refs_step *step, int n)
{
	unsigned int others, others_on_qp;
	enum refs_place place;

	KUNIT_EXPECT_EQ_MSG(test, kref_read(&refs.port->kref), refs.port_refs,
			    "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, atomic_read(&refs.told), step->told, "step %d", n);
	if (step->told)
		KUNIT_EXPECT_EQ_MSG(test, refs.status, step->status, "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, !refs.memory, !step->memory, "step %d", n);
	if (!refs.memory)
		return;
	KUNIT_EXPECT_EQ_MSG(test, refcount_read(&refs.memory->refs), step->agent,
			    "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, kref_read(&refs.memory->kref), step->memory,
			    "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, !refs.buf, !step->send, "step %d", n);
	if (refs.buf)
		expect_send(test, step, n);
	if (refs.removed)
		return;
	place = refs_place(&others, &others_on_qp);
	KUNIT_EXPECT_EQ_MSG(test, place, step->place, "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, others, step->others, "step %d", n);
	KUNIT_EXPECT_EQ_MSG(test, refs.memory->mqp->inflight,
			    others_on_qp + (place == ON_QP), "step %d", n);
}

static void quiesce(void)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (!refs.removed) {
			fake_hca_flush(refs.hca);
			flush_work(&refs.port->qp[1].recover_work);
		}
		msleep(20);
	}
}

void refs_run(struct kunit *test, const struct refs_step *steps)
{
	int i;

	for (i = 0; steps[i].act; i++) {
		steps[i].act(test);
		quiesce();
		expect_step(test, &steps[i], i);
	}
}

/* ---- MADs ---- */

struct ib_mad_send_buf *refs_mad(u8 method, int rmpp, int len)
{
	u8 mgmt_class = refs.memory->mgmt_class;
	int hdr_len = ib_get_mad_data_offset(mgmt_class);
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	buf = ib_create_send_mad(refs.agent, 1, 0, rmpp, hdr_len,
				 rmpp ? len : IB_MGMT_MAD_SIZE - hdr_len, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return NULL;
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = mgmt_class;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = method;
	mad->mad_hdr.tid = cpu_to_be64((u64)refs.agent->hi_tid << 32 | 1);
	if (mgmt_class == REFS_CLASS)
		mad->oui[2] = 5;
	buf->ah = refs.ah;
	return buf;
}

void refs_post(struct kunit *test, struct ib_mad_send_buf *buf)
{
	KUNIT_ASSERT_NOT_NULL(test, buf);
	refs.buf = buf;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
}

void refs_inject(u8 method, u8 rmpp_type, u8 rmpp_flags, u32 seg, u32 paylen_newwin)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = FAR_LID };
	union {
		struct ib_rmpp_mad rmpp;
		struct ib_vendor_mad vendor;
		u8 raw[IB_MGMT_MAD_SIZE];
	} mad = {};

	memcpy(&mad.rmpp.mad_hdr, refs.buf->mad, sizeof(mad.rmpp.mad_hdr));
	mad.rmpp.mad_hdr.method = method;
	if (rmpp_type) {
		mad.vendor.oui[2] = 5;
		mad.rmpp.rmpp_hdr.rmpp_version = IB_MGMT_RMPP_VERSION;
		mad.rmpp.rmpp_hdr.rmpp_type = rmpp_type;
		mad.rmpp.rmpp_hdr.rmpp_rtime_flags =
			IB_MGMT_RMPP_FLAG_ACTIVE | rmpp_flags;
		if (rmpp_type == IB_MGMT_RMPP_TYPE_STOP)
			mad.rmpp.rmpp_hdr.rmpp_status = IB_MGMT_RMPP_STATUS_RESX;
		else if (rmpp_type == IB_MGMT_RMPP_TYPE_ABORT)
			mad.rmpp.rmpp_hdr.rmpp_status = IB_MGMT_RMPP_STATUS_UNSPEC;
		mad.rmpp.rmpp_hdr.seg_num = cpu_to_be32(seg);
		mad.rmpp.rmpp_hdr.paylen_newwin = cpu_to_be32(paylen_newwin);
	}
	fake_hca_inject(refs.hca, 1, &like, &mad, sizeof(mad));
}

/* ---- steps ---- */

void completed(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, fake_hca_complete_held(refs.hca->special[1][1],
						       IB_WC_SUCCESS));
	while (fake_hca_complete_held(refs.hca->special[1][1], IB_WC_SUCCESS))
		;
}

void failed(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, fake_hca_complete_held(refs.hca->special[1][1],
						       IB_WC_LOC_QP_OP_ERR));
}

/* As if a work request before it, of another send, had failed. */
void flushed(struct kunit *test)
{
	fake_hca_qp_error(refs.hca->special[1][1], IB_QPS_SQE);
}

void fatal(struct kunit *test)
{
	fake_hca_qp_event(refs.hca->special[1][1], IB_EVENT_QP_FATAL);
}

void lost(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, fake_hca_lose_held(refs.hca->special[1][1]));
}

void queue_held(struct kunit *test)
{
	struct ibmad_qp *mqp = refs.memory->mqp;

	spin_lock_irq(&mqp->send_lock);
	mqp->state = IBMAD_QP_HELD;
	spin_unlock_irq(&mqp->send_lock);
}

/* A receive in error starts a recovery, which finds the QP in order and opens it. */
void queue_opened(struct kunit *test)
{
	struct fake_hca_packet like = { .src_qpn = 1, .slid = FAR_LID };
	u8 too_long[IB_MGMT_MAD_SIZE + 8] = {};

	fake_hca_inject(refs.hca, 1, &like, too_long, sizeof(too_long));
}

/* The send or its segments are sent again, or it fails. */
void timed_out(struct kunit *test)
{
	struct ibmad_send *send = to_send(refs.buf);

	KUNIT_ASSERT_TRUE(test, timer_pending(&send->timer));
	/* The timeout is ten seconds at most, and may be an eighth late. */
	KUNIT_EXPECT_TRUE(test, wait_within(!timer_pending(&send->timer), 12000));
}

void cancelled(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_modify_mad(refs.buf, 0), 0);
}

void cancelled_in_vain(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ib_modify_mad(refs.buf, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(refs.buf, 1000), -EINVAL);
}

static int deregister_thread(void *arg)
{
	ib_unregister_mad_agent(refs.agent);
	complete_all(&refs.returned);
	return 0;
}

/* Without a send deregistration does not wait, and the agent's memory is freed. */
void deregister(struct kunit *test)
{
	struct task_struct *thread = kthread_create(deregister_thread, NULL, "refs");

	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	refs.thread = get_task_struct(thread);
	wake_up_process(thread);
	if (!refs.buf)
		deregistered(test);
}

void still_deregistering(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, completion_done(&refs.returned));
}

/* Deregistration returns within its bound. */
void deregistered(struct kunit *test)
{
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&refs.returned,
							  msecs_to_jiffies(RETURN_MS)), 0);
	kthread_stop_put(refs.thread);
	refs.thread = NULL;
	refs.agent = NULL;
	if (refs.buf) {
		/* No work of the agent is pending, though its memory remains. */
		KUNIT_EXPECT_FALSE(test, delayed_work_pending(&refs.memory->rmpp.reap));
		return;
	}
	refs.memory = NULL;
	refs.port_refs--;
}

/* The client did not deregister its agent before. */
void adapter_removed(struct kunit *test)
{
	refs.removed = true;
	if (!refs.buf || to_send(refs.buf)->state == IBMAD_IDLE) {
		rdma_destroy_ah(refs.ah, RDMA_DESTROY_AH_SLEEPABLE);
		refs.ah = NULL;
	}
	fake_hca_destroy(refs.hca);
	/* No work of the QP is pending. */
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&refs.port->qp[1].stall_work));
	/* References of the agent and of the test. */
	refs.port_refs = 2;
}

void send_freed(struct kunit *test)
{
	ib_free_send_mad(refs.buf);
	refs.buf = NULL;
	if (refs.agent)
		return;
	refs.memory = NULL;
	refs.port_refs--;
}
