// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Ids of the RDMA CM: addresses, options, what they tell, QPs, multicast groups. */
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib.h>
#include "connect/cma.h"
#include "connect/path.h"

void cm_address(struct sockaddr_storage *ss, const struct cm_case *c, const struct kdev *of,
		u16 port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)ss;

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = c->family;
	switch (c->family) {
	case AF_INET:
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, of->gid.raw + 12, 4);
		break;
	case AF_INET6:
		in6->sin6_port = htons(port);
		in6->sin6_addr.s6_addr[0] = 0xfd;
		in6->sin6_addr.s6_addr[15] = of->gid.raw[15];
		break;
	default:
		ib->sib_pkey = htons(0xffff);
		memcpy(&ib->sib_addr, &of->gid, sizeof(of->gid));
		ib->sib_sid = cpu_to_be64((u64)c->ps << 16 | port);
		ib->sib_sid_mask = cpu_to_be64(port ? ~0ull : RDMA_IB_IP_PS_MASK);
	}
}

void say_cm_address(const struct sockaddr_storage *ss)
{
	const struct sockaddr_ib *ib = (const struct sockaddr_ib *)ss;

	if (ss->ss_family == AF_INET || ss->ss_family == AF_INET6) {
		say("%pISc", ss);
	} else {
		say("ib ");
		say_bytes(&ib->sib_addr, 16);
	}
}

bool cm_create(unsigned int n, const struct cm_case *c)
{
	struct rdma_cm_id *id;

	call("__rdma_create_kernel_id %s ps %x type %u", cm_names[n], c->ps, c->type);
	id = rdma_create_id(&init_net, cm_handler, cm_ends[n], c->ps, c->type);
	if (answer(PTR_ERR_OR_ZERO(id)))
		return false;
	cm_ends[n]->id = id;
	return true;
}

void cm_destroy(unsigned int n)
{
	struct cm_end *e = cm_ends[n];

	if (!e || !e->id)
		return;
	if (e->id->qp) {
		call("rdma_destroy_qp %s", cm_names[n]);
		rdma_destroy_qp(e->id);
		answer_with(0, "qp %d", !!e->id->qp);
	}
	call("rdma_destroy_id %s", cm_names[n]);
	rdma_destroy_id(e->id);
	answer(0);
	e->id = NULL;
	if (e->cq)
		ib_free_cq(e->cq);
	if (e->pd)
		ib_dealloc_pd(e->pd);
}

/* ---- options ---- */

static void one_setting(unsigned int n)
{
	struct rdma_cm_id *id = cm_ends[n]->id;
	u32 value = rnd(256);

	/* The last is for connected QPs. */
	switch (rnd(id->qp_type == IB_QPT_RC ? 5 : 4)) {
	case 0:
		call("rdma_set_service_type %s %u", cm_names[n], value);
		rdma_set_service_type(id, value);
		answer(0);
		break;
	case 1:
		call("rdma_set_reuseaddr %s %u", cm_names[n], value & 1);
		answer(rdma_set_reuseaddr(id, value & 1));
		break;
	case 2:
		call("rdma_set_afonly %s %u", cm_names[n], value & 1);
		answer(rdma_set_afonly(id, value & 1));
		break;
	case 3:
		value = mostly(rnd(32), 32, 255);
		call("rdma_set_ack_timeout %s type %u %u", cm_names[n], id->qp_type, value);
		answer(rdma_set_ack_timeout(id, value));
		break;
	default:
		value = mostly(rnd(32), 32, 255);
		call("rdma_set_min_rnr_timer %s type %u %u", cm_names[n], id->qp_type, value);
		answer(rdma_set_min_rnr_timer(id, value));
	}
}

void cm_settings(unsigned int n)
{
	while (one_in(2))
		one_setting(n);
}

/* ---- what an id tells ---- */

static const char *device_of(const struct rdma_cm_id *id)
{
	return id->device ? dev_name(&id->device->dev) : "none";
}

static void read_gids(unsigned int n)
{
	union ib_gid sgid = {}, dgid = {};

	call("rdma_read_gids %s", cm_names[n]);
	rdma_read_gids(cm_ends[n]->id, &sgid, &dgid);
	answer_more(0);
	say(" ");
	say_gid(&sgid);
	say(" ");
	say_gid(&dgid);
	answer_end();
}

