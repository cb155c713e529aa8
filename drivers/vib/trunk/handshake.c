// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the handshake does to the far port, and the far port's link to the handshake. */
#include <linux/rcupdate.h>
#include "trunk/trunk.h"

/* ---- the real port ---- */

static u8 vl_cap(const struct vib_port *port)
{
	static const u8 vls[] = { 1, 1, 2, 4, 8, 15 };
	u8 code = port->info.vlcap_inittype >> 4;

	return code < ARRAY_SIZE(vls) ? vls[code] : 1;
}

static void note_port(struct vib_trunk *trunk, const struct vib_port *port)
{
	lockdep_assert_held(&trunk->lock);
	trunk->own = (struct vib_trunk_params){
		.guid = be64_to_cpu(port->node->guid),
		.port = port->num,
		.node_type = port->node->type,
		.width = READ_ONCE(port->info.link_width_enabled),
		.speed = READ_ONCE(port->info.linkspeedactive_enabled) & 0xf,
		.mtu = port->info.inittypereply_mtucap & 0xf,
		.vls = vl_cap(port),
		.interval = trunk->interval,
	};
}

/* Under RCU: a node that is removed takes its links with it. */
bool vib_trunk_port_ready(struct vib_trunk *trunk)
{
	const struct vib_link *link;
	bool ready = false;
	u8 phys;

	lockdep_assert_held(&trunk->lock);
	rcu_read_lock();
	link = rcu_dereference(vib_trunk_far(trunk)->link);
	if (link) {
		phys = READ_ONCE(link->end[0]->phys_state);
		ready = !READ_ONCE(link->cut) && (phys == IB_PORT_PHYS_STATE_POLLING ||
						  phys == IB_PORT_PHYS_STATE_LINK_UP);
		note_port(trunk, link->end[0]);
	}
	rcu_read_unlock();
	return ready;
}

/* ---- steps ---- */

/* The pair of sessions is a new one: nothing has been sent or told in it. */
static void begin_pair(struct vib_trunk *trunk)
{
	unsigned int vl;

	lockdep_assert_held(&trunk->lock);
	vib_flow_init(&trunk->flow);
	for (vl = 0; vl < VIB_VLS; vl++)
		atomic_set(&trunk->back[vl], 0);
	trunk->credit_due = true;
	trunk->want = false;
}

/* The far port is as the peer's: it polls, if the link may be up, with the same rates. */
static void far_poll(struct vib_trunk *trunk)
{
	struct vib_port *far = vib_trunk_far(trunk);

	lockdep_assert_held(&trunk->lock);
	spin_lock(&far->lock);
	WRITE_ONCE(far->info.link_width_enabled, trunk->far.width);
	WRITE_ONCE(far->info.linkspeedactive_enabled,
		   (far->info.linkspeedactive_enabled & 0xf0) | trunk->far.speed);
	spin_unlock(&far->lock);
	vib_port_set_phys(far, IB_PORT_PHYS_STATE_POLLING);
}

static void far_disable(struct vib_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);
	vib_port_set_phys(vib_trunk_far(trunk), IB_PORT_PHYS_STATE_DISABLED);
}

/* @msg: the HELLO that is the event, or NULL. */
static void take_event(struct vib_trunk *trunk, enum vib_trunk_event event,
		       const struct vib_trunk_msg *msg)
{
	const struct vib_trunk_step *step = vib_trunk_step(trunk->session.state, event);

	lockdep_assert_held(&trunk->lock);
	if (step->actions & (VIB_TRUNK_LINK | VIB_TRUNK_UNLINK))
		trunk->carrying = false;
	if (trunk->session.state == VIB_TRUNK_UP && step->actions & (VIB_TRUNK_LINK |
								      VIB_TRUNK_UNLINK))
		trunk->count[VIB_TRUNK_DOWNS]++;
	vib_trunk_take_step(&trunk->session, step, msg ? msg->from : 0);
	if (step->actions & VIB_TRUNK_LINK) {
		begin_pair(trunk);
		far_poll(trunk);
	}
	if (step->actions & VIB_TRUNK_UNLINK)
		far_disable(trunk);
	if (step->actions & VIB_TRUNK_REPLY)
		trunk->hello_due = true;
	if (step->actions & VIB_TRUNK_CHALLENGE)
		trunk->challenge = msg->from;
	if (step->actions)
		queue_work(vib_trunk_wq, &trunk->send);
}

/* ---- events ---- */

