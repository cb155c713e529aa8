// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What ids wait for.  In debugfs, ib_cm/waiting has a line for each id that waits; the
 * RDMA CM shows the same of its ids by netlink (rdma -dd resource show cm_id).
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <ibex/device.h>

#include "ibcm/id.h"
#include "messages/messages.h"

#define IBCM_NAMED(state, what)		\
	[IB_CM_##state] = { #state, what }

static const struct {
	const char *name;
	const char *for_what;
} ibcm_waits[IBCM_STATES] = {
	IBCM_NAMED(IDLE, NULL),
	IBCM_NAMED(LISTEN, NULL),
	IBCM_NAMED(REQ_SENT, "REP"),
	IBCM_NAMED(REQ_RCVD, "consumer"),
	IBCM_NAMED(MRA_REQ_SENT, "consumer"),
	IBCM_NAMED(MRA_REQ_RCVD, "REP"),
	IBCM_NAMED(REP_SENT, "RTU"),
	IBCM_NAMED(REP_RCVD, "consumer"),
	IBCM_NAMED(MRA_REP_SENT, "consumer"),
	IBCM_NAMED(MRA_REP_RCVD, "RTU"),
	IBCM_NAMED(ESTABLISHED, NULL),
	IBCM_NAMED(DREQ_SENT, "DREP"),
	IBCM_NAMED(DREQ_RCVD, "consumer"),
	IBCM_NAMED(TIMEWAIT, "timewait"),
	IBCM_NAMED(SIDR_REQ_SENT, "SIDR_REP"),
	IBCM_NAMED(SIDR_REQ_RCVD, "consumer"),
};

/* The alternate path of an established connection. */
static const char *ibcm_waits_of_lap(enum ib_cm_lap_state state)
{
	switch (state) {
	case IB_CM_LAP_SENT:
	case IB_CM_MRA_LAP_RCVD:
		return "APR";
	case IB_CM_LAP_RCVD:
	case IB_CM_MRA_LAP_SENT:
		return "consumer";
	default:
		return NULL;
	}
}

static void ibcm_wait_read(const struct ibcm_id *id, struct ibex_cm_wait *wait)
{
	const struct ibcm_msg *msg = id->msg;
	ktime_t sent;

	lockdep_assert_held(&id->lock);
	memset(wait, 0, sizeof(*wait));
	wait->state = ibcm_waits[id->id.state].name;
	wait->for_what = id->resolving ? "path" : ibcm_waits[id->id.state].for_what;
	if (id->id.state == IB_CM_ESTABLISHED)
		wait->for_what = ibcm_waits_of_lap(id->id.lap_state);
	if (!msg)
		return;
	wait->resent = msg->resent;
	/* 0 until it is posted. */
	sent = READ_ONCE(msg->sent);
	if (sent)
		wait->waited_ms = ktime_ms_delta(ktime_get(), sent);
}

/**
 * ibex_cm_query_wait - tell what an id waits for
 * @cm_id: The id.  It may be destroyed meanwhile, if the caller is in an RCU read section
 *	in which it found the id.
 * @wait: What it waits for, and for how long.
 *
 * Context: Any.
 */
void ibex_cm_query_wait(struct ib_cm_id *cm_id, struct ibex_cm_wait *wait)
{
	struct ibcm_id *id = to_ibcm(cm_id);
	unsigned long flags;

	spin_lock_irqsave(&id->lock, flags);
	ibcm_wait_read(id, wait);
	spin_unlock_irqrestore(&id->lock, flags);
}
EXPORT_SYMBOL(ibex_cm_query_wait);

/* A position in the file is the local communication id; 0, which no id has: the title. */
static void *ibcm_waiting_start(struct seq_file *seq, loff_t *pos)
{
	return *pos ? ibcm_id_from(pos) : SEQ_START_TOKEN;
}

static void ibcm_waiting_stop(struct seq_file *seq, void *v)
{
	if (v && v != SEQ_START_TOKEN)
		ibcm_id_put(v);
}

static void *ibcm_waiting_next(struct seq_file *seq, void *v, loff_t *pos)
{
	ibcm_waiting_stop(seq, v);
	++*pos;
	return ibcm_id_from(pos);
}

/* The device and port, which exist as long as @path, and the peer. */
static void ibcm_waiting_path(struct seq_file *seq, const struct ibcm_path *path)
{
	const struct ibcm_port *port = path->key.port;
	char device[IB_DEVICE_NAME_MAX];

	ibcore_device_name(port->dev->ibdev, device);
	seq_printf(seq, "%s %u ", device, port->num);
	if (rdma_ah_get_ah_flags(&path->ah_attr) & IB_AH_GRH)
		seq_printf(seq, "%pI6c ", &path->key.dgid);
	else
		seq_printf(seq, "lid:%u ", rdma_ah_get_dlid(&path->ah_attr));
}

static int ibcm_waiting_show(struct seq_file *seq, void *v)
{
	struct ibex_cm_wait wait;
	struct ibcm_path *path;
	struct ibcm_id *id = v;
	u32 qpn;

	if (v == SEQ_START_TOKEN) {
		seq_puts(seq, "device port peer local_id remote_id qpn state waits_for resent waited_ms\n");
		return 0;
	}
	spin_lock_irq(&id->lock);
	ibcm_wait_read(id, &wait);
	qpn = READ_ONCE(id->local_qpn);
	path = id->path;
	if (path)
		refcount_inc(&path->ref);
	spin_unlock_irq(&id->lock);
	if (wait.for_what) {
		if (path)
			ibcm_waiting_path(seq, path);
		else
			seq_puts(seq, "- - - ");
		seq_printf(seq, "%u %u %u %s %s %u %u\n", be32_to_cpu(id->id.local_id),
			   be32_to_cpu(READ_ONCE(id->id.remote_id)), qpn, wait.state,
			   wait.for_what, wait.resent, wait.waited_ms);
	}
	ibcm_path_put(path);
	return wait.for_what ? 0 : SEQ_SKIP;
}

static const struct seq_operations ibcm_waiting_sops = {
	.start = ibcm_waiting_start,
	.next = ibcm_waiting_next,
	.stop = ibcm_waiting_stop,
	.show = ibcm_waiting_show,
};
DEFINE_SEQ_ATTRIBUTE(ibcm_waiting);

/* Removed together with @dir, after which nobody reads it. */
void ibcm_waiting_init(struct dentry *dir)
{
	debugfs_create_file("waiting", 0400, dir, NULL, &ibcm_waiting_fops);
}
