// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Ids of the IB CM: a connection between two devices, or a SIDR, in which each step is one that its
 * state allows, or one that it does not, which is refused and changes nothing.
 */
#include <linux/slab.h>
#include "connect/ibcm.h"
#include "connect/path.h"
#include "objects/qp.h"

#define SERVICE	0x10cafe00ull

struct end_id *ibcm_ends[SIDES];

static struct ib_cm_id *listener;
static struct kdev *devices[SIDES];
static const char * const sides[] = { "active", "passive" };
static u8 data[256];

/* ---- what is sent ---- */

static u8 some_length(u8 most)
{
	return mostly(8 + rnd(most - 8 + 1), most + 1, 255);
}

static struct ib_cm_id *id_of(unsigned int side)
{
	return ibcm_ends[side]->id;
}

static int send_rtu(unsigned int side)
{
	u8 len = some_length(IB_CM_RTU_PRIVATE_DATA_SIZE);

	call("ib_send_cm_rtu %s data %u", sides[side], len);
	return answer(ib_send_cm_rtu(id_of(side), data, len));
}

static int send_dreq(unsigned int side)
{
	u8 len = some_length(IB_CM_DREQ_PRIVATE_DATA_SIZE);

	call("ib_send_cm_dreq %s data %u", sides[side], len);
	return answer(ib_send_cm_dreq(id_of(side), data, len));
}

static int send_drep(unsigned int side)
{
	u8 len = some_length(IB_CM_DREP_PRIVATE_DATA_SIZE);

	call("ib_send_cm_drep %s data %u", sides[side], len);
	return answer(ib_send_cm_drep(id_of(side), data, len));
}

static int send_mra(unsigned int side)
{
	u8 len = some_length(IB_CM_MRA_PRIVATE_DATA_SIZE);
	u8 timeout = 10 + rnd(10);

	call("ib_send_cm_mra %s timeout %x data %u", sides[side], timeout, len);
	return answer(ib_send_cm_mra(id_of(side), timeout, data, len));
}

static int send_rej(unsigned int side)
{
	u8 len = some_length(IB_CM_REJ_PRIVATE_DATA_SIZE), ari = one_in(3) ? rnd(80) : 0;
	u32 reason = one_of(IB_CM_REJ_CONSUMER_DEFINED, IB_CM_REJ_NO_RESOURCES, IB_CM_REJ_NO_QP);

	call("ib_send_cm_rej %s reason %u ari %u data %u", sides[side], reason, ari, len);
	return answer(ib_send_cm_rej(id_of(side), reason, ari ? data : NULL, ari, data, len));
}

static int send_rep(unsigned int side)
{
	struct ib_cm_rep_param p = {
		.qp_num = 0x321,
		.starting_psn = 0x765432,
		.private_data = data,
		.private_data_len = some_length(IB_CM_REP_PRIVATE_DATA_SIZE),
		.responder_resources = rnd(5),
		.initiator_depth = rnd(5),
		.failover_accepted = rnd(3),
		.flow_control = rnd(2),
		.rnr_retry_count = rnd(8),
		.srq = rnd(2),
		.ece.vendor_id = one_in(2) ? 0x15b3 : 0,
	};

	call("ib_send_cm_rep %s ra %u %u failover %u flow %u rnr %u srq %u ece %x data %u",
	     sides[side], p.responder_resources, p.initiator_depth, p.failover_accepted,
	     p.flow_control, p.rnr_retry_count, p.srq, p.ece.vendor_id, p.private_data_len);
	return answer(ib_send_cm_rep(id_of(side), &p));
}

static const char *spoil_req(struct ib_cm_req_param *p, struct sa_path_rec *path)
{
	switch (rnd(6)) {
	case 0:
		p->private_data_len = IB_CM_REQ_PRIVATE_DATA_SIZE + 1;
		return "data";
	case 1:
		p->qp_type = one_of(IB_QPT_UD, IB_QPT_XRC_TGT);
		return "type";
	case 2:
		path->pkey = cpu_to_be16(0x8001);
		return "pkey";
	default:
		return "nothing";
	}
}