static void qp_attr(unsigned int n)
{
	struct ib_qp_attr a = { .qp_state = one_of(IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS) };
	u32 to = a.qp_state;
	int mask = 0, ret;

	call("rdma_init_qp_attr %s to %u", cm_names[n], to);
	ret = answer_more(rdma_init_qp_attr(cm_ends[n]->id, &a, &mask));
	if (!ret) {
		say(" mask %x", mask);
		if (mask & IB_QP_PKEY_INDEX)
			say(" pkey %u port %u", a.pkey_index, a.port_num);
		if (mask & IB_QP_ACCESS_FLAGS)
			say(" access %x", a.qp_access_flags);
		if (mask & IB_QP_QKEY)
			say(" qkey %x", a.qkey);
		if (mask & IB_QP_PATH_MTU)
			say(" mtu %u", a.path_mtu);
		if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
			say(" ra %u rnr %u", a.max_dest_rd_atomic, a.min_rnr_timer);
		if (mask & IB_QP_TIMEOUT)
			say(" timeout %u retry %u %u ra %u", a.timeout, a.retry_cnt, a.rnr_retry,
			    a.max_rd_atomic);
	}
	answer_end();
}

void cm_look(unsigned int n, const struct cm_case *c)
{
	struct rdma_cm_id *id = cm_ends[n]->id;
	struct sockaddr_storage ss;
	struct sa_path_rec path;

	if (!id)
		return;
	switch (rnd(5)) {
	case 4:
		/* No device here is of iWARP. */
		call("rdma_iw_cm_id %s", cm_names[n]);
		answer_with(0, "%d", id->device && rdma_iw_cm_id(id));
		break;
	case 0:
		call("rdma_get_service_id %s", cm_names[n]);
		cm_address(&ss, c, c->peer, c->port);
		answer_with(0, "%llx device %s port %u",
			    be64_to_cpu(rdma_get_service_id(id, (struct sockaddr *)&ss)),
			    device_of(id), id->port_num);
		break;
	case 1:
		/* of an id that has a device */
		if (id->device)
			read_gids(n);
		break;
	case 2:
		if (id->device)
			qp_attr(n);
		break;
	default:
		if (!id->route.path_rec)
			break;
		call("path of %s", cm_names[n]);
		answer_more(0);
		say(" %d ", id->route.num_pri_alt_paths);
		path = *id->route.path_rec;
		/* It follows from numbers of QPs. */
		path.flow_label = 0;
		say_path(&path);
		answer_end();
	}
}

/* ---- QPs ---- */

int cm_create_qp(unsigned int n, const struct cm_case *c)
{
	struct cm_end *e = cm_ends[n];
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = c->type,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
	};
	struct ib_device *other = kdevs[one_of(RXE_A, VIB0)].device;
	struct ib_pd *pd = NULL;
	int ret;

	e->pd = e->pd ?: ib_alloc_pd(e->id->device, 0);
	e->cq = e->cq ?: ib_alloc_cq(e->id->device, NULL, 32, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(e->pd) || IS_ERR(e->cq)) {
		e->pd = IS_ERR(e->pd) ? NULL : e->pd;
		e->cq = IS_ERR(e->cq) ? NULL : e->cq;
		return -ENOMEM;
	}
	attr.send_cq = e->cq;
	attr.recv_cq = e->cq;
	if (one_in(8) && other != e->id->device) {
		pd = ib_alloc_pd(other, 0);
		if (IS_ERR(pd))
			return PTR_ERR(pd);
		call("rdma_create_qp %s by the PD of another device", cm_names[n]);
		answer(rdma_create_qp(e->id, pd, &attr));
		ib_dealloc_pd(pd);
	}
	call("rdma_create_qp %s type %u", cm_names[n], attr.qp_type);
	ret = rdma_create_qp(e->id, e->pd, &attr);
	return answer_with(ret, "same %d type %u port %u", e->id->qp && e->id->qp->pd == e->pd,
			   e->id->qp ? e->id->qp->qp_type : 0, e->id->qp ? e->id->qp->port : 0);
}

/* ---- multicast ---- */

static void group_address(struct sockaddr_storage *ss, const struct cm_case *c, u8 last)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)ss;
	u8 mgid[16] = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x66 };

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = c->family;
	mgid[14] = c->dev - kdevs;
	mgid[15] = last;
	if (c->family == AF_INET)
		in->sin_addr.s_addr = htonl(239 << 24 | last);
	else if (c->family == AF_INET6)
		memcpy(&in6->sin6_addr, mgid, 16);
	else
		memcpy(&ib->sib_addr, mgid, 16);
}

/* An id that is bound joins and leaves; one with a QP of its own attaches that itself. */
void cm_groups(const struct cm_case *c)
{
	struct cm_end *e = cm_ends[CLIENT];
	struct sockaddr_storage ss;
	unsigned int calls = 1 + rnd(4);
	u8 state, last;

	while (calls--) {
		state = mostly(one_of(1, 1, 4), 0, 2, 255);
		last = 1 + rnd(3);
		group_address(&ss, c, last);
		if (one_in(3)) {
			call("rdma_leave_multicast %u", last);
			rdma_leave_multicast(e->id, (struct sockaddr *)&ss);
			answer(0);
			continue;
		}
		call("rdma_join_multicast state %u family %u number %u", state, c->family, last);
		if (!answer(rdma_join_multicast(e->id, (struct sockaddr *)&ss, state, NULL)))
			take_events(&e->events, 1);
	}
}
