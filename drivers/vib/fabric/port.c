// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ports: their states (IBA vol. 1, 7.2), what passes in each, counters. */
#include <linux/percpu.h>
#include "fabric/fabric.h"

u64 vib_port_counter(const struct vib_port *port, enum vib_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(port->counters, cpu)->count[which];
	return sum;
}

bool vib_port_passes(const struct vib_port *port, const struct vib_packet *pkt)
{
	u8 state = READ_ONCE(port->state);

	if (pkt->vl == VIB_VL_MGMT)
		return state >= IB_PORT_INIT && pkt->len <= IB_MGMT_MAD_SIZE;
	if (pkt->len > ib_mtu_enum_to_int(READ_ONCE(port->mtu)) ||
	    pkt->vl >= READ_ONCE(port->op_vls))
		return false;
	/* Armed takes data in and sends none (7.2.7.4). */
	return state == IB_PORT_ACTIVE;
}

bool vib_port_takes(const struct vib_port *port, const struct vib_packet *pkt)
{
	u8 state = READ_ONCE(port->state);

	/* A packet of data makes an Armed port Active before it is here. */
	return pkt->vl == VIB_VL_MGMT ? state >= IB_PORT_INIT : state == IB_PORT_ACTIVE;
}

bool vib_port_has_gid(const struct vib_port *port, const union ib_gid *gid)
{
	__be64 prefix = gid->global.subnet_prefix, guid;
	unsigned int i;

	if (prefix != cpu_to_be64(VIB_GID_PREFIX) &&
	    prefix != READ_ONCE(port->info.gid_prefix))
		return false;
	for (i = 0; i < port->node->guids; i++) {
		guid = READ_ONCE(port->guids[i]);
		if (guid && guid == gid->global.interface_id)
			return true;
	}
	return false;
}

/*
 * The state has changed; @port->lock is held.  PortInfo's copy follows, what the node makes
 * of it is told by the caller once the lock is dropped.
 */
static void port_enter(struct vib_port *port, enum ib_port_state state)
{
	lockdep_assert_held(&port->lock);
	if (state == IB_PORT_DOWN && port->state != IB_PORT_DOWN)
		vib_count(port, VIB_LINK_DOWNED, 1);
	WRITE_ONCE(port->state, state);
}

static void port_event(struct vib_port *port, enum ib_event_type event)
{
	if (port->node->ops->event)
		port->node->ops->event(port, event);
}

void vib_port_saw_data(struct vib_port *port)
{
	bool now = false;

	if (likely(READ_ONCE(port->state) != IB_PORT_ARMED))
		return;
	spin_lock_bh(&port->lock);
	if (port->state == IB_PORT_ARMED) {
		port_enter(port, IB_PORT_ACTIVE);
		now = true;
	}
	spin_unlock_bh(&port->lock);
	if (now)
		port_event(port, IB_EVENT_PORT_ACTIVE);
}

/*
 * 14.2.5.6, PortState: Armed follows Init, Active follows Armed.  To ask for the present
 * state is no change.
 */
int vib_port_set_state(struct vib_port *port, enum ib_port_state state)
{
	bool changed = false;
	int ret = 0;

	spin_lock_bh(&port->lock);
	if ((state == IB_PORT_ARMED && port->state == IB_PORT_INIT) ||
	    (state == IB_PORT_ACTIVE && port->state == IB_PORT_ARMED)) {
		port_enter(port, state);
		changed = true;
	} else if (state != port->state) {
		ret = -EINVAL;
	}
	spin_unlock_bh(&port->lock);
	if (changed && state == IB_PORT_ACTIVE)
		port_event(port, IB_EVENT_PORT_ACTIVE);
	return ret;
}

int vib_port_set_phys(struct vib_port *port, enum ib_port_phys_state state)
{
	if (state != IB_PORT_PHYS_STATE_SLEEP && state != IB_PORT_PHYS_STATE_POLLING &&
	    state != IB_PORT_PHYS_STATE_DISABLED)
		return -EINVAL;
	spin_lock_bh(&port->lock);
	port_enter(port, IB_PORT_DOWN);
	WRITE_ONCE(port->phys_state, state);
	spin_unlock_bh(&port->lock);
	vib_link_train(port);
	return 0;
}

