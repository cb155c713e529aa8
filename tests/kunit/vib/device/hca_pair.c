// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/rcupdate.h>
#include "hca_pair.h"

/* ---- adapters ---- */

/* A device without one of the kernel's verbs is none to the MAD layer. */
static int register_alone(struct vib_hca *hca)
{
	struct ib_device_ops *ops = &hca->ib.ops;
	typeof(ops->get_dma_mr) get_dma_mr = ops->get_dma_mr;
	int ret;

	ops->get_dma_mr = NULL;
	ret = vib_hca_register(hca);
	ops->get_dma_mr = get_dma_mr;
	return ret;
}

static void cq_event(struct ib_event *event, void *context)
{
	struct hca_side *side = context;

	if (event->event == IB_EVENT_CQ_ERR)
		side->cq_errors++;
}

static void cq_completion(struct ib_cq *cq, void *context)
{
	struct hca_side *side = context;

	side->comp_events++;
}

static int side_open(struct hca_side *side)
{
	struct ib_cq_init_attr attr = { .cqe = PAIR_CQE };

	side->pd = ib_alloc_pd(&side->hca->ib, 0);
	if (IS_ERR(side->pd))
		return PTR_ERR(side->pd);
	side->cq = ib_create_cq(&side->hca->ib, cq_completion, cq_event, side, &attr);
	return PTR_ERR_OR_ZERO(side->cq);
}

static int side_init(struct hca_side *side, struct vib_fabric *fabric, const char *name,
		     u64 guid)
{
	struct vib_node_attr attr = {
		.name = name,
		.num_ports = 1,
		.pkeys = PAIR_PKEYS,
		.guids = PAIR_GUIDS,
		.data_vls = 4,
		.mtu = IB_MTU_4096,
		.guid = cpu_to_be64(guid),
	};
	struct vib_hca *hca = vib_hca_create(&attr);
	int ret;

	if (IS_ERR(hca))
		return PTR_ERR(hca);
	ret = vib_node_add(fabric, &hca->node);
	if (ret) {
		vib_hca_destroy(hca);
		return ret;
	}
	ret = register_alone(hca);
	if (ret) {
		vib_node_remove(&hca->node);
		return ret;
	}
	side->hca = hca;
	side->port = &hca->node.ports[1];
	return side_open(side);
}

static void side_exit(struct hca_side *side)
{
	if (!IS_ERR_OR_NULL(side->cq))
		ib_destroy_cq(side->cq);
	if (!IS_ERR_OR_NULL(side->pd))
		ib_dealloc_pd(side->pd);
	if (!side->hca)
		return;
	vib_hca_unregister(side->hca);
	vib_node_remove(&side->hca->node);
}

static int pair_plug(struct hca_pair *pair)
{
	int ret;

	mutex_lock(&pair->fabric.lock);
	ret = vib_link_plug(&pair->link, pair->a.port, pair->b.port);
	mutex_unlock(&pair->fabric.lock);
	return ret;
}

static void port_configure(struct vib_port *port, u16 lid, u8 lmc)
{
	unsigned int sl;

	spin_lock_bh(&port->lock);
	port->lid = lid;
	port->lmc = lmc;
	port->mtu = IB_MTU_4096;
	port->op_vls = 4;
	for (sl = 0; sl < 16; sl++)
		port->sl_to_vl[sl] = sl % 4;
	/* No packet waits so long here that it would be lost. */
	port->info.vlstallcnt_hoqlife = 20;
	spin_unlock_bh(&port->lock);
}

int hca_pair_activate(struct hca_pair *pair)
{
	struct vib_port *a = pair->a.port, *b = pair->b.port;

	if (!wait_within(READ_ONCE(a->state) == IB_PORT_INIT &&
			 READ_ONCE(b->state) == IB_PORT_INIT, 5000))
		return -ETIMEDOUT;
	port_configure(a, 4, 0);
	port_configure(b, 8, 2);
	return vib_port_set_state(a, IB_PORT_ARMED) ?: vib_port_set_state(b, IB_PORT_ARMED) ?:
	       vib_port_set_state(a, IB_PORT_ACTIVE) ?: vib_port_set_state(b, IB_PORT_ACTIVE);
}

