// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The fake subnet administration of the suites. */
#include "fake_sa.h"

static void fake_sa_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	rdma_destroy_ah(wc->send_buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(wc->send_buf);
}

static struct fake_sa_group *find_group(struct fake_sa *sa,
					const union ib_gid *mgid)
{
	int i;

	for (i = 0; i < FAKE_SA_GROUPS; i++)
		if (!memcmp(&sa->group[i].mgid, mgid, sizeof(*mgid)))
			return &sa->group[i];
	return NULL;
}

/* Completes the record of the response, and updates the groups. */
static void fake_sa_member(struct fake_sa *sa, bool leave,
			   struct sa_mcmember_wire *wire)
{
	struct fake_sa_group *group;
	u8 states = wire->scope_join & 0xf;

	if (rdma_is_zero_gid(&wire->mgid)) {
		wire->mgid.raw[0] = 0xff;
		wire->mgid.raw[15] = 0x77;
	}
	group = find_group(sa, &wire->mgid) ?: find_group(sa, &zgid);
	if (WARN_ON(!group))
		return;
	group->mgid = wire->mgid;
	if (leave)
		group->states &= ~states;
	else
		group->states |= states;
	wire->mlid = cpu_to_be16(0xc000 + (group - sa->group));
	if (!wire->qkey)
		wire->qkey = cpu_to_be32(0x0b1b);
}

static void fake_sa_fill(struct fake_sa *sa, const struct ib_sa_mad *request,
			 struct ib_sa_mad *mad)
{
	bool delete = request->mad_hdr.method == IB_SA_METHOD_DELETE;

	*mad = *request;
	spin_lock_irq(&sa->lock);
	mad->mad_hdr.method = delete ? IB_SA_METHOD_DELETE_RESP :
				       IB_MGMT_METHOD_GET_RESP;
	mad->mad_hdr.status = cpu_to_be16(sa->status);
	if (sa->other_attr)
		mad->mad_hdr.attr_id = cpu_to_be16(sa->other_attr);
	if (sa->has_reply)
		memcpy(mad->data, sa->reply, sizeof(sa->reply));
	else if (!sa->status && request->mad_hdr.attr_id ==
		 cpu_to_be16(IB_SA_ATTR_MC_MEMBER_REC))
		fake_sa_member(sa, delete, (void *)mad->data);
	spin_unlock_irq(&sa->lock);
}

static void fake_sa_answer(struct fake_sa *sa, struct ib_mad_recv_wc *wc)
{
	struct ib_mad_send_buf *buf = mad_reply_new(sa->agent, wc,
						    IB_MGMT_SA_HDR);

	if (!buf)
		return;
	fake_sa_fill(sa, (void *)wc->recv_buf.mad, buf->mad);
	mad_reply_post(buf);
}

static void fake_sa_request(struct ib_mad_agent *agent,
			    struct ib_mad_send_buf *buf,
			    struct ib_mad_recv_wc *wc)
{
	const struct ib_sa_mad *mad = (void *)wc->recv_buf.mad;
	struct fake_sa_held *held = kmalloc(sizeof(*held), GFP_KERNEL | __GFP_NOFAIL);
	struct fake_sa *sa = agent->context;
	bool hold, deaf;

	held->wc = wc;
	spin_lock_irq(&sa->lock);
	sa->last = *mad;
	sa->src_qp = wc->wc->src_qp;
	sa->slid = wc->wc->slid;
	hold = sa->hold;
	deaf = sa->deaf;
	if (hold)
		list_add_tail(&held->entry, &sa->held);
	spin_unlock_irq(&sa->lock);
	if (!hold) {
		if (!deaf)
			fake_sa_answer(sa, wc);
		ib_free_recv_mad(wc);
		kfree(held);
	}
	switch (mad->mad_hdr.method) {
	case IB_MGMT_METHOD_GET:
		atomic_inc(&sa->gets);
		break;
	case IB_MGMT_METHOD_SET:
		atomic_inc(&sa->sets);
		break;
	default:
		atomic_inc(&sa->deletes);
	}
	atomic_inc(&sa->requests);
}

