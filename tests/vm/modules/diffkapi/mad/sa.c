// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Queries of subnet administration, which opensm answers, and multicast groups. */
#include <linux/delay.h>
#include <linux/slab.h>
#include "connect/path.h"

#define GROUPS	3

static struct ib_sa_client client;

/* What a query's callback got; one query at a time. */
struct query {
	struct source events;
	struct sa_path_rec path;
};

struct group {
	struct source events;
	struct ib_sa_multicast *joined;
	struct kdev *dev;
	union ib_gid mgid;
	u8 join_state;
};

static struct query *query;
static struct group *groups[GROUPS];

/* ---- paths ---- */

/* Rates, lifetimes and such are the subnet manager's; they do not differ between two runs. */
static void got_path(int status, struct sa_path_rec *rec, unsigned int count, void *context)
{
	struct query *q = context;

	if (status || !rec) {
		event(&q->events, "path: status %d", status);
		return;
	}
	event(&q->events,
	      "path: status %d count %u type %u lids %u %u pkey %x sl %u mtu %u rate %u life %u rev %u hop %u to %*phN",
	      status, count, rec->rec_type, be16_to_cpu(rec->ib.slid), be16_to_cpu(rec->ib.dlid),
	      be16_to_cpu(rec->pkey), rec->sl, rec->mtu, rec->rate, rec->packet_life_time,
	      rec->reversible, rec->hop_limit, 16, rec->dgid.raw);
}

static void path_query(void)
{
	struct kdev *dev = one_in(6) ? some_device() : &kdevs[one_of(VIB0, VIB1)];
	ib_sa_comp_mask mask = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_NUMB_PATH;
	struct sa_path_rec rec = {
		.rec_type = SA_PATH_REC_TYPE_IB,
		.sgid = dev->gid,
		.dgid = peer_of(dev)->gid,
		.numb_path = 1,
		.reversible = 1,
		.pkey = cpu_to_be16(0xffff),
	};
	struct ib_sa_query *sa_query;
	bool cancel = one_in(8);
	int id;

	if (one_in(2))
		mask |= IB_SA_PATH_REC_PKEY;
	if (one_in(2))
		mask |= IB_SA_PATH_REC_REVERSIBLE;
	switch (rnd(8)) {
	case 0:
		rec.dgid.raw[15] ^= 0x55;
		break;
	case 1:
		rec.pkey = cpu_to_be16(0x8001);
		mask |= IB_SA_PATH_REC_PKEY;
		break;
	}
	source_init(&query->events);
	call("ib_sa_path_rec_get %s mask %llx pkey %x to ", dev->name, (u64)mask,
	     be16_to_cpu(rec.pkey));
	say_gid(&rec.dgid);
	id = ib_sa_path_rec_get(&client, dev->device, 1, &rec, mask, 5000, GFP_KERNEL, got_path,
				query,
				&sa_query);
	if (answer_with(id, "id %d", id >= 0) < 0)
		return;
	if (cancel) {
		/* The answer may have come first, so what it was is not told. */
		call("ib_sa_cancel_query");
		ib_sa_cancel_query(id, sa_query);
		answer(0);
		wait_event_timeout(query->events.wait, query->events.came, EVENT_WAIT);
		say("  event of a query: %u\n", query->events.came);
		return;
	}
	take_events(&query->events, 1);
	call("ib_sa_cancel_query of one that has ended");
	ib_sa_cancel_query(id, sa_query);
	answer(0);
}

static void got_guids(int status, struct ib_sa_guidinfo_rec *rec, void *context)
{
	struct query *q = context;

	event(&q->events, "guids: status %d lid %u block %u", status,
	      status || !rec ? 0 : be16_to_cpu(rec->lid), status || !rec ? 0 : rec->block_num);
}

static void guid_query(void)
{
	struct kdev *dev = one_in(6) ? some_device() : &kdevs[one_of(VIB0, VIB1)];
	struct ib_sa_guidinfo_rec rec = { .lid = cpu_to_be16(dev->lid) };
	u8 method = mostly(IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SEND, 0x81, 0);
	struct ib_sa_query *sa_query;
	int id;

	source_init(&query->events);
	call("ib_sa_guid_info_rec_query %s method %x", dev->name, method);
	id = ib_sa_guid_info_rec_query(&client, dev->device, 1, &rec,
				       IB_SA_GUIDINFO_REC_LID | IB_SA_GUIDINFO_REC_BLOCK_NUM,
				method,
				       5000, GFP_KERNEL, got_guids, query, &sa_query);
	if (answer_with(id, "id %d", id >= 0) >= 0)
		take_events(&query->events, 1);
}

/* ---- groups ---- */

static int joined(int status, struct ib_sa_multicast *m)
{
	struct group *g = m->context;

	event(&g->events,
	      "join: status %d lid %d qkey %x pkey %x mtu %u rate %u sl %u scope %u state %u hop %u",
	      status, status ? 0 : be16_to_cpu(m->rec.mlid) >= 0xc000, be32_to_cpu(m->rec.qkey),
	      be16_to_cpu(m->rec.pkey), m->rec.mtu, m->rec.rate, m->rec.sl, m->rec.scope,
	      m->rec.join_state, m->rec.hop_limit);
	return 0;
}

