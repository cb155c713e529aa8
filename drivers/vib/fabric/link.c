// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links: what joins two ports, and how they come up and go down together.
 *
 * A link that is plugged in trains by itself, in a work item: it comes up when both ports
 * are polling and it is not cut, and both are in Init then.  When either end leaves
 * LinkUp, the other does as well, and what is on the link is discarded.
 */
#include "fabric/fabric.h"

static bool link_wants_up(const struct vib_link *link)
{
	unsigned int i;
	u8 phys;

	for (i = 0; i < 2; i++) {
		phys = READ_ONCE(link->end[i]->phys_state);
		if (phys != IB_PORT_PHYS_STATE_POLLING && phys != IB_PORT_PHYS_STATE_LINK_UP)
			return false;
	}
	return !link->cut && vib_ports_agree(link->end[0], link->end[1]);
}

static void link_down(struct vib_link *link)
{
	lockdep_assert_held(&link->fabric->lock);
	if (!link->up)
		return;
	link->up = false;
	vib_port_link_down(link->end[0]);
	vib_port_link_down(link->end[1]);
	vib_port_link_changed(link->end[0], false);
	vib_port_link_changed(link->end[1], false);
	/* All other links wait for the lock meanwhile. */
	synchronize_rcu_expedited();
	vib_fault_reset(&link->fault);
	vib_tx_reset(&link->end[0]->tx);
	vib_tx_reset(&link->end[1]->tx);
}

/* A port that has left Polling by now queues the work again when it comes back. */
static void link_up(struct vib_link *link)
{
	lockdep_assert_held(&link->fabric->lock);
	if (!vib_port_link_up(link->end[0], link->end[1]))
		return;
	if (!vib_port_link_up(link->end[1], link->end[0])) {
		vib_port_link_undo(link->end[0]);
		return;
	}
	link->up = true;
	rcu_assign_pointer(link->end[0]->peer, link->end[1]);
	rcu_assign_pointer(link->end[1]->peer, link->end[0]);
	vib_port_link_changed(link->end[0], true);
	vib_port_link_changed(link->end[1], true);
}

static void link_train(struct work_struct *work)
{
	struct vib_link *link = container_of(work, struct vib_link, train);

	mutex_lock(&link->fabric->lock);
	/* A node that was removed has taken its links with it. */
	if (list_empty(&link->entry))
		goto out;
	if (READ_ONCE(link->end[0]->state) == IB_PORT_DOWN ||
	    READ_ONCE(link->end[1]->state) == IB_PORT_DOWN || !link_wants_up(link))
		link_down(link);
	if (!link->up && link_wants_up(link))
		link_up(link);
out:
	mutex_unlock(&link->fabric->lock);
}

void vib_link_train(struct vib_port *port)
{
	struct vib_link *link;

	rcu_read_lock();
	link = rcu_dereference(port->link);
	if (link)
		queue_work(system_long_wq, &link->train);
	rcu_read_unlock();
}

void vib_link_init(struct vib_link *link, struct vib_fabric *fabric)
{
	link->fabric = fabric;
	INIT_LIST_HEAD(&link->entry);
	INIT_WORK(&link->train, link_train);
	link->up = false;
	link->cut = false;
	RCU_INIT_POINTER(link->captured.monitor, NULL);
	vib_fault_init(&link->fault);
}

int vib_link_plug(struct vib_link *link, struct vib_port *a, struct vib_port *b)
{
	lockdep_assert_held(&link->fabric->lock);
	if (a == b || !a->num || !b->num)
		return -EINVAL;
	if (rcu_access_pointer(a->link) || rcu_access_pointer(b->link))
		return -EBUSY;
	link->end[0] = a;
	link->end[1] = b;
	list_add_tail(&link->entry, &link->fabric->links);
	vib_fault_plug(&link->fault, &a->tx, &b->tx);
	rcu_assign_pointer(a->link, link);
	rcu_assign_pointer(b->link, link);
	queue_work(system_long_wq, &link->train);
	return 0;
}

void vib_link_detach(struct vib_link *link)
{
	lockdep_assert_held(&link->fabric->lock);
	if (list_empty(&link->entry))
		return;
	rcu_assign_pointer(link->end[0]->link, NULL);
	rcu_assign_pointer(link->end[1]->link, NULL);
	list_del_init(&link->entry);
	link_down(link);
	vib_fault_unplug(&link->fault);
}

/*
 * Why nothing uses the link afterwards: (1) neither port has it, and a grace period is over,
 * so vib_link_train() queues its work no more; (2) the work that was queued has ended;
 * (3) packets refer to ports and nodes, not to links; (4) its faults are used by nothing
 * any more, see vib_fault_stop().
 */
void vib_link_unplug(struct vib_link *link)
{
	mutex_lock(&link->fabric->lock);
	vib_link_detach(link);
	mutex_unlock(&link->fabric->lock);
	/* Expedited: fabrics have thousands of links, which are removed one after the other. */
	synchronize_rcu_expedited();
	cancel_work_sync(&link->train);
	vib_fault_stop(&link->fault);
}

bool vib_link_is_plugged(struct vib_link *link)
{
	bool plugged;

	mutex_lock(&link->fabric->lock);
	plugged = !list_empty(&link->entry);
	mutex_unlock(&link->fabric->lock);
	return plugged;
}

void vib_link_cut(struct vib_link *link, bool cut)
{
	mutex_lock(&link->fabric->lock);
	link->cut = cut;
	mutex_unlock(&link->fabric->lock);
	queue_work(system_long_wq, &link->train);
}
