// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * When an unanswered REQ, REP, DREQ or SIDR_REQ is sent again (IBA vol. 1, 12.9.8.1).
 *
 * The first retries are early, so that a lost message costs a few round trips, or twice
 * the packet lifetime where those are not measured, not the negotiated timeout of seconds
 * (ibcm_first_wait_ms()).  The waits double up to that timeout.  At most half of the
 * retries are early, so that the others, seconds apart, bridge a fabric that is down.  The
 * last wait takes what remains of the time that the protocol allows.  There are never more
 * retries than Max CM Retries.
 *
 * During the time that an MRA asks for, the message is resent at the negotiated timeout:
 * MRAs ask for more than a minute, and the answer that ends the wait may be lost.  A REQ is
 * resent after a quarter of the MRA's time, and then after waits that double: the peer
 * resends its REP by itself, so that only a REJ depends on another REQ, and each REQ costs
 * a peer with a long backlog an MRA of its own.  Such retries do not count.  The waits do,
 * except that one more timeout is left for when the MRA's time is over: early retries are
 * what MRAs are sent for, by a peer whose consumer takes a while, and a peer that dies then
 * must not be waited for twice as long.
 *
 * The MRA of such a REQ proves that the peer lives and has not forgotten the request, so
 * that its time begins anew, as often as the REQ could have been resent.  In a storm, a
 * consumer gets to some requests only after minutes.
 */
#include "ibcm/id.h"
#include "ibcm/port.h"
#include "messages/messages.h"
#include "trace.h"

#define IBCM_MIN_WAIT_MS	10

/*
 * The longest first wait on a port where no answer was measured yet.  The fabric may take
 * up to twice the packet lifetime, on RoCE 537 ms by convention; answers usually take a
 * few milliseconds.  A message that is resent too early costs one MAD and its response,
 * and the next waits are 80 and 160 ms: a peer that takes a second gets four copies that
 * it does not need, until its answers have been measured.  In return a lost message is
 * made up for before a consumer notices.
 */
#define IBCM_UNKNOWN_WAIT_MS	40

/*
 * A REQ that arrives after it was rejected, or a SIDR_REQ after it was answered, is a new
 * request to the peer's consumer.  So the first one is resent when the fabric cannot hold
 * the first try any more, and not before this time.
 */
#define IBCM_UNKNOWN_REQUEST_WAIT_MS	100

/*
 * The shortest first wait of a REQ where answers were measured.  One that is lost twice
 * costs three times as much, which users do not notice yet.  A peer whose consumers
 * usually decide in milliseconds may have one that takes longer, and then rejects: the
 * more time it has, the fewer copies follow its REJ.
 */
#define IBCM_REQ_WAIT_MS	80

/*
 * The least wait after a retry that is not early, unless the negotiated timeout is less:
 * the timeout that most consumers ask for, 4.096 us * 2^20.  A peer may ask for hours.
 */
#define IBCM_LATE_WAIT_MS	4295ULL

/* Doubled that often, any first wait has reached its upper bound. */
#define IBCM_MAX_DOUBLINGS	20

/*
 * Returns four times the average time in which messages of @kind are answered on this
 * port, doubled for each exchange in a row in which the wait was too short.  A REP or DREQ
 * need not wait longer than twice the packet lifetime, however late it is answered: its
 * copies cost little.  A REQ may wait for the consumer's timeout: in a storm each copy
 * costs the peer, which is late already, an MRA.  SIDR_REQs are not measured.
 */
unsigned int ibcm_first_wait_ms(const struct ibcm_id *id, const struct ibcm_port *port,
				enum ibcm_kind kind)
{
	const struct ibcm_answer_time *time = &port->answer_times[kind];
	unsigned int round_trip = ibcm_time_ms(id->av.packet_life_time + 1);
	unsigned int unknown, least, most;
	u32 usecs = READ_ONCE(time->usecs);
	u64 ms;

	if (kind == IBCM_REQ || kind == IBCM_SIDR_REQ) {
		unknown = max(round_trip, IBCM_UNKNOWN_REQUEST_WAIT_MS);
		least = IBCM_REQ_WAIT_MS;
		most = id->timeout_ms;
	} else {
		unknown = IBCM_UNKNOWN_WAIT_MS;
		least = IBCM_MIN_WAIT_MS;
		most = max(round_trip, IBCM_MIN_WAIT_MS);
	}
	ms = usecs ? max(usecs / (USEC_PER_MSEC / 4), least) : unknown;
	return min3(ms << READ_ONCE(time->too_short), (u64)most, (u64)id->timeout_ms);
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_first_wait_ms);