static struct group *some_group(bool used)
{
	unsigned int i, first = rnd(GROUPS);

	for (i = 0; i < GROUPS; i++)
		if (!!groups[(first + i) % GROUPS]->joined == used)
			return groups[(first + i) % GROUPS];
	return NULL;
}

static void join(void)
{
	ib_sa_comp_mask mask = IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			       IB_SA_MCMEMBER_REC_JOIN_STATE;
	struct group *g = some_group(false);
	struct ib_sa_mcmember_rec rec = {
		/* not of IPoIB, which groups have another Q_Key */
		.mgid.raw = { 0xff, 0x12, 0x13, 0x57, 0, 0, 0, 0, 0, 0, 0, 0, 0x77 },
		.qkey = cpu_to_be32(0x12345),
		.pkey = cpu_to_be16(0xffff),
		.join_state = 1,
		.sl = 0,
	};
	bool create = !one_in(4);

	if (!g)
		return;
	g->dev = one_in(8) ? some_device() : &kdevs[one_of(VIB0, VIB1)];
	rec.port_gid = g->dev->gid;
	/* Ports of one group would see one another leave, in its own time. */
	rec.mgid.raw[14] = g->dev - kdevs;
	rec.mgid.raw[15] = rnd(4);
	if (create)
		mask |= IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_SL |
			IB_SA_MCMEMBER_REC_FLOW_LABEL | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS;
	switch (rnd(10)) {
	case 0:
		rec.mgid.raw[0] = 0xfe;
		break;
	case 1:
		/* another than the first to join has */
		rec.qkey = cpu_to_be32(0x54321);
		break;
	case 2:
		rec.join_state = one_of(4, 8, 5);
		break;
	}
	g->mgid = rec.mgid;
	g->join_state = rec.join_state;
	source_init(&g->events);
	call("ib_sa_join_multicast group%d %s mask %llx qkey %x state %u mgid ",
	     (int)(g == groups[1]) + 2 * (g == groups[2]), g->dev->name, (u64)mask,
	     be32_to_cpu(rec.qkey), rec.join_state);
	say_gid(&rec.mgid);
	g->joined = ib_sa_join_multicast(&client, g->dev->device, 1, &rec, mask, GFP_KERNEL, joined,
					 g);
	if (answer(PTR_ERR_OR_ZERO(g->joined))) {
		g->joined = NULL;
		return;
	}
	take_events(&g->events, 1);
}

/* Until then there may be its record, in its own time. */
static void wait_left(const struct group *g)
{
	struct ib_sa_mcmember_rec rec;
	union ib_gid mgid = g->mgid;
	unsigned int i, tries = 500;

	for (i = 0; i < GROUPS; i++)
		if (groups[i]->joined && groups[i]->dev == g->dev &&
		    !memcmp(&groups[i]->mgid, &mgid, sizeof(mgid)))
			return;
	while (tries-- && !ib_sa_get_mcmember_rec(g->dev->device, 1, &mgid, &rec))
		usleep_range(1000, 2000);
}

static void leave_group(struct group *g)
{
	call("ib_sa_free_multicast group%d", (int)(g == groups[1]) + 2 * (g == groups[2]));
	ib_sa_free_multicast(g->joined);
	answer(0);
	g->joined = NULL;
	events_left(&g->events);
	wait_left(g);
}

static void leave(void)
{
	struct group *g = some_group(true);

	if (g)
		leave_group(g);
}

static void member_record(void)
{
	struct group *g = some_group(!one_in(3));
	struct ib_sa_mcmember_rec rec = {};
	struct kdev *dev;
	int ret;

	if (!g)
		return;
	dev = g->dev && !one_in(6) ? g->dev : some_device();
	call("ib_sa_get_mcmember_rec %s mgid ", dev->name);
	say_gid(&g->mgid);
	ret = ib_sa_get_mcmember_rec(dev->device, 1, &g->mgid, &rec);
	answer_with(ret, "qkey %x pkey %x lid %d mtu %u rate %u", be32_to_cpu(rec.qkey),
		    be16_to_cpu(rec.pkey), be16_to_cpu(rec.mlid) >= 0xc000, rec.mtu, rec.rate);
}

void sa_queries(u64 number)
{
	static const struct op ops[] = {
		{ path_query, 5 }, { guid_query, 1 }, { join, 4 }, { leave, 2 }, { member_record,
										  2 },
		{ ah_of_path, 4 }, { ah_of_group, 4 },
	};
	unsigned int i;

	query = kzalloc(sizeof(*query), GFP_KERNEL);
	for (i = 0; i < GROUPS; i++)
		groups[i] = kzalloc(sizeof(*groups[i]), GFP_KERNEL);
	if (!query || !groups[0] || !groups[1] || !groups[2])
		goto out;
	call("ib_sa_register_client");
	ib_sa_register_client(&client);
	answer(0);
	random_ops(ops, ARRAY_SIZE(ops), 10 + rnd(12));
	for (i = 0; i < GROUPS; i++)
		if (groups[i]->joined)
			leave_group(groups[i]);
	/* waits for all queries */
	call("ib_sa_unregister_client");
	ib_sa_unregister_client(&client);
	answer(0);
out:
	kfree(query);
	for (i = 0; i < GROUPS; i++)
		kfree(groups[i]);
}