/*
 * Whether both ends are ready.  A peer whose rates have changed since, and whose link has not
 * come up yet, has to be linked to anew; one whose link is up keeps the former rates
 * (14.2.5.6).  A peer that is our own port is none.
 */
static bool both_ready(struct vib_trunk *trunk, const struct vib_trunk_msg *msg)
{
	const struct vib_trunk_params *now = &msg->hello, *before = &trunk->far;

	lockdep_assert_held(&trunk->lock);
	if (!vib_trunk_port_ready(trunk) || !(msg->flags & VIB_TRUNK_READY))
		return false;
	if (now->guid == trunk->own.guid && now->port == trunk->own.port)
		return false;
	return trunk->session.state != VIB_TRUNK_UP || msg->flags & VIB_TRUNK_LINKED ||
	       msg->from != trunk->session.peer ||
	       (now->width == before->width && now->speed == before->speed);
}

void vib_trunk_hello(struct vib_trunk *trunk, const struct vib_trunk_msg *msg)
{
	enum vib_trunk_event event;

	lockdep_assert_held(&trunk->lock);
	event = vib_trunk_classify(&trunk->session, msg->from, msg->to, both_ready(trunk, msg));
	if (event == VIB_TRUNK_STALE) {
		trunk->count[VIB_TRUNK_STRAY]++;
	} else if (event != VIB_TRUNK_NEW) {
		trunk->last_rx = jiffies;
		trunk->far = msg->hello;
	}
	take_event(trunk, event, msg);
}

/*
 * The link is up: data may pass at once.  Its states are those of the real ports, of which a
 * cable knows nothing.
 */
static void link_came_up(struct vib_trunk *trunk)
{
	struct vib_port *far = vib_trunk_far(trunk);

	vib_port_set_state(far, IB_PORT_ARMED);
	vib_port_set_state(far, IB_PORT_ACTIVE);
	spin_lock_bh(&trunk->lock);
	/* The peer may have gone while the link came up. */
	if (trunk->session.state == VIB_TRUNK_UP)
		trunk->carrying = true;
	else
		far_disable(trunk);
	trunk->hello_due = true;
	queue_work(vib_trunk_wq, &trunk->send);
	spin_unlock_bh(&trunk->lock);
}

/*
 * If nothing but the real port, or its link, is the cause, the peer's link has to go down, too.
 * The far port was LinkUp then and is in its LinkDownDefaultState, Disabled, now; when the
 * handshake takes the link down it sets the state of the far port itself.  What the port had
 * sent before is sent first: it may be the response to who has it go down.
 */
static void link_went_down(struct vib_trunk *trunk)
{
	struct vib_port *far = vib_trunk_far(trunk);
	LIST_HEAD(packets);

	flush_work(&trunk->send);
	spin_lock_bh(&trunk->lock);
	trunk->carrying = false;
	vib_trunk_take_all(trunk, &packets);
	if (READ_ONCE(far->phys_state) == IB_PORT_PHYS_STATE_DISABLED)
		take_event(trunk, VIB_TRUNK_LOCAL_DOWN, NULL);
	spin_unlock_bh(&trunk->lock);
	vib_trunk_free_all(&packets);
}

void vib_trunk_link_changed(struct vib_port *port, bool up)
{
	struct vib_trunk *trunk = container_of(port->node, struct vib_trunk, node);

	lockdep_assert_held(&trunk->node.fabric->lock);
	if (up)
		link_came_up(trunk);
	else
		link_went_down(trunk);
}

/* The peer says how often it sends HELLOs. */
static bool peer_silent(const struct vib_trunk *trunk)
{
	unsigned int most = VIB_TRUNK_SILENCE * trunk->far.interval;

	lockdep_assert_held(&trunk->lock);
	return time_after(jiffies, trunk->last_rx + msecs_to_jiffies(most));
}

void vib_trunk_tick_work(struct work_struct *work)
{
	struct vib_trunk *trunk = container_of(to_delayed_work(work), struct vib_trunk, tick);

	spin_lock_bh(&trunk->lock);
	if (!vib_trunk_port_ready(trunk))
		take_event(trunk, VIB_TRUNK_LOCAL_DOWN, NULL);
	if (peer_silent(trunk))
		take_event(trunk, VIB_TRUNK_SILENT, NULL);
	trunk->hello_due = true;
	trunk->credit_due = true;
	queue_work(vib_trunk_wq, &trunk->send);
	spin_unlock_bh(&trunk->lock);
	queue_delayed_work(vib_trunk_wq, &trunk->tick, msecs_to_jiffies(trunk->interval));
}
