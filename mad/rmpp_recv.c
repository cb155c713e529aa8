// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RMPP, the receiving side (IBA vol. 1, 13.6.4 and 13.6.6.1).
 *
 * A reassembly is found by TID, class, method and source in a hash table of its
 * agent's.  Only a first segment makes one, and for a response only while the
 * request it answers is outstanding; anything else is dropped unanswered.
 * Segments that come in order are chained to the first, those that overtook
 * others wait in an xarray.  Memory is bounded by the window of each transfer, by
 * the number of transfers, and by the bytes that are in reassemblies or that the
 * agent's client has yet to read, all per agent.  What nobody asked for may take
 * half of it at most.
 *
 * A finished reassembly lingers without its segments, to acknowledge again what
 * the sender repeats because our ACK was lost, or to take the same transfer anew if
 * its sender lacks the response.  Both lists are in the order of the
 * last activity, so the reaper looks at their heads alone.
 *
 * Everything here is protected by agent->rmpp_mutex: MADs come from the receive
 * CQ's work, the reaper is delayed work.
 */
#include <linux/slab.h>
#include "rmpp.h"

#define IBMAD_RMPP_WINDOW	64	/* segments granted beyond the last ACKed */
#define IBMAD_RMPP_RESERVE	32	/* left of a window when the next is granted */
#define IBMAD_RMPP_GAP_EARLY	3	/* early ones between two ACKs of one gap */
#define IBMAD_RMPP_MAX_RECVS	1024	/* reassemblies of an agent */
#define IBMAD_RMPP_MAX_SEGS	32768	/* segments of a transfer: 6 MiB */
#define IBMAD_RMPP_SILENCE_MS	20000	/* an unfinished one is given up */
#define IBMAD_RMPP_LINGER_MS	10000	/* a finished one is forgotten */

struct ibmad_rmpp_key {
	__be64 tid;
	union ib_gid sgid;		/* zero without a GRH */
	u32 slid;			/* zero with one */
	u32 src_qp;
	u8 mgmt_class;
	u8 method;
	u8 reserved[6];
};

struct ibmad_rmpp_recv {
	struct rhash_head node;		/* agent->rmpp_recvs */
	struct ibmad_rmpp_key key;	/* fixed */
	struct list_head link;		/* agent->rmpp_active or rmpp_done */
	struct ibmad_agent *agent;	/* outlives this: ibmad_rmpp_agent_exit() */
	struct ibmad_rmpp_ah *rah;	/* for the ACKs; fixed */
	struct ibmad_recv *first;	/* with the rest chained; NULL when done */
	struct xarray early;		/* out of order, by segment number */
	unsigned long seen;		/* jiffies of the last MAD of the transfer */
	u32 expected;			/* the next in order */
	u32 high;			/* the highest that came */
	u32 window;			/* the last segment granted */
	u32 last;			/* the number of segments; 0: not known */
	u32 gap;			/* the missing one that ACKs tell of; 0: none */
	u32 overtook;			/* early ones since the first told of it */
	u32 bytes;			/* first's chain and early, counted in agent */
	bool solicited;
	bool done;
};

static const struct rhashtable_params rmpp_params = {
	.key_len = sizeof_field(struct ibmad_rmpp_recv, key),
	.key_offset = offsetof(struct ibmad_rmpp_recv, key),
	.head_offset = offsetof(struct ibmad_rmpp_recv, node),
	.automatic_shrinking = true,
};

static struct ib_rmpp_mad *rmpp_mad(const struct ibmad_recv *recv)
{
	return (struct ib_rmpp_mad *)recv->mad;
}

static void rmpp_get_key(const struct ibmad_recv *recv,
			 struct ibmad_rmpp_key *key)
{
	const struct ib_mad_hdr *hdr = &rmpp_mad(recv)->mad_hdr;

	memset(key, 0, sizeof(*key));
	key->tid = hdr->tid;
	key->mgmt_class = hdr->mgmt_class;
	key->method = hdr->method;
	key->src_qp = recv->wc.src_qp;
	if (!ibmad_recv_sgid(recv, &key->sgid))
		key->slid = recv->wc.slid;
}

/* ---- the life of a reassembly ---- */