/* The time that the protocol allows for all tries. */
static u64 ibcm_budget_ms(const struct ibcm_id *id)
{
	return (u64)id->timeout_ms * (id->max_cm_retries + 1);
}

/* Returns how long to wait after try number @msg->tries, 0 to max_cm_retries. */
unsigned int ibcm_wait_ms(const struct ibcm_id *id, const struct ibcm_msg *msg)
{
	u64 budget = ibcm_budget_ms(id);
	u64 left = budget - min_t(u64, msg->waited_ms, budget - 1);
	u64 ms;

	if (msg->tries >= id->max_cm_retries)
		return left;
	ms = (u64)ibcm_first_wait_ms(id, msg->port, msg->kind) << msg->tries;
	if (msg->tries >= (id->max_cm_retries + 1) / 2)
		ms = max(ms, IBCM_LATE_WAIT_MS);
	return min3(ms, (u64)id->timeout_ms, left);
}
EXPORT_SYMBOL_IF_KUNIT(ibcm_wait_ms);

/*
 * Returns how long to wait next during the time that an MRA asked for, for a REQ @ms if
 * that is longer than a quarter of it; 0 if that time is over or there was no MRA.  Caller
 * holds id->lock.
 */
static unsigned int ibcm_mra_wait_ms(const struct ibcm_id *id, struct ibcm_msg *msg,
				     unsigned int ms)
{
	unsigned int left;

	lockdep_assert_held(&id->lock);
	if (msg->mraed && time_after_eq(jiffies, msg->mra_end))
		msg->mraed = false;
	if (!msg->mraed)
		return 0;
	left = jiffies_to_msecs(msg->mra_end - jiffies);
	ms = msg->kind == IBCM_REQ ? max(ms, msg->mra_ms / 4) : 0;
	return clamp(left, 1U, max3(ms, id->timeout_ms, 1U));
}

/* The wait for the answer to @msg was too short.  Caller holds its id's lock. */
static void ibcm_wait_was_short(const struct ibcm_msg *msg)
{
	struct ibcm_answer_time *time = &msg->port->answer_times[msg->kind];

	WRITE_ONCE(time->too_short, min(READ_ONCE(time->too_short) + 1, IBCM_MAX_DOUBLINGS));
}

/*
 * An MRA asks for @ms before the response to @msg, which ibcm_is_retried().  Returns how
 * long to wait first.  The RDMA CM sends an MRA only to copies of a REQ that it has: then
 * nothing was lost, and the peer's consumer is slow.  Caller holds id->lock.
 */
unsigned int ibcm_mraed(struct ibcm_id *id, struct ibcm_msg *msg, unsigned int ms)
{
	if (msg->kind == IBCM_REQ && msg->tries)
		ibcm_wait_was_short(msg);
	msg->mraed = true;
	msg->mra_ms = ms;
	msg->mra_end = jiffies + msecs_to_jiffies(ms);
	return ibcm_mra_wait_ms(id, msg, 0);
}

/*
 * An MRA of a copy of @msg, a REQ, asks for @ms from now.  One that came soon after the
 * last is of a copy that was sent before it, and does not count.  Caller holds id->lock.
 */
void ibcm_mraed_again(struct ibcm_id *id, struct ibcm_msg *msg, unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);

	lockdep_assert_held(&id->lock);
	if (msg->mra_renewals >= id->max_cm_retries ||
	    time_before(end, msg->mra_end + msecs_to_jiffies(msg->mra_ms / 8)))
		return;
	msg->mra_renewals++;
	msg->mraed = true;
	msg->mra_end = end;
}

/*
 * Prepares @msg for its next posting; false if its retries are used up.  Caller holds
 * id->lock.
 */
static bool ibcm_next_try(struct ibcm_id *id, struct ibcm_msg *msg)
{
	u64 budget = ibcm_budget_ms(id), waited = msg->waited_ms + msg->buf->timeout_ms;
	bool mraed = msg->mraed;
	unsigned int ms = ibcm_mra_wait_ms(id, msg, 2 * msg->buf->timeout_ms);

	if (mraed)
		waited = max_t(u64, msg->waited_ms,
			       min_t(u64, waited, budget - id->timeout_ms));
	msg->waited_ms = waited;
	if (!ms) {
		if (msg->tries >= id->max_cm_retries || waited >= budget)
			return false;
		msg->tries++;
		ms = ibcm_wait_ms(id, msg);
	}
	msg->resent++;
	msg->buf->timeout_ms = ms;
	msg->buf->retries = 0;
	return true;
}