static int send_req(unsigned int side, u64 service)
{
	const struct ib_gid_attr *attr;
	struct kdev *from = devices[ACTIVE];
	struct sa_path_rec path;
	const char *wrong = "nothing";
	struct ib_cm_req_param p = {
		.primary_path = &path,
		.service_id = cpu_to_be64(service),
		.qp_num = 0x123,
		.qp_type = one_of(IB_QPT_RC, IB_QPT_RC, IB_QPT_UC),
		.starting_psn = 0x123456,
		.private_data = data,
		.private_data_len = 8 + rnd(IB_CM_REQ_PRIVATE_DATA_SIZE - 8),
		.responder_resources = rnd(5),
		.initiator_depth = rnd(5),
		.remote_cm_response_timeout = 18 + rnd(3),
		.local_cm_response_timeout = 18 + rnd(3),
		.flow_control = rnd(2),
		.retry_count = rnd(8),
		.rnr_retry_count = rnd(8),
		.max_cm_retries = 5,
		.srq = rnd(2),
		.ece.vendor_id = one_in(2) ? 0x15b3 : 0,
	};
	int ret;

	right_path(&path, from, devices[PASSIVE]);
	if (one_in(4))
		wrong = spoil_req(&p, &path);
	attr = rdma_get_gid_attr(from->device, 1, from->gid_index);
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	p.ppath_sgid_attr = is_vib(from) && one_in(2) ? NULL : attr;
	call("ib_send_cm_req %s wrong %s attr %d type %u ra %u %u timeouts %u %u", sides[side],
	     wrong, !!p.ppath_sgid_attr, p.qp_type, p.responder_resources, p.initiator_depth,
	     p.local_cm_response_timeout, p.remote_cm_response_timeout);
	say(" flow %u retry %u %u srq %u ece %x data %u", p.flow_control, p.retry_count,
	    p.rnr_retry_count, p.srq, p.ece.vendor_id, p.private_data_len);
	ret = answer(ib_send_cm_req(id_of(side), &p));
	rdma_put_gid_attr(attr);
	return ret;
}

static int notify(unsigned int side, u32 what)
{
	call("ib_cm_notify %s %s", sides[side], ib_event_msg(what));
	return answer(ib_cm_notify(id_of(side), what));
}

static void init_attr(unsigned int side)
{
	struct ib_qp_attr a = { .qp_state = one_of(IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS,
						   IB_QPS_SQD) };
	u32 state = a.qp_state;
	int mask = 0, ret;

	call("ib_cm_init_qp_attr %s to %u", sides[side], state);
	ret = answer_more(ib_cm_init_qp_attr(id_of(side), &a, &mask));
	if (!ret) {
		say(" mask %x", mask);
		if (mask & IB_QP_ACCESS_FLAGS)
			say(" access %x pkey %u port %u", a.qp_access_flags, a.pkey_index,
			    a.port_num);
		if (mask & IB_QP_AV) {
			say(" mtu %u dest %x psn %x ", a.path_mtu, a.dest_qp_num, a.rq_psn);
			say_ah_attr(&a.ah_attr);
		}
		if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
			say(" ra %u rnr %u", a.max_dest_rd_atomic, a.min_rnr_timer);
		if (mask & IB_QP_SQ_PSN)
			say(" psn %x", a.sq_psn);
		if (mask & IB_QP_TIMEOUT)
			say(" timeout %u retry %u %u ra %u", a.timeout, a.retry_cnt, a.rnr_retry,
			    a.max_rd_atomic);
	}
	answer_end();
}

/* ---- what a state does not allow ---- */

enum phase { IDLE, REQUESTED, REPLIED, ESTABLISHED, ENDING };

/* A step that is refused in this phase; an id that waits for an answer is left alone. */
static void wrong_step(enum phase phase)
{
	unsigned int side = phase == IDLE ? ACTIVE : rnd(SIDES);

	if (!id_of(side))
		return;
	switch (phase) {
	case IDLE:
		switch (rnd(5)) {
		case 0:
			send_rtu(side);
			break;
		case 1:
			send_dreq(side);
			break;
		case 2:
			send_drep(side);
			break;
		case 3:
			send_rep(side);
			break;
		default:
			notify(side, one_of(IB_EVENT_COMM_EST, IB_EVENT_PATH_MIG,
					    IB_EVENT_PORT_ERR));
		}
		break;
	case REQUESTED:
		if (one_in(2))
			send_rtu(side);
		else
			send_dreq(side);
		break;
	case REPLIED:
		if (side == PASSIVE)
			one_in(2) ? send_rtu(side) : send_drep(side);
		else
			send_rep(side);
		break;
	case ESTABLISHED:
		switch (rnd(4)) {
		case 0:
			send_rep(side);
			break;
		case 1:
			send_rtu(side);
			break;
		case 2:
			send_drep(side);
			break;
		default:
			/* no migration to a path that there is not */
			notify(side, one_of(IB_EVENT_COMM_EST, IB_EVENT_PORT_ERR));
		}
		break;
	default:
		one_in(2) ? send_rtu(side) : send_rep(side);
	}
}