static void rmpp_free_segments(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_recv *recv;
	unsigned long seg_num;

	xa_for_each(&rr->early, seg_num, recv)
		ibmad_recv_free(recv);
	xa_destroy(&rr->early);
	if (rr->first)
		ib_free_recv_mad(&rr->first->recv_wc);
	rr->first = NULL;
	atomic_long_sub(rr->bytes, &rr->agent->rmpp_bytes);
	rr->bytes = 0;
}

static void rmpp_destroy(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_agent *agent = rr->agent;

	lockdep_assert_held(&agent->rmpp_mutex);
	rhashtable_remove_fast(&agent->rmpp_recvs, &rr->node, rmpp_params);
	list_del(&rr->link);
	agent->rmpp_nr--;
	rmpp_free_segments(rr);
	ibmad_rmpp_ah_put(rr->rah);
	/* Lookups are under the mutex too: no reader is left. */
	kfree(rr);
}

/* The transfer is alive: to the end of its list. */
static void rmpp_touch(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_agent *agent = rr->agent;

	rr->seen = jiffies;
	list_move_tail(&rr->link, rr->done ? &agent->rmpp_done :
					     &agent->rmpp_active);
}

/* Nothing of its segments has come yet. */
static void rmpp_begin(struct ibmad_rmpp_recv *rr)
{
	rr->expected = 1;
	rr->window = 1;
	rr->high = 0;
	rr->last = 0;
	rr->gap = 0;
	rr->done = false;
	rmpp_touch(rr);
}

/* Destroys what on @list has been silent for @ms; answers whether any is left. */
static bool rmpp_reap_list(struct ibmad_agent *agent, struct list_head *list,
			   unsigned int ms)
{
	struct ibmad_rmpp_recv *rr, *next;

	list_for_each_entry_safe(rr, next, list, link) {
		if (time_before(jiffies, rr->seen + msecs_to_jiffies(ms)))
			return true;
		if (!rr->done)
			ibmad_count(agent->port, IBMAD_RMPP_ABORTED);
		rmpp_destroy(rr);
	}
	return false;
}

static void rmpp_reap_work(struct work_struct *work)
{
	struct ibmad_agent *agent = container_of(to_delayed_work(work),
						 struct ibmad_agent, rmpp_reap);
	bool more;

	mutex_lock(&agent->rmpp_mutex);
	more = rmpp_reap_list(agent, &agent->rmpp_active, IBMAD_RMPP_SILENCE_MS);
	more |= rmpp_reap_list(agent, &agent->rmpp_done, IBMAD_RMPP_LINGER_MS);
	if (more && !agent->rmpp_closed)
		queue_delayed_work(ibmad_wq, &agent->rmpp_reap,
				   msecs_to_jiffies(IBMAD_RMPP_LINGER_MS));
	mutex_unlock(&agent->rmpp_mutex);
}

/* Room for one more reassembly; those that are finished give way. */
static bool rmpp_make_room(struct ibmad_agent *agent, bool solicited)
{
	unsigned int max = IBMAD_RMPP_MAX_RECVS / (solicited ? 1 : 2);
	struct ibmad_rmpp_recv *rr;

	while (agent->rmpp_nr >= max) {
		rr = list_first_entry_or_null(&agent->rmpp_done,
					      struct ibmad_rmpp_recv, link);
		if (!rr)
			return false;
		rmpp_destroy(rr);
	}
	return true;
}

static struct ibmad_rmpp_recv *rmpp_create(struct ibmad_agent *agent,
					   const struct ibmad_recv *recv,
					   enum ibmad_counter *fate)
{
	bool solicited = ib_response_mad(&rmpp_mad(recv)->mad_hdr);
	struct ibmad_rmpp_recv *rr;

	if (!rmpp_make_room(agent, solicited)) {
		*fate = IBMAD_RECV_OVERFLOW;
		return NULL;
	}
	rr = kzalloc(sizeof(*rr), GFP_KERNEL);
	if (!rr)
		return NULL;
	rr->rah = ibmad_rmpp_ah_create(agent, recv);
	if (!rr->rah)
		goto err_free;
	rmpp_get_key(recv, &rr->key);
	rr->agent = agent;
	rr->solicited = solicited;
	INIT_LIST_HEAD(&rr->link);
	xa_init(&rr->early);
	if (rhashtable_insert_fast(&agent->rmpp_recvs, &rr->node, rmpp_params))
		goto err_ah;
	agent->rmpp_nr++;
	rmpp_begin(rr);
	/* Does nothing if it is queued already. */
	queue_delayed_work(ibmad_wq, &agent->rmpp_reap,
			   msecs_to_jiffies(IBMAD_RMPP_LINGER_MS));
	return rr;

err_ah:
	ibmad_rmpp_ah_put(rr->rah);
err_free:
	kfree(rr);
	return NULL;
}

