// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/slab.h>
#include <net/net_namespace.h>
#include "trunk_net.h"

#define TN_PORT		18700	/* of end 0; end 1 has the next */

/* Of a trunk from when it is opened; it outlives a test that fails. */
struct tn_life {
	struct list_head entry;
	struct vib_node_ops ops;
	const struct vib_node_ops *base;
	bool released;
};

static void life_release(struct vib_node *node)
{
	struct tn_life *life = container_of(node->ops, struct tn_life, ops);

	life->base->release(node);
	WRITE_ONCE(life->released, true);
}

/* ---- ends ---- */

struct sockaddr_storage tn_address(unsigned int end)
{
	struct sockaddr_storage storage = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&storage;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons(TN_PORT + end);
	return storage;
}

struct vib_trunk_attr tn_attr(unsigned int end)
{
	return (struct vib_trunk_attr){
		.net = &init_net,
		.local = tn_address(end),
		.peer = tn_address(!end),
		.interval = TN_INTERVAL,
	};
}

int tn_open(struct tn *tn, unsigned int end)
{
	struct vib_trunk_attr attr = tn_attr(end);
	struct tn_end *te = &tn->end[end];
	struct vib_trunk *trunk;
	struct tn_life *life;
	int ret;

	trunk = vib_trunk_open(&tn->fab->fabric, &attr);
	if (IS_ERR(trunk))
		return PTR_ERR(trunk);
	life = kzalloc(sizeof(*life), GFP_KERNEL);
	if (!life) {
		vib_trunk_close(trunk);
		return -ENOMEM;
	}
	life->base = trunk->node.ops;
	life->ops = *life->base;
	life->ops.release = life_release;
	trunk->node.ops = &life->ops;
	list_add_tail(&life->entry, &tn->lives);
	te->trunk = trunk;
	te->life = life;
	mutex_lock(&tn->fab->fabric.lock);
	ret = vib_trunk_plug(trunk, te->port);
	mutex_unlock(&tn->fab->fabric.lock);
	if (ret)
		tn_close(tn, end);
	return ret;
}

void tn_close(struct tn *tn, unsigned int end)
{
	vib_trunk_close(tn->end[end].trunk);
	tn->end[end].trunk = NULL;
}

static bool life_released(struct tn_life *life)
{
	rcu_barrier();
	flush_workqueue(vib_free_wq);
	return READ_ONCE(life->released);
}

bool tn_released(struct tn *tn, unsigned int end)
{
	return life_released(tn->end[end].life);
}

static void tn_undo(void *ctx)
{
	struct tn_life *life, *next;
	struct tn *tn = ctx;
	unsigned int i;

	for (i = 0; i < TN_ENDS; i++) {
		if (tn->end[i].trunk)
			tn_close(tn, i);
		if (tn->end[i].ca)
			fab_drop(tn->end[i].ca);
	}
	list_for_each_entry_safe(life, next, &tn->lives, entry) {
		if (life_released(life))
			kfree(life);
		else
			KUNIT_FAIL(tn->test, "a packet still refers to a trunk");
	}
}

struct tn *tn_new(struct kunit *test)
{
	struct tn *tn = kunit_kzalloc(test, sizeof(*tn), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, tn);
	tn->test = test;
	INIT_LIST_HEAD(&tn->lives);
	tn->fab = fab_new(test);
	for (i = 0; i < TN_ENDS; i++) {
		tn->end[i].ca = fab_ca(tn->fab, 2);
		tn->end[i].port = fab_port(tn->end[i].ca, 1);
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, tn_undo, tn), 0);
	return tn;
}

/* ---- both ---- */

bool tn_is(struct tn *tn, unsigned int end, u8 state)
{
	struct vib_trunk *trunk = tn->end[end].trunk;

	if (READ_ONCE(tn->end[end].port->state) != state)
		return false;
	return state == IB_PORT_DOWN ? !READ_ONCE(trunk->carrying) : READ_ONCE(trunk->carrying);
}

static bool pairs_match(struct tn *tn)
{
	const struct vib_trunk_session *a = &tn->end[0].trunk->session;
	const struct vib_trunk_session *b = &tn->end[1].trunk->session;

	return READ_ONCE(a->own) == READ_ONCE(b->peer) && READ_ONCE(b->own) == READ_ONCE(a->peer);
}

bool tn_both(struct tn *tn, u8 state)
{
	return wait_within(tn_is(tn, 0, state) && tn_is(tn, 1, state) &&
			   (state == IB_PORT_DOWN || pairs_match(tn)), TN_LONG);
}

void tn_activate(struct tn *tn)
{
	unsigned int i;

	for (i = 0; i < TN_ENDS; i++) {
		KUNIT_ASSERT_EQ(tn->test, vib_port_set_state(tn->end[i].port, IB_PORT_ARMED), 0);
		KUNIT_ASSERT_EQ(tn->test, vib_port_set_state(tn->end[i].port, IB_PORT_ACTIVE), 0);
	}
}

struct tn *tn_joined(struct kunit *test)
{
	struct tn *tn = tn_new(test);

	KUNIT_ASSERT_EQ(test, tn_open(tn, 0), 0);
	KUNIT_ASSERT_EQ(test, tn_open(tn, 1), 0);
	KUNIT_ASSERT_TRUE(test, tn_both(tn, IB_PORT_INIT));
	tn_activate(tn);
	return tn;
}

/* ---- packets ---- */

void tn_wait_idle(struct tn *tn)
{
	unsigned int i;

	/* A work of one end queues those of the other. */
	for (i = 0; i < 4; i++) {
		flush_workqueue(vib_trunk_wq);
		fab_wait_idle(tn->fab);
	}
}

void tn_send(struct tn *tn, unsigned int end, const struct fab_spec *spec)
{
	fab_send(tn->fab, tn->end[end].port, spec);
}

u32 tn_take_psn(struct tn *tn, unsigned int end)
{
	u32 psn;

	wait_within((psn = fab_take_psn(tn->fab, tn->end[end].ca)), 1000);
	return psn;
}

u64 tn_count(struct tn *tn, unsigned int end, enum vib_trunk_counter which)
{
	struct vib_trunk *trunk = tn->end[end].trunk;
	u64 count;

	spin_lock_bh(&trunk->lock);
	count = trunk->count[which];
	spin_unlock_bh(&trunk->lock);
	return count;
}

bool tn_lose(struct tn *tn, unsigned int end, u8 vl, u16 blocks)
{
	struct vib_trunk *trunk = tn->end[end].trunk;
	bool sent;

	spin_lock_bh(&trunk->lock);
	sent = vib_flow_send(&trunk->flow, vl, blocks);
	if (sent)
		trunk->flow.tx_seq++;
	spin_unlock_bh(&trunk->lock);
	return sent;
}

void tn_datagram(struct tn *tn, unsigned int end, const void *buf, size_t len)
{
	struct vib_trunk *trunk = tn->end[end].trunk;
	void *copy = kmemdup(buf, len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(tn->test, copy);
	/* The receive work takes one at a time. */
	disable_work_sync(&trunk->receive);
	vib_trunk_datagram(trunk, &trunk->peer, copy, len);
	enable_work(&trunk->receive);
	queue_work(vib_trunk_wq, &trunk->receive);
	kfree(copy);
}