static void some_steps(enum phase phase)
{
	while (one_in(2)) {
		if (one_in(2) && phase != IDLE)
			init_attr(rnd(SIDES));
		else
			wrong_step(phase);
	}
}

/* Until it is accepted: a length that is wrong is so once. */
#define UNTIL_SENT(step)	({				\
	int _ret = -EINVAL, _tries = 6;			\
	while (_ret && _tries--)				\
		_ret = step;					\
	!_ret; })

/* ---- a connection ---- */

static void end_connection(void)
{
	unsigned int first = rnd(SIDES);

	some_steps(ESTABLISHED);
	if (one_in(6))
		return;
	if (!UNTIL_SENT(send_dreq(first)) || !take_events(&ibcm_ends[!first]->events, 1))
		return;
	some_steps(ENDING);
	if (one_in(6) || !UNTIL_SENT(send_drep(!first)))
		return;
	take_events(&ibcm_ends[first]->events, 1);
	some_steps(ENDING);
}

static void connection(u64 service, bool listened)
{
	struct end_id **e = ibcm_ends;

	some_steps(IDLE);
	if (send_req(ACTIVE, service))
		return;
	if (!listened) {
		take_events(&e[ACTIVE]->events, 1);
		return;
	}
	/* the request and its path */
	if (!take_events(&e[PASSIVE]->events, 2))
		return;
	some_steps(REQUESTED);
	if (one_in(4) && !send_mra(PASSIVE))
		take_events(&e[ACTIVE]->events, 1);
	if (one_in(4)) {
		if (UNTIL_SENT(send_rej(PASSIVE)))
			take_events(&e[ACTIVE]->events, 1);
		return;
	}
	if (!UNTIL_SENT(send_rep(PASSIVE)) || !take_events(&e[ACTIVE]->events, 1))
		return;
	some_steps(REPLIED);
	if (one_in(4) && !send_mra(ACTIVE))
		take_events(&e[PASSIVE]->events, 1);
	if (one_in(6)) {
		if (UNTIL_SENT(send_rej(ACTIVE)))
			take_events(&e[PASSIVE]->events, 1);
		return;
	}
	if (one_in(4) && !notify(PASSIVE, IB_EVENT_COMM_EST))
		take_events(&e[PASSIVE]->events, 1);
	else if (UNTIL_SENT(send_rtu(ACTIVE)))
		take_events(&e[PASSIVE]->events, 1);
	if (id_of(ACTIVE)->state == IB_CM_REP_RCVD && !UNTIL_SENT(send_rtu(ACTIVE)))
		return;
	end_connection();
}

/* ---- SIDR ---- */

static int sidr_rep(void)
{
	struct ib_cm_sidr_rep_param p = {
		.qp_num = 0x321,
		.qkey = 0x11111111,
		.status = one_of(IB_SIDR_SUCCESS, IB_SIDR_SUCCESS, IB_SIDR_REJECT, IB_SIDR_NO_QP),
		.private_data = data,
		.private_data_len = some_length(IB_CM_SIDR_REP_PRIVATE_DATA_SIZE),
		.info = data,
		.info_length = one_in(3) ? rnd(80) : 0,
	};

	call("ib_send_cm_sidr_rep status %u info %u data %u", p.status, p.info_length,
	     p.private_data_len);
	return answer(ib_send_cm_sidr_rep(id_of(PASSIVE), &p));
}