int ibmad_rmpp_agent_init(struct ibmad_agent *agent)
{
	if (!ib_mad_kernel_rmpp_agent(&agent->pub))
		return 0;
	mutex_init(&agent->rmpp_mutex);
	INIT_LIST_HEAD(&agent->rmpp_active);
	INIT_LIST_HEAD(&agent->rmpp_done);
	INIT_DELAYED_WORK(&agent->rmpp_reap, rmpp_reap_work);
	return rhashtable_init(&agent->rmpp_recvs, &rmpp_params);
}

/*
 * Why no reassembly remains: rmpp_closed keeps the receive path from making one
 * and the reaper from being queued; those there are were on one of the lists.
 */
void ibmad_rmpp_agent_exit(struct ibmad_agent *agent)
{
	struct ibmad_rmpp_recv *rr, *next;

	if (!ib_mad_kernel_rmpp_agent(&agent->pub))
		return;
	mutex_lock(&agent->rmpp_mutex);
	agent->rmpp_closed = true;
	list_splice_tail_init(&agent->rmpp_done, &agent->rmpp_active);
	list_for_each_entry_safe(rr, next, &agent->rmpp_active, link)
		rmpp_destroy(rr);
	mutex_unlock(&agent->rmpp_mutex);
	cancel_delayed_work_sync(&agent->rmpp_reap);
}

/* No reference on the agent is left, so no receive path is in its table. */
void ibmad_rmpp_agent_free(struct ibmad_agent *agent)
{
	if (!ib_mad_kernel_rmpp_agent(&agent->pub))
		return;
	rhashtable_destroy(&agent->rmpp_recvs);
	mutex_destroy(&agent->rmpp_mutex);
}

/* ---- DATA ---- */

static bool rmpp_out_of_memory(const struct ibmad_rmpp_recv *rr, u32 seg)
{
	unsigned long max = READ_ONCE(ibmad_rmpp_max_bytes);

	return seg > IBMAD_RMPP_MAX_SEGS ||
	       atomic_long_read(&rr->agent->rmpp_bytes) >=
	       (rr->solicited ? max : max / 2);
}

/* Why a segment cannot be true (13.6.5.2): an RMPP status, or SUCCESS. */
static u8 rmpp_check_data(const struct ibmad_rmpp_recv *rr,
			  const struct ib_rmpp_hdr *hdr)
{
	u8 flags = ib_get_rmpp_flags((struct ib_rmpp_hdr *)hdr);
	bool is_first = flags & IB_MGMT_RMPP_FLAG_FIRST;
	bool is_last = flags & IB_MGMT_RMPP_FLAG_LAST;
	u32 seg = be32_to_cpu(hdr->seg_num);

	if (hdr->rmpp_version != IB_MGMT_RMPP_VERSION)
		return IB_MGMT_RMPP_STATUS_UNV;
	if (hdr->rmpp_status)
		return IB_MGMT_RMPP_STATUS_BAD_STATUS;
	if (!seg || (is_first ? seg != 1 : seg == 1))
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (rr->last && (is_last ? seg != rr->last : seg >= rr->last))
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (is_last && seg < rr->high)
		return IB_MGMT_RMPP_STATUS_BAD_SEG;
	if (rmpp_out_of_memory(rr, seg))
		return IB_MGMT_RMPP_STATUS_RESX;
	return IB_MGMT_RMPP_STATUS_SUCCESS;
}

static void rmpp_chain(struct ibmad_rmpp_recv *rr, struct ibmad_recv *recv)
{
	if (!rr->first)
		rr->first = recv;
	else
		list_move_tail(&recv->recv_wc.recv_buf.list,
			       &rr->first->recv_wc.rmpp_list);
	rr->expected++;
}

/* Takes @recv if it is new and within the window. */
static bool rmpp_store(struct ibmad_rmpp_recv *rr, struct ibmad_recv *recv)
{
	u32 seg = be32_to_cpu(rmpp_mad(recv)->rmpp_hdr.seg_num);

	if (seg < rr->expected || seg > rr->window)
		return false;
	if (seg == rr->expected)
		rmpp_chain(rr, recv);
	else if (xa_insert(&rr->early, seg, recv, GFP_KERNEL))
		return false;
	rr->high = max(rr->high, seg);
	rr->bytes += recv->pool->mad_size;
	atomic_long_add(recv->pool->mad_size, &rr->agent->rmpp_bytes);

	while ((recv = xa_erase(&rr->early, rr->expected)))
		rmpp_chain(rr, recv);
	return true;
}

