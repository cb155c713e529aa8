// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Address handles, and the references on the source GIDs of their attributes. */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <rdma/ib_cache.h>
#include "faults.h"
#include "core/objects.h"

static struct fake_hca *hca;
static struct ib_pd *pd;
static const struct ib_gid_attr *gid[2];	/* of port 1, by index */

static int modify_result;

static int ah_modify(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	return modify_result;
}

static int ah_query(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	rdma_ah_set_dlid(attr, 0x1234);
	return 0;
}

static int ah_test_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_INFINIBAND, .ports = 2,
	};
	int i;

	hca = fake_hca_alloc(&params);
	if (!hca)
		return -ENOMEM;
	hca->port[1].gids[1] = hca->port[1].gids[0];
	hca->port[1].gids[1].raw[15] ^= 0x80;
	if (fake_hca_register(hca)) {
		fake_hca_free(hca);
		hca = NULL;
		return -ENOMEM;
	}
	pd = ib_alloc_pd(&hca->ibdev, 0);
	for (i = 0; i < ARRAY_SIZE(gid); i++)
		gid[i] = rdma_get_gid_attr(&hca->ibdev, 1, i);
	return PTR_ERR_OR_ZERO(pd);
}

static void ah_test_exit(struct kunit *test)
{
	if (!hca)
		return;
	rdma_put_gid_attr(gid[0]);
	rdma_put_gid_attr(gid[1]);
	ib_dealloc_pd(pd);
	fake_hca_destroy(hca);
	hca = NULL;
}

static struct rdma_ah_attr attr_of(int index)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1 };
	union ib_gid dgid = { .raw = { 0xfe, 0x80, [15] = 9 } };

	rdma_ah_set_dlid(&attr, 7);
	rdma_ah_set_grh(&attr, &dgid, 1, index, 2, 3);
	return attr;
}

static void a_handle_holds_its_gid_and_domain(struct kunit *test)
{
	struct rdma_ah_attr attr = attr_of(0);
	struct ib_ah *ah, *atomic;

	ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	KUNIT_EXPECT_PTR_EQ(test, ah->sgid_attr, gid[0]);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 1);
	/* The caller's attributes are not changed. */
	KUNIT_EXPECT_NULL(test, attr.grh.sgid_attr);
	if (hca->quirks.ah_only_sleeping) {
		atomic = rdma_create_ah(pd, &attr, 0);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(atomic), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 1);
	} else if (!hca->quirks.ah_always_sleeps) {
		rcu_read_lock();
		atomic = rdma_create_ah(pd, &attr, 0);
		rcu_read_unlock();
		KUNIT_ASSERT_FALSE(test, IS_ERR(atomic));
		KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 2);
		KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(atomic, 0, NULL), 0);
	}

	atomic_set(&hca->fail_destroy[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 1);
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 0);
}

/* In-tree number 23: the GID reference leaked if creation failed. */
static void a_handle_that_fails_gives_its_gid_back(struct kunit *test)
{
	struct rdma_ah_attr attr = attr_of(0);

	atomic_set(&hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr,
							     RDMA_CREATE_AH_SLEEPABLE)),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	hca->ibdev.ops.create_ah = NULL;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->usecnt), 0);
}

static int ah_once(struct kunit *test)
{
	struct rdma_ah_attr attr = attr_of(1);
	struct ib_ah *ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);

	if (!IS_ERR(ah))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
	return PTR_ERR_OR_ZERO(ah);
}

static void handles_survive_each_failed_allocation(struct kunit *test)
{
	KUNIT_EXPECT_GE(test, ibex_each_allocation(test, ah_once), 1u);
}