struct fake_sa *fake_sa_create(void)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND,
	};
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM,
		.mgmt_class_version = IB_SA_CLASS_VERSION,
	};
	struct fake_sa *sa = kzalloc(sizeof(*sa), GFP_KERNEL);

	if (!sa)
		return NULL;
	spin_lock_init(&sa->lock);
	INIT_LIST_HEAD(&sa->held);
	sa->hca = fake_hca_create(&params);
	if (!sa->hca)
		goto err;
	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	set_bit(IB_MGMT_METHOD_SET, req.method_mask);
	set_bit(IB_SA_METHOD_DELETE, req.method_mask);
	sa->agent = ib_register_mad_agent(&sa->hca->ibdev, 1, IB_QPT_GSI, &req, 0,
					  fake_sa_sent, fake_sa_request, sa, 0);
	if (!IS_ERR(sa->agent))
		return sa;
	fake_hca_destroy(sa->hca);
err:
	kfree(sa);
	return NULL;
}

static void fake_sa_unhold(struct fake_sa *sa, bool answer)
{
	struct fake_sa_held *held, *next;
	LIST_HEAD(list);

	spin_lock_irq(&sa->lock);
	list_splice_init(&sa->held, &list);
	spin_unlock_irq(&sa->lock);
	list_for_each_entry_safe(held, next, &list, entry) {
		if (answer)
			fake_sa_answer(sa, held->wc);
		ib_free_recv_mad(held->wc);
		kfree(held);
	}
}

void fake_sa_release(struct fake_sa *sa)
{
	sa->hold = false;
	fake_sa_unhold(sa, true);
}

int fake_sa_nr_held(struct fake_sa *sa)
{
	struct list_head *entry;
	int n = 0;

	spin_lock_irq(&sa->lock);
	list_for_each(entry, &sa->held)
		n++;
	spin_unlock_irq(&sa->lock);
	return n;
}

void fake_sa_destroy(struct fake_sa *sa)
{
	if (!sa)
		return;
	ib_unregister_mad_agent(sa->agent);
	fake_sa_unhold(sa, false);
	fake_hca_destroy(sa->hca);
	kfree(sa);
}

u8 fake_sa_states(struct fake_sa *sa, const union ib_gid *mgid)
{
	struct fake_sa_group *group;
	u8 states;

	spin_lock_irq(&sa->lock);
	group = find_group(sa, mgid);
	states = group ? group->states : 0;
	spin_unlock_irq(&sa->lock);
	return states;
}

void fake_sa_forget(struct fake_sa *sa)
{
	spin_lock_irq(&sa->lock);
	memset(sa->group, 0, sizeof(sa->group));
	spin_unlock_irq(&sa->lock);
}

u16 fake_sa_lid(struct fake_sa *sa)
{
	return sa->hca->port[1].lid;
}

struct fake_hca *fake_sa_client(struct fake_sa *sa, u32 ports)
{
	const struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = ports,
	};
	struct fake_hca *hca = fake_hca_alloc(&params);
	u32 p;

	if (!hca)
		return NULL;
	for (p = 1; p <= ports; p++)
		hca->port[p].sm_lid = fake_sa_lid(sa);
	if (!fake_hca_register(hca))
		return hca;
	fake_hca_free(hca);
	return NULL;
}

void fake_sa_quiesce(struct fake_hca *hca)
{
	int i;

	for (i = 0; i < 5; i++) {
		fake_hca_flush(hca);
		msleep(20);
	}
}

void fake_sa_expect_idle(struct kunit *test, struct fake_hca *hca,
			 const struct ib_sa_client *client)
{
	struct sa_port *port = ibmad_sa_port(&hca->ibdev, 1);

	fake_sa_quiesce(hca);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->users), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&port->asked), 0);
	KUNIT_EXPECT_EQ(test, refcount_read(&to_agent(port->agent)->refs), 1u);
	if (port->sm_ah)
		KUNIT_EXPECT_EQ(test, kref_read(&port->sm_ah->ref), 1u);
}

int fake_sa_begin(struct fake_sa **sa, struct fake_hca **hca,
		  struct ib_sa_client *client)
{
	ib_sa_register_client(client);
	*sa = fake_sa_create();
	if (!*sa)
		return -ENOMEM;
	*hca = fake_sa_client(*sa, 2);
	return *hca ? 0 : -ENOMEM;
}

void fake_sa_end(struct fake_sa **sa, struct fake_hca **hca)
{
	if (*hca) {
		fake_sa_quiesce(*hca);
		fake_hca_destroy(*hca);
	}
	fake_sa_destroy(*sa);
	*sa = NULL;
	*hca = NULL;
}

void fake_sa_move(struct fake_hca *hca, struct fake_sa *sa,
		  enum ib_event_type event)
{
	hca->port[1].sm_lid = sa ? fake_sa_lid(sa) : 0;
	fake_hca_port_event(hca, 1, event);
	fake_sa_quiesce(hca);
}