int hca_pair_init(struct kunit *test, struct hca_pair *pair)
{
	int ret;

	memset(pair, 0, sizeof(*pair));
	vib_fabric_init(&pair->fabric);
	vib_link_init(&pair->link, &pair->fabric);
	ret = side_init(&pair->a, &pair->fabric, "a", 0x0200000000010000ULL);
	if (!ret)
		ret = side_init(&pair->b, &pair->fabric, "b", 0x0200000000020000ULL);
	if (!ret)
		ret = pair_plug(pair);
	return ret ?: hca_pair_activate(pair);
}

void hca_pair_exit(struct hca_pair *pair)
{
	side_exit(&pair->a);
	side_exit(&pair->b);
	vib_link_unplug(&pair->link);
	/* A node is freed by a work item, a grace period after its last packet. */
	rcu_barrier();
	flush_workqueue(vib_free_wq);
	vib_fabric_cleanup(&pair->fabric);
}

/* ---- QPs ---- */

static void qp_event(struct ib_event *event, void *context)
{
	struct hca_side *side = context;

	side->qp_events[event->event]++;
}

struct ib_qp *hca_qp_create(struct hca_side *side, enum ib_qp_type type,
			    const struct hca_qp_want *want)
{
	struct ib_qp_init_attr init = {
		.event_handler = qp_event,
		.qp_context = side,
		.send_cq = want->cq ?: side->cq,
		.recv_cq = want->cq ?: side->cq,
		.cap = {
			.max_send_wr = want->wr ?: PAIR_MAX_WR,
			.max_recv_wr = want->wr ?: PAIR_MAX_WR,
			.max_send_sge = want->sge ?: 4,
			.max_recv_sge = want->sge ?: 4,
			.max_inline_data = 64,
		},
		.sq_sig_type = want->sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type = type,
		.create_flags = want->flags,
		.port_num = 1,
	};

	return ib_create_qp(side->pd, &init);
}

int hca_qp_modify(struct ib_qp *qp, enum ib_qp_state state)
{
	struct ib_qp_attr attr = {
		.qp_state = state,
		.port_num = 1,
		.qkey = qp->qp_type == IB_QPT_SMI ? 0 :
			qp->qp_type == IB_QPT_GSI ? IB_QP1_QKEY : PAIR_QKEY,
	};
	int mask = IB_QP_STATE;

	if (state == IB_QPS_INIT)
		mask |= IB_QP_PKEY_INDEX | IB_QP_QKEY |
			(qp->qp_type == IB_QPT_UD ? IB_QP_PORT : 0);
	/* From SQD and SQE it needs none. */
	if (state == IB_QPS_RTS && hca_qp_state(qp) == IB_QPS_RTR)
		mask |= IB_QP_SQ_PSN;
	return ib_modify_qp(qp, &attr, mask);
}

int hca_qp_to(struct ib_qp *qp, enum ib_qp_state state)
{
	enum ib_qp_state next;
	int ret = 0;

	for (next = IB_QPS_INIT; !ret && next <= state; next++)
		ret = hca_qp_modify(qp, next);
	return ret;
}

enum ib_qp_state hca_qp_state(struct ib_qp *qp)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return ib_query_qp(qp, &attr, IB_QP_STATE, &init) ? -1 : attr.qp_state;
}

struct ib_qp *hca_qp_rts(struct kunit *test, struct hca_side *side)
{
	struct ib_qp *qp = hca_qp_create(side, IB_QPT_UD, &(struct hca_qp_want){});

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_ASSERT_EQ(test, hca_qp_to(qp, IB_QPS_RTS), 0);
	return qp;
}

/* ---- addresses ---- */

union ib_gid hca_gid(const struct hca_side *side)
{
	union ib_gid gid;

	gid.global.subnet_prefix = side->port->info.gid_prefix;
	gid.global.interface_id = side->port->guids[0];
	return gid;
}

