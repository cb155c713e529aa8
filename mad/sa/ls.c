// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Paths from the local service.  A path query is put to the local service before it is
 * sent.  If the answer fits, the query ends without a MAD; otherwise it is sent as if
 * the local service had not been asked, with its whole timeout.
 *
 * The MAD is allocated first, so that no memory is lacking when it must be sent.
 */
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include <net/netlink.h>
#include <rdma/ib_user_sa.h>
#include <ibex/device.h>
#include "mad.h"
#include "sa.h"

/* The fields of a query that the question has attributes for. */
#define SA_LS_ASKED (IB_SA_PATH_REC_SERVICE_ID | IB_SA_PATH_REC_DGID | \
		     IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_TRAFFIC_CLASS | \
		     IB_SA_PATH_REC_PKEY | IB_SA_PATH_REC_QOS_CLASS)
/* The fields that path_use in the question's header expresses instead. */
#define SA_LS_USE (IB_SA_PATH_REC_REVERSIBLE | IB_SA_PATH_REC_NUMB_PATH)

/* The QoS class, in the SA's field above the SL. */
#define SA_LS_QOS_MASK	0xfff0
#define SA_LS_PKEY_MASK	0x7fff		/* without the membership bit */

/* In the order of delivery: a caller that uses only one path takes the first. */
enum sa_ls_role {
	SA_LS_PATH,			/* good for all packets, both ways */
	SA_LS_OUTBOUND,			/* for data that is sent */
	SA_LS_INBOUND,			/* for data that is received */
	SA_LS_ROLES
};

struct sa_ls_answer {
	unsigned int nr;
	struct sa_path_rec rec[SA_LS_ROLES];
};

/* State while an answer is parsed. */
struct sa_ls_reader {
	struct ib_sa_query *query;
	struct sa_ls_answer *answer;	/* indexed by role while parsed */
	unsigned long roles;		/* that the answer has */
};

static const struct ib_sa_mad *sa_ls_mad(const struct ib_sa_query *query)
{
	return query->buf->mad;
}

static const struct sa_path_wire *sa_ls_wanted(const struct ib_sa_query *query)
{
	return (const void *)sa_ls_mad(query)->data;
}

static bool sa_ls_has(const struct ib_sa_query *query, ib_sa_comp_mask what)
{
	return (sa_ls_mad(query)->sa_hdr.comp_mask & what) == what;
}

/* A connection needs paths for its data, and one for the CM's packets. */
static u8 sa_ls_use(const struct ib_sa_query *query)
{
	if (!sa_ls_has(query, IB_SA_PATH_REC_REVERSIBLE) ||
	    !(sa_ls_wanted(query)->rev_numb & 0x80))
		return LS_RESOLVE_PATH_USE_UNIDIRECTIONAL;
	return sa_ls_has(query, IB_SA_PATH_REC_SERVICE_ID) ?
	       LS_RESOLVE_PATH_USE_ALL : LS_RESOLVE_PATH_USE_GMP;
}

/* ---- the question ---- */

static void sa_ls_put_all(const struct ib_sa_query *query, struct sk_buff *skb)
{
	const struct sa_path_wire *wanted = sa_ls_wanted(query);
	u64 service_id = be64_to_cpu(wanted->service_id);
	u16 pkey = be16_to_cpu(wanted->pkey);
	u16 qos = be16_to_cpu(wanted->qos_sl) & SA_LS_QOS_MASK;
	const struct {
		ib_sa_comp_mask mask;
		int type, len;
		const void *data;
	} attrs[] = {
		{ IB_SA_PATH_REC_SERVICE_ID, LS_NLA_TYPE_SERVICE_ID,
		  sizeof(service_id), &service_id },
		{ IB_SA_PATH_REC_DGID, LS_NLA_TYPE_DGID,
		  sizeof(wanted->dgid), &wanted->dgid },
		{ IB_SA_PATH_REC_SGID, LS_NLA_TYPE_SGID,
		  sizeof(wanted->sgid), &wanted->sgid },
		{ IB_SA_PATH_REC_TRAFFIC_CLASS, LS_NLA_TYPE_TCLASS,
		  sizeof(wanted->traffic_class), &wanted->traffic_class },
		{ IB_SA_PATH_REC_PKEY, LS_NLA_TYPE_PKEY, sizeof(pkey), &pkey },
		{ IB_SA_PATH_REC_QOS_CLASS, LS_NLA_TYPE_QOS_CLASS,
		  sizeof(qos), &qos },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attrs); i++)
		if (sa_ls_has(query, attrs[i].mask))
			ibcore_ls_put(skb, attrs[i].type, attrs[i].len,
				      attrs[i].data);
}