/* mad_len: the headers once, and the data of all segments; 0 if it cannot be. */
static int rmpp_total_len(const struct ibmad_rmpp_recv *rr)
{
	struct ibmad_recv *tail = list_last_entry(&rr->first->recv_wc.rmpp_list,
						  struct ibmad_recv,
						  recv_wc.recv_buf.list);
	struct ib_rmpp_mad *mad = rmpp_mad(tail);
	int hdr_len = ib_get_mad_data_offset(mad->mad_hdr.mgmt_class);
	int seg_size = rr->first->recv_wc.mad_seg_size - hdr_len;
	u32 class_len = hdr_len - IB_MGMT_RMPP_HDR;
	u32 paylen = be32_to_cpu(mad->rmpp_hdr.paylen_newwin);

	if (paylen < class_len || paylen > class_len + seg_size)
		return 0;
	return hdr_len + (rr->last - 1) * seg_size + paylen - class_len;
}

/* All is here: acknowledges it and gives it to the client.  What became of it. */
static enum ibmad_counter rmpp_finish(struct ibmad_rmpp_recv *rr)
{
	struct ibmad_recv *first = rr->first;
	struct ibmad_agent *agent = rr->agent;
	int len = rmpp_total_len(rr);
	bool delivered;

	if (!len) {
		ibmad_rmpp_send_abort(agent, first, rr->rah,
				      IB_MGMT_RMPP_STATUS_BAD_LEN);
		rmpp_destroy(rr);
		return IBMAD_RMPP_DROPPED;
	}
	ibmad_rmpp_send_ack(agent, first, rr->rah, rr->last, rr->last);
	ibmad_count(agent->port, IBMAD_RMPP_RECEIVED);
	first->recv_wc.mad_len = len;
	first->rmpp_bytes = rr->bytes;

	rr->first = NULL;
	rr->bytes = 0;
	rr->done = true;
	rmpp_touch(rr);

	if (rr->solicited)
		delivered = ibmad_send_answer(agent, first);
	else
		delivered = ibmad_deliver_recv(agent, first, NULL);
	if (delivered)
		return IBMAD_RMPP_SEGMENTS;
	atomic_long_sub(first->rmpp_bytes, &agent->rmpp_bytes);
	ib_free_recv_mad(&first->recv_wc);
	return rr->solicited ? IBMAD_RECV_UNMATCHED : IBMAD_RECV_OVERFLOW;
}

/*
 * How many ACKs the segment is worth that was stored last.  A missing one is told of
 * again and again, since that ACK and what it asks for can be lost as well, but only
 * for segments that are new: duplicates ask for nothing.  What fills the gap says so,
 * for there may be no other to come.
 */
static unsigned int rmpp_acks_due(struct ibmad_rmpp_recv *rr)
{
	u32 gap = rr->gap;

	if (xa_empty(&rr->early)) {
		rr->gap = 0;
		return gap || rr->expected + IBMAD_RMPP_RESERVE > rr->window;
	}
	if (gap == rr->expected) {
		rr->overtook++;
		return rr->last || rr->overtook % IBMAD_RMPP_GAP_EARLY == 0;
	}
	rr->gap = rr->expected;
	rr->overtook = 0;
	/* None may follow that would tell of it again. */
	return rr->last ? 2 : 1;
}

/* Where we are; grants as much as there is room for. */
static void rmpp_ack_progress(struct ibmad_rmpp_recv *rr)
{
	rr->window = rr->expected - 1 + IBMAD_RMPP_WINDOW;
	ibmad_rmpp_send_ack(rr->agent, rr->first, rr->rah, rr->expected - 1,
			    rr->window);
}

/* A segment of a transfer that is under way.  Answers whether it took @recv. */
static bool rmpp_segment(struct ibmad_rmpp_recv *rr, struct ibmad_recv *recv,
			 enum ibmad_counter *fate)
{
	struct ib_rmpp_hdr *hdr = &rmpp_mad(recv)->rmpp_hdr;
	struct ibmad_agent *agent = rr->agent;
	u32 seg = be32_to_cpu(hdr->seg_num);
	u8 why = rmpp_check_data(rr, hdr);
	unsigned int acks;

