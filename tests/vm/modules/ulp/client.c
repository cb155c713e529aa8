// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The active side: threads that make one connection after the other. */
#include <linux/kthread.h>
#include <linux/module.h>
#include "ulp.h"

static atomic_t next_cookie;

static int begin_resolve_addr(struct conn *conn, struct run *run)
{
	return rdma_resolve_addr(conn->id, (struct sockaddr *)&run->src,
				 (struct sockaddr *)&run->dst, 5000);
}

static int begin_resolve_route(struct conn *conn, struct run *run)
{
	return rdma_resolve_route(conn->id, 5000);
}

static int begin_connect(struct conn *conn, struct run *run)
{
	__be64 cookie = cpu_to_be64(conn->cookie);
	struct rdma_conn_param param;
	int ret = conn_make_verbs(conn);

	if (ret)
		return ret;
	conn_param(&param, &cookie);
	conn->started = ktime_get();
	conn->times = times_new(true);
	set_bit(CONN_CONNECTED, &conn->bits);
	return rdma_connect(conn->id, &param);
}

static int begin_exchange(struct conn *conn, struct run *run)
{
	return conn_exchange(conn);
}

static int begin_disconnect(struct conn *conn, struct run *run)
{
	times_ended(conn->times);
	return rdma_disconnect(conn->id);
}

/*
 * Begins one step, under the lock that keeps a release (a device is being removed) from
 * freeing what the step needs, then waits for its outcome.
 */
static int conn_step(struct conn *conn, struct run *run, struct completion *outcome,
		     int (*begin)(struct conn *conn, struct run *run))
{
	int ret = -ECONNABORTED;

	mutex_lock(&conn->lock);
	if (!test_bit(CONN_CLOSING, &conn->bits))
		ret = begin(conn, run);
	mutex_unlock(&conn->lock);
	if (ret) {
		if (ret != -ECONNABORTED) {
			ulp_count(ULP_SETUP_ERROR);
			pr_info("ibex_ulp: connecting: %ps: %d\n", begin, ret);
		}
		return ret;
	}
	if (!wait_for_completion_timeout(outcome, (unsigned long)ulp_wait_s * HZ)) {
		ulp_count(ULP_TIMEOUTS);
		return -ETIMEDOUT;
	}
	return outcome == &conn->event ? conn->status : 0;
}

static bool conn_talk(struct conn *conn, struct run *run)
{
	ktime_t start = ktime_get();
	int ret = conn_step(conn, run, &conn->echoed, begin_exchange);

	if (ret == -ETIMEDOUT)
		ulp_count(ULP_UNANSWERED);
	if (ret || !test_bit(CONN_ECHOED, &conn->bits))
		return false;
	atomic64_add(ktime_us_delta(ktime_get(), start), &ulp_exchange_us);
	return true;
}

/* Returns true if the connection is to be left standing. */
static bool conn_life(struct conn *conn, struct run *run)
{
	if (conn_step(conn, run, &conn->event, begin_resolve_addr) ||
	    conn_step(conn, run, &conn->event, begin_resolve_route) ||
	    conn_step(conn, run, &conn->event, begin_connect) ||
	    (!ulp_silent && !conn_talk(conn, run)))
		return false;
	if (ulp_hold)
		return true;
	if (ulp_abrupt || !conn_step(conn, run, &conn->over, begin_disconnect))
		ulp_count(ULP_COMPLETED);
	return false;
}

static void connect_one(struct run *run)
{
	struct conn *conn = conn_alloc(true);
	struct rdma_cm_id *id;

	ulp_count(ULP_ATTEMPTS);
	if (!conn) {
		ulp_count(ULP_SETUP_ERROR);
		return;
	}
	conn->cookie = (u64)atomic_inc_return(&next_cookie) << 8 | 0x5a;
	id = rdma_create_id(&init_net, conn_event, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id)) {
		ulp_count(ULP_SETUP_ERROR);
		conn_put(conn);
		return;
	}
	conn->id = id;
	kref_get(&conn->ref);
	if (conn_life(conn, run)) {
		conn_stand(conn);
	} else {
		conn_close(conn);
		wait_for_completion(&conn->released);
	}
	conn_put(conn);
}

static int connect_thread(void *arg)
{
	struct run *run = arg;

	while (atomic_dec_return(&run->left) >= 0)
		connect_one(run);
	if (atomic_dec_and_test(&run->threads))
		complete(&run->done);
	/* the module must outlive this thread's last instruction */
	module_put_and_kthread_exit(0);
}

static bool client_start(struct run *run, unsigned int number)
{
	struct task_struct *task;

	__module_get(THIS_MODULE);
	atomic_inc(&run->threads);
	task = kthread_run(connect_thread, run, "ibex_ulp/%u", number);
	if (!IS_ERR(task))
		return true;
	atomic_dec(&run->threads);
	module_put(THIS_MODULE);
	return false;
}

/* Returns when all connections are over, with the time that took in microseconds. */
u64 client_run(struct run *run, unsigned int parallel)
{
	ktime_t start = ktime_get();
	unsigned int i;

	init_completion(&run->done);
	atomic_set(&run->threads, 1);
	for (i = 0; i < parallel; i++)
		if (!client_start(run, i))
			break;
	if (!atomic_dec_and_test(&run->threads))
		wait_for_completion(&run->done);
	return ktime_us_delta(ktime_get(), start);
}