static struct sk_buff *sa_ls_build(const struct ib_sa_query *query, gfp_t gfp)
{
	size_t room = nla_total_size(sizeof(u64)) + nla_total_size(sizeof(u8)) +
		      2 * nla_total_size(sizeof(union ib_gid)) +
		      2 * nla_total_size(sizeof(u16));
	struct rdma_ls_resolve_header header = {
		.port_num = query->port->num,
		.path_use = sa_ls_use(query),
	};
	struct sk_buff *skb;

	static_assert(sizeof(header.device_name) >= IB_DEVICE_NAME_MAX);
	ibcore_device_name(query->port->device, header.device_name);
	skb = ibcore_ls_new(RDMA_NL_LS_OP_RESOLVE, &header, sizeof(header), room,
			    gfp);
	if (skb)
		sa_ls_put_all(query, skb);
	return skb;
}

/* ---- the answer ---- */

/* Alternate paths are ignored: no caller can request several. */
static int sa_ls_role(u32 flags)
{
	if (!(flags & IB_PATH_PRIMARY))
		return -ENOENT;
	if (flags & IB_PATH_GMP)
		return SA_LS_PATH;
	if (flags & IB_PATH_OUTBOUND)
		return SA_LS_OUTBOUND;
	return flags & IB_PATH_INBOUND ? SA_LS_INBOUND : -ENOENT;
}

/* Whether a path that starts at this port matches the query. */
static bool sa_ls_fits(const struct ib_sa_query *query,
		       const struct sa_path_wire *path)
{
	const struct sa_path_wire *wanted = sa_ls_wanted(query);

	if (sa_ls_has(query, IB_SA_PATH_REC_DGID) &&
	    memcmp(&path->dgid, &wanted->dgid, sizeof(path->dgid)))
		return false;
	if (sa_ls_has(query, IB_SA_PATH_REC_SGID) &&
	    memcmp(&path->sgid, &wanted->sgid, sizeof(path->sgid)))
		return false;
	if (sa_ls_has(query, IB_SA_PATH_REC_PKEY) &&
	    ((be16_to_cpu(path->pkey) ^ be16_to_cpu(wanted->pkey)) &
	     SA_LS_PKEY_MASK))
		return false;
	return path->dlid || ib_is_opa_gid(&path->dgid);
}

static int sa_ls_attr(void *context, int type, const void *data, int len)
{
	const struct ib_path_rec_data *path = data;
	struct sa_ls_reader *reader = context;
	struct sa_path_rec *rec, ib = {};
	int role;

	if (type != LS_NLA_TYPE_PATH_RECORD)
		return -EOPNOTSUPP;
	if (len != sizeof(*path))
		return -EINVAL;
	role = sa_ls_role(path->flags);
	/* Take the first path of each role; others are no error. */
	if (role < 0 || test_bit(role, &reader->roles))
		return 0;
	if (role != SA_LS_INBOUND &&
	    !sa_ls_fits(reader->query, (const void *)path->path_rec))
		return -EINVAL;
	ib.rec_type = SA_PATH_REC_TYPE_IB;
	ib.flags = path->flags;
	ib_sa_unpack_path((void *)path->path_rec, &ib);
	rec = &reader->answer->rec[role];
	if (reader->query->opa)
		sa_convert_path_ib_to_opa(rec, &ib);
	else
		*rec = ib;
	__set_bit(role, &reader->roles);
	return 0;
}