/*
 * Whether @msg still waits for its answer.  A DREQ does so after the id's destruction,
 * until it is stopped (dreq.c).  Caller holds id->lock.
 */
static bool ibcm_is_outstanding(const struct ibcm_id *id, const struct ibcm_msg *msg)
{
	if (msg->kind == IBCM_DREQ)
		return !READ_ONCE(msg->stopped);
	return id->msg == msg;
}

static void ibcm_count_retry(const struct ibcm_msg *msg)
{
	ibcm_count(msg->port, IBCM_TX_MSGS, msg->kind);
	ibcm_count(msg->port, IBCM_TX_RETRIES, msg->kind);
	trace_icm_resend(&msg->id->id, ibcm_kind_name(msg->kind), READ_ONCE(msg->resent));
	if (msg->kind != IBCM_REP)
		return;
	ibcm_stat(msg->port, IBCM_STAT_REP_RESENT);
	trace_icm_send_dup_rep(&msg->id->id);
}

/*
 * @msg was not answered in time.  Posts it again if it is still outstanding and has
 * retries left, and returns whether it did.  The caller owns the MAD layer's reference,
 * which the new posting then takes over.
 */
bool ibcm_retry(struct ibcm_msg *msg)
{
	struct ibcm_id *id = msg->id;
	unsigned long flags;
	bool again = false;
	int idx;

	idx = srcu_read_lock(&ibcm_srcu);
	spin_lock_irqsave(&id->lock, flags);
	if (ibcm_is_outstanding(id, msg) && rcu_access_pointer(msg->port->agent))
		again = ibcm_next_try(id, msg);
	spin_unlock_irqrestore(&id->lock, flags);

	if (again) {
		/* The MAD layer's reference may be put as soon as the message is posted. */
		refcount_inc(&msg->ref);
		again = !ib_post_send_mad(msg->buf, NULL);
		if (again) {
			ibcm_count_retry(msg);
			smp_mb();	/* pairs with ibcm_msg_stop() */
			if (READ_ONCE(msg->stopped))
				ib_cancel_mad(msg->buf);
		}
		ibcm_msg_put(msg);
	}
	srcu_read_unlock(&ibcm_srcu, idx);
	return again;
}

/*
 * @msg, a REQ, REP or DREQ, was answered, perhaps by a REJ, while the id was in state @from.
 * Adds the time that the answer took to the port's average, unless the peer had asked for
 * more time by an MRA: such times show how slow the peer's consumer is.
 *
 * If the message was resent, the answer may be to any of the copies, so its time does not
 * count.  Whether messages were lost or the peer is slow, the next first wait is twice as
 * long, until a message is answered that was not resent.  So the wait grows until the
 * time of a slow peer is measured, and a peer that is slow because of its load does not
 * get more of it; and messages that are lost now and then do not make the average longer.
 * Two peers that reject each other's REQs, and whose copies come after the REJs, thus wait
 * until none does.
 *
 * Connections established without an RTU do not count.  Data arrives when the peer's
 * consumer sends it, and a probe of the PSN finds it at the end of the wait, which is
 * four times the average: the average would only confirm itself, four times over.  An
 * RTU after such a proof does not count either, as it may answer any REP.  So slow RTUs
 * are not measured if data is faster, and the average is too short.  That costs probes,
 * which find the data, but no REPs.  If probes find no data, RTUs are measured as usual.
 * No wait is below IBCM_MIN_WAIT_MS.
 *
 * Caller holds id->lock.  Other ids may write the port's average at the same time; a lost
 * update does not matter.
 */
void ibcm_answered(const struct ibcm_id *id, const struct ibcm_msg *msg,
		   enum ib_cm_state from)
{
	struct ibcm_answer_time *time = &msg->port->answer_times[msg->kind];
	u32 old = READ_ONCE(time->usecs);
	s64 now;

	lockdep_assert_held(&id->lock);
	if (from != IB_CM_REQ_SENT && from != IB_CM_REP_SENT && from != IB_CM_DREQ_SENT)
		return;
	if (msg->tries) {
		ibcm_wait_was_short(msg);
		return;
	}
	WRITE_ONCE(time->too_short, 0);
	now = clamp_t(s64, ktime_us_delta(ktime_get(), msg->sent), 1, U32_MAX / 8);
	WRITE_ONCE(time->usecs, old ? max_t(u32, old - old / 8 + now / 8, 1) : now);
}