static void addresses_that_cannot_be_are_refused(struct kunit *test)
{
	struct rdma_ah_attr attr = attr_of(0);

	attr.port_num = 0;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EINVAL);
	attr.port_num = 3;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EINVAL);
	/* An empty entry of the GID table, and an index beyond the table. */
	attr = attr_of(5);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -ENODATA);
	attr = attr_of(200);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EINVAL);
	/* A GID other than the index selects, or of another port. */
	attr = attr_of(1);
	attr.grh.sgid_attr = gid[0];
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EINVAL);
	attr = attr_of(0);
	attr.grh.sgid_attr = gid[0];
	attr.port_num = 2;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EINVAL);
	/* A RoCE address handle needs a GRH. */
	attr = (struct rdma_ah_attr){ .type = RDMA_AH_ATTR_TYPE_ROCE, .port_num = 1 };
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rdma_create_ah(pd, &attr, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
}

static void a_modified_handle_holds_the_other_gid(struct kunit *test)
{
	struct rdma_ah_attr attr = attr_of(0);
	struct ib_ah *ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	attr = attr_of(1);
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), -EOPNOTSUPP);
	hca->ibdev.ops.modify_ah = ah_modify;
	modify_result = -EIO;
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), -EIO);
	KUNIT_EXPECT_PTR_EQ(test, ah->sgid_attr, gid[0]);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 1);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
	modify_result = 0;
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), 0);
	KUNIT_EXPECT_PTR_EQ(test, ah->sgid_attr, gid[1]);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 1);
	attr.type = RDMA_AH_ATTR_TYPE_UNDEFINED;
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), -EINVAL);
	attr = attr_of(5);
	KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), -ENODATA);
	/* Without a GRH, if the port does not require one, the handle holds no GID. */
	attr.ah_flags = 0;
	if (hca->quirks.grh_required) {
		KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), -EINVAL);
		KUNIT_EXPECT_PTR_EQ(test, ah->sgid_attr, gid[1]);
	} else {
		KUNIT_EXPECT_EQ(test, rdma_modify_ah(ah, &attr), 0);
		KUNIT_EXPECT_NULL(test, ah->sgid_attr);
		KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
	}
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), 0);
}

static void a_query_hands_out_no_reference(struct kunit *test)
{
	struct rdma_ah_attr attr = attr_of(0), back = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_ah *ah = rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);

	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	back.grh.sgid_attr = gid[1];
	hca->ibdev.ops.query_ah = NULL;
	KUNIT_EXPECT_EQ(test, rdma_query_ah(ah, &back), -EOPNOTSUPP);
	KUNIT_EXPECT_NULL(test, back.grh.sgid_attr);
	hca->ibdev.ops.query_ah = ah_query;
	KUNIT_EXPECT_EQ(test, rdma_query_ah(ah, &back), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&back), 0x1234);
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), 0);
}

static void attributes_own_what_they_name(struct kunit *test)
{
	struct rdma_ah_attr a = { .type = RDMA_AH_ATTR_TYPE_IB }, b, c;
	union ib_gid dgid = { .raw = { 1, 2, 3 } };

	rdma_hold_gid_attr(gid[1]);
	rdma_move_grh_sgid_attr(&a, &dgid, 0x12345, 6, 7, gid[1]);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&a), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, a.grh.sgid_index, 1);
	KUNIT_EXPECT_EQ(test, a.grh.flow_label, 0x12345);
	KUNIT_EXPECT_EQ(test, a.grh.hop_limit, 6);
	KUNIT_EXPECT_EQ(test, a.grh.traffic_class, 7);
	KUNIT_EXPECT_MEMEQ(test, &a.grh.dgid, &dgid, sizeof(dgid));
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 1);

	rdma_copy_ah_attr(&b, &a);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 2);
	rdma_move_ah_attr(&b, &a);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 1);
	KUNIT_EXPECT_NULL(test, a.grh.sgid_attr);
	KUNIT_EXPECT_PTR_EQ(test, b.grh.sgid_attr, gid[1]);

	/*
	 * Replaced by attributes with another GID, the same, none;
	 * the destination may stay the same.
	 */
	memset(&c, 0, sizeof(c));
	rdma_hold_gid_attr(gid[0]);
	c.grh.dgid.raw[0] = 0x55;
	rdma_move_grh_sgid_attr(&c, NULL, 0, 0, 0, gid[0]);
	KUNIT_EXPECT_EQ(test, c.grh.dgid.raw[0], 0x55);
	rdma_replace_ah_attr(&b, &c);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 2);
	rdma_replace_ah_attr(&b, &c);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 2);
	rdma_replace_ah_attr(&b, &a);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 1);
	rdma_destroy_ah_attr(&c);
	rdma_destroy_ah_attr(&c);
	rdma_destroy_ah_attr(&b);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
}