/* Which of the received paths to use; none if the essential one is missing. */
static unsigned long sa_ls_choose(u8 use, unsigned long roles)
{
	switch (use) {
	case LS_RESOLVE_PATH_USE_ALL:
		return roles & BIT(SA_LS_PATH) ? roles : 0;
	case LS_RESOLVE_PATH_USE_GMP:
		return roles & BIT(SA_LS_PATH);
	default:
		roles &= BIT(SA_LS_OUTBOUND) | BIT(SA_LS_PATH);
		return roles & BIT(SA_LS_OUTBOUND) ? BIT(SA_LS_OUTBOUND) : roles;
	}
}

static int sa_ls_answered(struct ibcore_ls_question *question,
			  const struct nlmsghdr *nlh)
{
	struct ib_sa_query *query =
		container_of(question, struct ib_sa_query, question);
	struct sa_ls_reader reader = { .query = query };
	struct sa_ls_answer *answer;
	int ret, role;

	answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	reader.answer = answer;
	ret = ibcore_ls_parse(nlh, sa_ls_attr, &reader);
	if (!ret) {
		reader.roles = sa_ls_choose(sa_ls_use(query), reader.roles);
		if (!reader.roles)
			ret = -EINVAL;
	}
	if (ret) {
		kfree(answer);
		return ret;
	}
	for_each_set_bit(role, &reader.roles, SA_LS_ROLES)
		answer->rec[answer->nr++] = answer->rec[role];
	query->answer = answer;
	return 0;
}

/* ---- the end of the question: the query is sent, or completed ---- */

static void sa_ls_deliver(struct ib_sa_query *query)
{
	void (*callback)(int err, struct sa_path_rec *path, IBEX_SA_NUM paths,
			 void *arg) = query->callback;

	callback(0, query->answer->rec, query->answer->nr, query->context);
}

/* The port may be freed once asked is 0; its address is then only used as a key. */
static void sa_ls_done(struct sa_port *port)
{
	if (atomic_dec_and_test(&port->asked))
		wake_up_var(&port->asked);
}

static void sa_ls_ended(struct ibcore_ls_question *question, int status)
{
	struct ib_sa_query *query =
		container_of(question, struct ib_sa_query, question);
	struct sa_port *port = query->port;
	bool sent = false;

	if (test_bit(SA_QUERY_CANCELLED, &query->flags)) {
		query->done(query, -EINTR, NULL);
	} else if (!status) {
		sa_ls_deliver(query);
	} else {
		sent = !ibmad_sa_send_late(query);
		if (!sent)
			query->done(query, -EIO, NULL);
	}
	if (!sent)
		ibmad_sa_query_end(query);
	sa_ls_done(port);
}

static const struct ibcore_ls_ops sa_ls_ops = {
	.answered = sa_ls_answered,
	.ended = sa_ls_ended,
};

/*
 * The answer could not be checked against fields that the question has no attribute
 * for.
 */
static bool sa_ls_can_ask(const struct ib_sa_query *query)
{
	return !(sa_ls_mad(query)->sa_hdr.comp_mask &
		 ~(SA_LS_ASKED | SA_LS_USE)) && query->port->num <= U8_MAX;
}

bool ibmad_sa_ls_ask(struct ib_sa_query *query, gfp_t gfp)
{
	struct sa_port *port = query->port;
	struct sk_buff *skb;

	if (!rdma_nl_chk_listeners(RDMA_NL_GROUP_LS) || !sa_ls_can_ask(query))
		return false;
	skb = sa_ls_build(query, gfp);
	if (!skb)
		return false;
	query->question.ops = &sa_ls_ops;
	query->question.wq = ibmad_wq;
	ibmad_sa_query_get(query);
	atomic_inc(&port->asked);
	if (ibcore_ls_ask(&query->question, skb, gfp)) {
		sa_ls_done(port);
		ibmad_sa_query_put(query);
		return false;
	}
	/* An earlier cancellation did not find the question. */
	if (test_bit(SA_QUERY_CANCELLED, &query->flags))
		ibcore_ls_cancel(&query->question);
	ibmad_sa_query_put(query);
	return true;
}
