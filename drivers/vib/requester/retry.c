// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Sending again (IBA vol. 1, 9.7.6.1.3, 9.7.5.2.8, 9.9.2.1).
 *
 * A connected QP has one timer, which is for one of two purposes:
 *
 *	retry	runs while packets are out that have not been acknowledged: started with the
 *		first of them, and again when it is over and something has been acknowledged
 *		meanwhile.  So it is over between one and two of its intervals after the
 *		last sign of life; the specification allows four.
 *	RNR	from an RNR NAK on, for as long as that says: nothing is sent, so there is
 *		nothing to retry.
 *
 * The timer itself only queues the QP's work, which looks whether it is over: it may have
 * been started anew by then.
 */
#include "requester/requester.h"

#define RNR_INFINITE	7	/* retries: no limit (9.9.2.1.1) */

/* ---- the timer ---- */

static enum hrtimer_restart timer_over(struct hrtimer *timer)
{
	struct vib_rc *rc = container_of(timer, struct vib_rc, req.timer);

	WRITE_ONCE(rc->req.timer_over, true);
	queue_work(vib_wq, &rc->qp->recv_work);
	return HRTIMER_NORESTART;
}

void vib_requester_timer_init(struct vib_qp *qp)
{
	struct hrtimer *timer = &qp->rc->req.timer;

	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	timer->function = timer_over;
}

static void timer_start(struct vib_requester *req, u64 ns)
{
	req->deadline = ktime_add_ns(ktime_get(), ns);
	req->progress = false;
	hrtimer_start(&req->timer, req->deadline, HRTIMER_MODE_ABS_SOFT);
}

/* The timer may be in progress: it finds nothing that it is for. */
static void timer_stop(struct vib_requester *req)
{
	if (!req->deadline)
		return;
	req->deadline = 0;
	hrtimer_try_to_cancel(&req->timer);
}

/* 4.096 us * 2^timeout (9.7.6.1.3); 0 is none. */
void vib_requester_watch(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	if (!req->deadline && qp->rc->timeout)
		timer_start(req, 4096ULL << qp->rc->timeout);
}

/*
 * Table 46 in units of 10 us: code 0 is the longest, 1 the shortest, and from 2 on each pair
 * of codes is 2 and 3 times a power of two.
 */
static u32 rnr_units(u8 code)
{
	switch (code) {
	case 0:
		return 65536;
	case 1:
		return 1;
	default:
		return (2 + (code & 1)) << (code / 2 - 1);
	}
}

u64 vib_rnr_ns(u8 timer)
{
	return rnr_units(timer & 31) * 10ULL * NSEC_PER_USEC;
}

/* ---- going back ---- */

/* Nothing is known of what was sent from una_psn on, and it is sent again. */
static void go_back(struct vib_requester *req)
{
	req->send_psn = req->una_psn;
	req->sending = req->una;
	req->since_ack_req = 0;
	req->resync = true;
}

static void give_up(struct vib_qp *qp, enum ib_wc_status status)
{
	struct vib_requester *req = &qp->rc->req;

	vib_request_fail(vib_request_at(qp, req->una), status);
	vib_requests_finish(qp);
}

void vib_requester_progress(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	req->retries = qp->rc->retry_cnt;
	req->rnr_retries = qp->rc->rnr_retry;
	req->progress = true;
	req->resync = false;
	/* What was to be sent again has come to be acknowledged. */
	if (vib_psn_diff(req->send_psn, req->una_psn) < 0) {
		req->send_psn = req->una_psn;
		req->sending = req->una;
	}
}

/* With an alternate path it begins anew there (17.2.8.1.3). */
void vib_requester_retry(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	/* Then nothing is out, and all is sent again by and by. */
	if (req->rnr_wait)
		return;
	if (req->retries) {
		req->retries--;
	} else if (vib_path_migrate(qp)) {
		req->retries = qp->rc->retry_cnt;
	} else {
		give_up(qp, IB_WC_RETRY_EXC_ERR);
		return;
	}
	go_back(req);
	timer_stop(req);
	vib_requester_watch(qp);
}

void vib_requester_rnr(struct vib_qp *qp, u8 timer)
{
	struct vib_requester *req = &qp->rc->req;

	vib_rc_count(qp, VIB_RC_RNR_NAK);
	if (req->rnr_wait)
		return;
	if (!req->rnr_retries) {
		give_up(qp, IB_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	if (req->rnr_retries != RNR_INFINITE)
		req->rnr_retries--;
	go_back(req);
	req->rnr_wait = true;
	timer_start(req, vib_rnr_ns(timer));
}

/* ---- the timer is over ---- */

void vib_requester_expired(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	req->deadline = 0;
	if (req->rnr_wait) {
		req->rnr_wait = false;
	} else if (req->una_psn == req->next_psn) {
		/* Nothing is out. */
		return;
	} else if (req->progress) {
		vib_requester_watch(qp);
	} else {
		vib_rc_count(qp, VIB_RC_TIMEOUT);
		vib_requester_retry(qp);
	}
}

void vib_requester_timer(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	if (!READ_ONCE(req->timer_over))
		return;
	WRITE_ONCE(req->timer_over, false);
	if (req->deadline && !ktime_before(ktime_get(), req->deadline))
		vib_requester_expired(qp);
}

void vib_requester_stop(struct vib_qp *qp)
{
	struct vib_requester *req = &qp->rc->req;

	timer_stop(req);
	req->rnr_wait = false;
}