union ib_gid hca_mgid(u8 last)
{
	return (union ib_gid){ .raw = { [0] = 0xff, [1] = 0x12, [15] = last } };
}

struct ib_ah *hca_ah_grh(struct kunit *test, struct hca_side *side, u16 dlid,
			 const union ib_gid *dgid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	union ib_gid gid;
	struct ib_ah *ah;

	rdma_ah_set_dlid(&attr, dlid);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_sl(&attr, 5);
	if (dgid) {
		gid = *dgid;
		rdma_ah_set_grh(&attr, &gid, 0x12345, 0, 7, 0x20);
	}
	ah = rdma_create_ah(side->pd, &attr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	return ah;
}

struct ib_ah *hca_ah(struct kunit *test, struct hca_side *side, u16 dlid)
{
	return hca_ah_grh(test, side, dlid, NULL);
}

/* ---- work requests ---- */

u8 *hca_buf(struct kunit *test, u32 len, u8 seed)
{
	u8 *buf = kunit_kmalloc(test, len, GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (i = 0; i < len; i++)
		buf[i] = seed + i;
	return buf;
}

struct hca_send hca_send_wr(struct hca_side *side, struct ib_ah *ah, u32 qpn, void *buf,
			    u32 len)
{
	return (struct hca_send){
		.ud = {
			.wr = {
				.wr_id = qpn,
				.num_sge = 1,
				.opcode = IB_WR_SEND,
				.send_flags = IB_SEND_SIGNALED,
			},
			.ah = ah,
			.remote_qpn = qpn,
			.remote_qkey = PAIR_QKEY,
		},
		.sge = {
			.addr = ib_dma_map_single(&side->hca->ib, buf, len, DMA_TO_DEVICE),
			.length = len,
			.lkey = side->pd->local_dma_lkey,
		},
	};
}

int hca_post_send(struct ib_qp *qp, struct hca_send *send)
{
	if (!send->ud.wr.sg_list)
		send->ud.wr.sg_list = &send->sge;
	return ib_post_send(qp, &send->ud.wr, NULL);
}

int hca_send(struct ib_qp *qp, struct hca_side *side, struct ib_ah *ah, u32 qpn, void *buf,
	     u32 len)
{
	struct hca_send send = hca_send_wr(side, ah, qpn, buf, len);

	return hca_post_send(qp, &send);
}

int hca_recv(struct ib_qp *qp, struct hca_side *side, void *buf, u32 len, u64 wr_id)
{
	struct ib_sge sge = {
		.addr = ib_dma_map_single(&side->hca->ib, buf, len, DMA_FROM_DEVICE),
		.length = len,
		.lkey = side->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(qp, &wr, NULL);
}

bool hca_poll(struct ib_cq *cq, struct ib_wc *wc)
{
	return wait_within(ib_poll_cq(cq, 1, wc) == 1, 5000);
}

bool hca_nothing(struct ib_cq *cq)
{
	struct ib_wc wc;
	int i;

	/* Works queue one another: send, take in, complete. */
	for (i = 0; i < 4; i++)
		flush_workqueue(vib_wq);
	return !ib_poll_cq(cq, 1, &wc);
}

u64 hca_dropped(const struct hca_side *side, enum vib_drop why)
{
	flush_workqueue(vib_wq);
	return atomic64_read(&vib_ca_port(side->port)->drops[why]);
}

void hca_talk_init(struct kunit *test, struct hca_pair *pair, struct hca_talk *talk)
{
	memset(talk, 0, sizeof(*talk));
	talk->from = hca_qp_rts(test, &pair->a);
	talk->to = hca_qp_rts(test, &pair->b);
	talk->ah = hca_ah(test, &pair->a, pair->b.port->lid);
}

void hca_talk_exit(struct hca_talk *talk)
{
	if (talk->ah)
		rdma_destroy_ah(talk->ah, 0);
	if (talk->from)
		ib_destroy_qp(talk->from);
	if (talk->to)
		ib_destroy_qp(talk->to);
	memset(talk, 0, sizeof(*talk));
}