/* The longest time that a port takes to leave LinkUp when it is asked to. */
#define LEAVE_TIME	msecs_to_jiffies(100)

void vib_port_leave_work(struct work_struct *work)
{
	struct vib_port *port = container_of(to_delayed_work(work), struct vib_port, leave);
	u8 state = xchg(&port->leave_to, 0);

	if (state)
		vib_port_set_phys(port, state);
}

void vib_port_leave(struct vib_port *port, enum ib_port_phys_state state)
{
	WRITE_ONCE(port->leave_to, state);
	mod_delayed_work(system_wq, &port->leave, LEAVE_TIME);
}

void vib_port_sent_smp(struct vib_port *port)
{
	if (unlikely(READ_ONCE(port->leave_to)))
		mod_delayed_work(system_wq, &port->leave, 0);
}

/* The highest of what both ends offer, in the encodings of PortInfo; 0: nothing in common. */
static u8 highest(u8 offers)
{
	return offers ? BIT(fls(offers) - 1) : 0;
}

static u8 common_width(const struct vib_port *a, const struct vib_port *b)
{
	return highest(READ_ONCE(a->info.link_width_enabled) &
		       READ_ONCE(b->info.link_width_enabled));
}

static u8 common_speed(const struct vib_port *a, const struct vib_port *b)
{
	return highest(READ_ONCE(a->info.linkspeedactive_enabled) &
		       READ_ONCE(b->info.linkspeedactive_enabled) & 0xf);
}

bool vib_ports_agree(const struct vib_port *a, const struct vib_port *b)
{
	return common_width(a, b) && common_speed(a, b);
}

/* A manager, or the port's own host, may have disabled it since the link looked at it. */
bool vib_port_link_up(struct vib_port *port, const struct vib_port *peer)
{
	struct ib_port_info *info = &port->info;
	bool polling;

	spin_lock_bh(&port->lock);
	polling = port->phys_state == IB_PORT_PHYS_STATE_POLLING;
	if (polling) {
		info->link_width_active = common_width(port, peer);
		info->linkspeedactive_enabled = common_speed(port, peer) << 4 |
						(info->linkspeedactive_enabled & 0xf);
		WRITE_ONCE(port->phys_state, IB_PORT_PHYS_STATE_LINK_UP);
		port_enter(port, IB_PORT_INIT);
	}
	spin_unlock_bh(&port->lock);
	return polling;
}

/* No link has gone down, as none was up: that is not counted. */
void vib_port_link_undo(struct vib_port *port)
{
	spin_lock_bh(&port->lock);
	if (port->phys_state == IB_PORT_PHYS_STATE_LINK_UP)
		WRITE_ONCE(port->phys_state, IB_PORT_PHYS_STATE_POLLING);
	WRITE_ONCE(port->state, IB_PORT_DOWN);
	spin_unlock_bh(&port->lock);
}

void vib_port_link_down(struct vib_port *port)
{
	spin_lock_bh(&port->lock);
	if (port->phys_state == IB_PORT_PHYS_STATE_LINK_UP)
		WRITE_ONCE(port->phys_state, port->info.portphysstate_linkdown & 0xf);
	port_enter(port, IB_PORT_DOWN);
	spin_unlock_bh(&port->lock);
	/* To train anew was for this link; to sleep or to be disabled outlasts it. */
	cmpxchg(&port->leave_to, IB_PORT_PHYS_STATE_POLLING, 0);
	rcu_assign_pointer(port->peer, NULL);
}

void vib_port_link_changed(struct vib_port *port, bool up)
{
	if (!up)
		port_event(port, IB_EVENT_PORT_ERR);
	if (port->node->ops->link)
		port->node->ops->link(port, up);
}

int vib_port_find_pkey(const struct vib_port *port, u16 pkey)
{
	unsigned int i;
	u16 entry;

	if (!(pkey & 0x7fff))
		return -1;
	for (i = 0; i < port->node->pkeys; i++) {
		entry = be16_to_cpu(READ_ONCE(port->pkeys[i]));
		if ((entry ^ pkey) & 0x7fff)
			continue;
		/* Two limited members do not talk to each other (10.9.1.2). */
		if ((entry | pkey) & 0x8000)
			return i;
	}
	return -1;
}