	if (why) {
		if (why == IB_MGMT_RMPP_STATUS_RESX)
			*fate = IBMAD_RECV_OVERFLOW;
		ibmad_rmpp_send_abort(agent, recv, rr->rah, why);
		rmpp_destroy(rr);
		return false;
	}
	rmpp_touch(rr);
	if (!rmpp_store(rr, recv)) {
		/* Sent again, so our ACK was lost; say where we are. */
		if (seg < rr->expected)
			ibmad_rmpp_send_ack(agent, recv, rr->rah,
					    rr->expected - 1, rr->window);
		return false;
	}
	if (ib_get_rmpp_flags(hdr) & IB_MGMT_RMPP_FLAG_LAST)
		rr->last = seg;

	*fate = IBMAD_RMPP_SEGMENTS;
	if (rr->last && rr->expected > rr->last)
		*fate = rmpp_finish(rr);
	else
		for (acks = rmpp_acks_due(rr); acks; acks--)
			rmpp_ack_progress(rr);
	return true;
}

/* The reassembly that @recv belongs to. */
static struct ibmad_rmpp_recv *rmpp_find(struct ibmad_agent *agent,
					 const struct ibmad_recv *recv)
{
	struct ibmad_rmpp_key key;

	rmpp_get_key(recv, &key);
	return rhashtable_lookup_fast(&agent->rmpp_recvs, &key, rmpp_params);
}

/* Whether the request that @recv is of is being answered by a transfer. */
static bool rmpp_is_answered(struct ibmad_agent *agent,
			     const struct ibmad_recv *recv)
{
	bool answered;

	spin_lock_irq(&agent->lock);
	answered = ibmad_send_match(agent, recv, true);
	spin_unlock_irq(&agent->lock);
	return answered;
}

/*
 * Whether @recv, a first segment of the finished @rr, begins another with its TID.  If
 * @rr had more of them it does: the others came because the first had been ACKed.
 */
static bool rmpp_begins_anew(const struct ibmad_rmpp_recv *rr,
			     const struct ibmad_recv *recv)
{
	struct ib_rmpp_mad *mad = rmpp_mad(recv);

	/* What a response answered is complete: the TID was used again. */
	if (rr->solicited)
		return true;
	/* Two responses with one TID would take each other's ACKs. */
	if (rmpp_is_answered(rr->agent, recv))
		return false;
	if (rr->last > 1 || !(ib_get_rmpp_flags(&mad->rmpp_hdr) &
			      IB_MGMT_RMPP_FLAG_LAST))
		return true;
	/*
	 * For want of its ACK or of its response: a request is given twice, as any
	 * that is one MAD, rather than never answered; what has no response is not.
	 */
	switch (mad->mad_hdr.method) {
	case IB_MGMT_METHOD_SEND:
	case IB_MGMT_METHOD_TRAP:
	case IB_MGMT_METHOD_TRAP_REPRESS:
		return false;
	default:
		return true;
	}
}

/* Answers whether it took @recv. */
static bool rmpp_data(struct ibmad_agent *agent, struct ibmad_recv *recv,
		      enum ibmad_counter *fate)
{
	bool solicited = ib_response_mad(&rmpp_mad(recv)->mad_hdr);
	bool first = rmpp_mad(recv)->rmpp_hdr.seg_num == cpu_to_be32(1);
	struct ibmad_rmpp_recv *rr;
	bool wanted;

	lockdep_assert_held(&agent->rmpp_mutex);
	/* Each segment of a response prolongs the wait for the rest. */
	wanted = !solicited || ibmad_send_refresh(agent, recv);
	rr = rmpp_find(agent, recv);
	if (rr && rr->done && wanted && first &&
	    rmpp_begins_anew(rr, recv))
		rmpp_begin(rr);
	if (!rr && wanted && first)
		rr = rmpp_create(agent, recv, fate);
	if (!rr)
		return false;
	if (rr->done) {
		rmpp_touch(rr);
		ibmad_rmpp_send_ack(agent, recv, rr->rah, rr->last, rr->last);
		return false;
	}
	if (!wanted) {
		/* The request was cancelled or has expired meanwhile. */
		ibmad_rmpp_send_abort(agent, recv, rr->rah,
				      IB_MGMT_RMPP_STATUS_UNSPEC);
		rmpp_destroy(rr);
		return false;
	}
	return rmpp_segment(rr, recv, fate);
}