/* The sender of a received datagram: IBA 11.4.2.1, 13.5.4.2. */
static void a_reply_goes_where_the_datagram_came_from(struct kunit *test)
{
	struct ib_wc wc = { .slid = 0x33, .sl = 4, .dlid_path_bits = 2 };
	struct ib_grh grh = {
		.version_tclass_flow = cpu_to_be32(0x6abfedcb),
		.hop_limit = 3,
		.sgid.raw = { 0xfe, 0x80, [15] = 0x77 },
		.dgid = gid[1]->gid,
	};
	struct rdma_ah_attr attr;
	struct ib_ah *ah;

	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_wc(&hca->ibdev, 1, &wc, &grh, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 0x33);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&attr), 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 4);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), 0);

	wc.wc_flags = IB_WC_GRH;
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_wc(&hca->ibdev, 1, &wc, &grh, &attr), 0);
	KUNIT_EXPECT_MEMEQ(test, &attr.grh.dgid, &grh.sgid, sizeof(grh.sgid));
	KUNIT_EXPECT_PTR_EQ(test, attr.grh.sgid_attr, gid[1]);
	KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0xfedcb);
	KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 0xab);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 0xff);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 1);
	rdma_destroy_ah_attr(&attr);

	ah = ib_create_ah_from_wc(pd, &wc, &grh, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 1);
	KUNIT_EXPECT_EQ(test, rdma_destroy_ah_user(ah, RDMA_DESTROY_AH_SLEEPABLE, NULL), 0);
	atomic_set(&hca->fail_create[FAKE_AH], 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_ah_from_wc(pd, &wc, &grh, 1)),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[1]), 0);

	/*
	 * A datagram to a GID that the port does not have gets no
	 * reply, except to the SA's well-known GUID.
	 */
	grh.dgid.raw[15] ^= 0x11;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(ib_create_ah_from_wc(pd, &wc, &grh, 1)),
			-ENOENT);
	grh.dgid.global.interface_id = cpu_to_be64(IB_SA_WELL_KNOWN_GUID);
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_wc(&hca->ibdev, 1, &wc, &grh, &attr), 0);
	KUNIT_EXPECT_PTR_EQ(test, attr.grh.sgid_attr, gid[0]);
	rdma_destroy_ah_attr(&attr);
	KUNIT_EXPECT_EQ(test, gid_refs(gid[0]), 0);
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&hca->ibdev, 3, &wc, &grh, &attr),
			-EINVAL);
}

static struct kunit_case ah_cases[] = {
	KUNIT_CASE(a_handle_holds_its_gid_and_domain),
	KUNIT_CASE(a_handle_that_fails_gives_its_gid_back),
	KUNIT_CASE(handles_survive_each_failed_allocation),
	KUNIT_CASE(addresses_that_cannot_be_are_refused),
	KUNIT_CASE(a_modified_handle_holds_the_other_gid),
	KUNIT_CASE(a_query_hands_out_no_reference),
	KUNIT_CASE(attributes_own_what_they_name),
	KUNIT_CASE(a_reply_goes_where_the_datagram_came_from),
	{}
};

static struct kunit_suite ibcore_ah_suite = {
	.name = "ib_core_ah",
	.init = ah_test_init,
	.exit = ah_test_exit,
	.test_cases = ah_cases,
};

kunit_test_suite(ibcore_ah_suite);
