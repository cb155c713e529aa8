// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A dump of thousands of objects visits each once, over all its pages. */
#include <kunit/test.h>
#include <ibex/restrack.h>
#include <rdma/rdma_cm.h>
#include "nl.h"

#define IDS	5000

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
	.ports = 2,
};

static struct nl nl;
static struct fake_hca *hca;
static struct nlattr *tb[RDMA_NLDEV_ATTR_MAX], *etb[RDMA_NLDEV_ATTR_MAX];
static struct rdma_cm_id *id[2];		/* of port 1, of port 2 */
static struct rdma_restrack_cm_id *track;
static u8 *shown;				/* by index in track */
static int visits, entries, pages, others;

static void query_cm_id(const struct rdma_restrack_cm_id *cm_id,
			struct rdma_restrack_cm_state *out)
{
	visits++;
	out->qp_num = cm_id - track;
}

static void track_one(int i)
{
	track[i].id = id[i % 2];
	track[i].query = query_cm_id;
	rdma_restrack_new(&track[i].res, RDMA_RESTRACK_CM_ID);
	rdma_restrack_set_name(&track[i].res, "test");
	rdma_restrack_add(&track[i].res);
}

static int many_init(struct kunit *test)
{
	int i;

	hca = fake_hca_create(&ib_params);
	track = kvcalloc(IDS, sizeof(*track), GFP_KERNEL);
	shown = kvzalloc(IDS, GFP_KERNEL);
	if (!hca || !track || !shown)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		id[i] = kunit_kzalloc(test, sizeof(*id[i]), GFP_KERNEL);
		if (!id[i])
			return -ENOMEM;
		id[i]->device = &hca->ibdev;
		id[i]->port_num = i + 1;
	}
	for (i = 0; i < IDS; i++)
		track_one(i);
	return nl_open(&nl, &init_net);
}

static void many_exit(struct kunit *test)
{
	int i;

	for (i = 0; track && i < IDS; i++)
		if (track[i].id)
			rdma_restrack_del(&track[i].res);
	kvfree(track);
	kvfree(shown);
	track = NULL;
	shown = NULL;
	nl_hca_exit(test, &nl, &hca);
}

/* Notes each entry in the messages of a page, and empties the store. */
static void note_page(struct nl *unused)
{
	struct nlattr *pos;
	int i, rem;

	for (i = 0; i < nl.n; i++) {
		nl_attrs(&nl, i, tb);
		if (!tb[RDMA_NLDEV_ATTR_RES_CM_ID])
			continue;
		nla_for_each_nested(pos, tb[RDMA_NLDEV_ATTR_RES_CM_ID], rem) {
			u32 n;

			nl_nested(pos, etb);
			n = etb[RDMA_NLDEV_ATTR_RES_LQPN] ?
			    nl_u32(etb[RDMA_NLDEV_ATTR_RES_LQPN]) : 0;
			if (n < IDS)
				shown[n]++;
			else
				others++;
			entries++;
		}
	}
	nl.n = 0;
	nl.used = 0;
}

static int dump(u32 port, void (*between)(struct nl *nl))
{
	int ret;

	visits = 0;
	entries = 0;
	others = 0;
	memset(shown, 0, IDS);
	nl.between = between;
	ret = nl_call(&nl, nl_dev_dump(&nl, RDMA_NLDEV_CMD_RES_CM_ID_GET, hca, port));
	nl.between = NULL;
	/* The messages of the last page. */
	note_page(&nl);
	pages = nl.pages;
	return ret;
}

static int shown_once(int from, int to, int step)
{
	int i, n = 0;

	for (i = from; i < to; i += step)
		n += shown[i] == 1;
	return n;
}

static void each_is_visited_once(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, dump(0, note_page), 0);
	KUNIT_EXPECT_EQ(test, entries, IDS);
	KUNIT_EXPECT_EQ(test, others, 0);
	KUNIT_EXPECT_EQ(test, shown_once(0, IDS, 1), IDS);
	KUNIT_EXPECT_GT(test, pages, 50);
	/* The object that did not fit in a page is visited once more. */
	KUNIT_EXPECT_GE(test, visits, IDS);
	KUNIT_EXPECT_LE(test, visits, IDS + pages);
}

static void those_of_a_port(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, dump(2, note_page), 0);
	KUNIT_EXPECT_EQ(test, entries, IDS / 2);
	KUNIT_EXPECT_EQ(test, shown_once(1, IDS, 2), IDS / 2);
	KUNIT_EXPECT_LE(test, visits, IDS / 2 + pages);
}

/* Between pages removes an object far ahead and one that was shown. */
static void note_and_remove(struct nl *unused)
{
	static const int ahead = 2000;
	int i, at;

	note_page(unused);
	for (i = 0; i < 2; i++) {
		at = i ? entries - 1 : entries + ahead;
		if (at < 0 || at >= IDS || !track[at].id)
			continue;
		rdma_restrack_del(&track[at].res);
		track[at].id = NULL;
	}
}

static void while_many_go(struct kunit *test)
{
	int i, twice = 0, left = 0, missed = 0;

	KUNIT_ASSERT_EQ(test, dump(0, note_and_remove), 0);
	for (i = 0; i < IDS; i++) {
		twice += shown[i] > 1;
		left += !!track[i].id;
		missed += track[i].id && !shown[i];
	}
	KUNIT_EXPECT_LT(test, left, IDS - 50);
	KUNIT_EXPECT_EQ(test, twice, 0);
	KUNIT_EXPECT_EQ(test, missed, 0);
	KUNIT_EXPECT_LE(test, visits, IDS + pages);
}

static struct kunit_case many_cases[] = {
	KUNIT_CASE(each_is_visited_once),
	KUNIT_CASE(those_of_a_port),
	KUNIT_CASE(while_many_go),
	{}
};

static struct kunit_suite ibcore_nldev_many_suite = {
	.name = "ib_core_nldev_many",
	.init = many_init,
	.exit = many_exit,
	.test_cases = many_cases,
};

kunit_test_suite(ibcore_nldev_many_suite);