/* ---- ACK, STOP, ABORT: what became of one ---- */

static enum ibmad_counter rmpp_ack(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	struct ib_rmpp_hdr *hdr = &rmpp_mad(recv)->rmpp_hdr;
	u8 why = IB_MGMT_RMPP_STATUS_SUCCESS;
	struct ibmad_send *send;
	unsigned int puts = 0;
	bool turn = false;

	spin_lock_irq(&agent->lock);
	send = ibmad_send_match(agent, recv, true);
	if (send)
		why = ibmad_rmpp_send_acked(agent, send, hdr, &puts, &turn);
	spin_unlock_irq(&agent->lock);

	if (why)
		ibmad_rmpp_send_abort(agent, recv, NULL, why);
	/* 13.6.4.2: the ACK of segment 0 lets the responder begin. */
	if (turn)
		ibmad_rmpp_send_ack(agent, recv, NULL, 0, 1);
	ibmad_agent_put_n(agent, puts);
	return send ? IBMAD_RMPP_CONTROLS : IBMAD_RMPP_DROPPED;
}

/*
 * The peer gave up: as the receiver of what is sent here, or as the sender of
 * what is reassembled here (whose request then has no response).
 */
static enum ibmad_counter rmpp_aborted(struct ibmad_agent *agent,
				       struct ibmad_recv *recv)
{
	u8 status = rmpp_mad(recv)->rmpp_hdr.rmpp_status;
	enum ibmad_counter fate = IBMAD_RMPP_DROPPED;
	struct ibmad_rmpp_recv *rr;
	struct ibmad_send *send;
	unsigned int puts = 0;

	lockdep_assert_held(&agent->rmpp_mutex);
	rr = rmpp_find(agent, recv);
	if (rr && !rr->done) {
		ibmad_count(agent->port, IBMAD_RMPP_ABORTED);
		rmpp_destroy(rr);
		fate = IBMAD_RMPP_CONTROLS;
	}
	spin_lock_irq(&agent->lock);
	send = ibmad_send_match(agent, recv, true);
	if (send) {
		puts = ibmad_rmpp_send_end(agent, send, IB_WC_REM_ABORT_ERR,
					   status);
		fate = IBMAD_RMPP_CONTROLS;
	}
	/* What it answers may have been a transfer as well, and be over. */
	if (ib_response_mad(&rmpp_mad(recv)->mad_hdr)) {
		unsigned int refused = ibmad_send_refused(agent, recv, status);

		if (refused)
			fate = IBMAD_RMPP_CONTROLS;
		puts += refused;
	}
	spin_unlock_irq(&agent->lock);
	ibmad_agent_put_n(agent, puts);
	return fate;
}

/* 13.6.2.1: no type that there is; a transfer in which it comes ends. */
static void rmpp_unknown(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	struct ibmad_rmpp_recv *rr = rmpp_find(agent, recv);

	lockdep_assert_held(&agent->rmpp_mutex);
	if (rr && !rr->done) {
		ibmad_rmpp_send_abort(agent, recv, rr->rah,
				      IB_MGMT_RMPP_STATUS_BADT);
		rmpp_destroy(rr);
	}
}

void ibmad_rmpp_receive(struct ibmad_agent *agent, struct ibmad_recv *recv)
{
	enum ibmad_counter fate = IBMAD_RMPP_DROPPED;
	bool taken = false;

	mutex_lock(&agent->rmpp_mutex);
	if (agent->rmpp_closed)
		goto unlock;
	switch (rmpp_mad(recv)->rmpp_hdr.rmpp_type) {
	case IB_MGMT_RMPP_TYPE_DATA:
		taken = rmpp_data(agent, recv, &fate);
		break;
	case IB_MGMT_RMPP_TYPE_ACK:
		fate = rmpp_ack(agent, recv);
		break;
	case IB_MGMT_RMPP_TYPE_STOP:
	case IB_MGMT_RMPP_TYPE_ABORT:
		fate = rmpp_aborted(agent, recv);
		break;
	default:
		rmpp_unknown(agent, recv);
		break;
	}
unlock:
	mutex_unlock(&agent->rmpp_mutex);
	ibmad_count(agent->port, fate);
	if (!taken)
		ibmad_recv_free(recv);
}