static void sidr(u64 service, bool listened)
{
	struct kdev *from = devices[ACTIVE];
	struct sa_path_rec path;
	struct ib_cm_sidr_req_param p = {
		.path = &path,
		.service_id = cpu_to_be64(service),
		.timeout_ms = 3000,
		.private_data = data,
		.private_data_len = some_length(IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE),
		.max_cm_retries = 3,
	};
	const struct ib_gid_attr *attr;
	int ret;

	right_path(&path, from, devices[PASSIVE]);
	attr = rdma_get_gid_attr(from->device, 1, from->gid_index);
	if (IS_ERR(attr))
		return;
	p.sgid_attr = attr;
	call("ib_send_cm_sidr_req data %u", p.private_data_len);
	ret = answer(ib_send_cm_sidr_req(id_of(ACTIVE), &p));
	rdma_put_gid_attr(attr);
	if (ret)
		return;
	if (!listened) {
		take_events(&ibcm_ends[ACTIVE]->events, 1);
		return;
	}
	if (!take_events(&ibcm_ends[PASSIVE]->events, 1))
		return;
	if (one_in(3))
		send_rtu(PASSIVE);
	if (UNTIL_SENT(sidr_rep()))
		take_events(&ibcm_ends[ACTIVE]->events, 1);
	if (one_in(3))
		sidr_rep();
}

/* ---- listeners ---- */

static struct ib_cm_id *create_id(struct kdev *dev, void *context, const char *what)
{
	struct ib_cm_id *id;

	call("ib_create_cm_id %s %s", what, dev->name);
	id = ib_create_cm_id(dev->device, ibcm_handler, context);
	return answer(PTR_ERR_OR_ZERO(id)) ? NULL : id;
}

static void destroy_id(struct ib_cm_id *id, const char *what)
{
	call("ib_destroy_cm_id %s", what);
	ib_destroy_cm_id(id);
	answer(0);
}

static bool listen(u64 service)
{
	struct kdev *dev = devices[PASSIVE];
	struct ib_cm_id *other;

	if (one_in(4)) {
		call("ib_cm_insert_listen %s %llx", dev->name, service);
		listener = ib_cm_insert_listen(dev->device, ibcm_handler, cpu_to_be64(service));
		if (answer(PTR_ERR_OR_ZERO(listener)))
			listener = NULL;
	} else {
		u64 wrong = mostly(service, 0x0200000000000001ull);

		listener = create_id(dev, ibcm_ends[PASSIVE], "listener");
		if (!listener)
			return false;
		call("ib_cm_listen %llx", wrong);
		if (answer(ib_cm_listen(listener, cpu_to_be64(wrong))))
			return false;
	}
	if (!one_in(3) || !listener)
		return listener;
	call("ib_cm_listen again");
	answer(ib_cm_listen(listener, cpu_to_be64(service)));
	other = create_id(dev, ibcm_ends[PASSIVE], "second listener");
	if (!other)
		return true;
	call("ib_cm_listen %llx by a second one", service);
	answer(ib_cm_listen(other, cpu_to_be64(service)));
	destroy_id(other, "second listener");
	return true;
}

void ib_connections(u64 number)
{
	u64 service = SERVICE + rnd(256);
	bool listened = false;
	unsigned int side;

	devices[ACTIVE] = some_device();
	devices[PASSIVE] = peer_of(devices[ACTIVE]);
	listener = NULL;
	for (side = 0; side < sizeof(data); side++)
		data[side] = rnd(256);
	for (side = 0; side < SIDES; side++) {
		ibcm_ends[side] = kzalloc(sizeof(*ibcm_ends[side]), GFP_KERNEL);
		if (!ibcm_ends[side])
			goto out;
		source_init(&ibcm_ends[side]->events);
		ibcm_ends[side]->side = side;
	}
	if (!one_in(6))
		listened = listen(service);
	ibcm_ends[ACTIVE]->id = create_id(devices[ACTIVE], ibcm_ends[ACTIVE], "active");
	if (!ibcm_ends[ACTIVE]->id)
		goto out;
	if (one_in(4))
		sidr(service, listened);
	else
		connection(service, listened);
	/* In this order; what the other end would be told comes in its own time. */
	for (side = 0; side < SIDES; side++)
		if (id_of(side))
			destroy_id(id_of(side), sides[side]);
out:
	if (listener)
		destroy_id(listener, "listener");
	for (side = 0; side < SIDES; side++)
		kfree(ibcm_ends[side]);
}
