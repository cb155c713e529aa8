// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Kernel structs converted to those of userspace: every field, and no stray byte. */
#include <rdma/ib_marshall.h>
#include <rdma/opa_addr.h>
#include "user/uverbs_test.h"

#define LONG_LID 0x12345678u

static const struct fake_hca_params ib_params = {
	.link_layer = IB_LINK_LAYER_INFINIBAND,
};

static struct fake_hca *hca;

static int marshal_test_init(struct kunit *test)
{
	hca = fake_hca_create(&ib_params);
	return hca ? 0 : -ENOMEM;
}

static void marshal_test_exit(struct kunit *test)
{
	if (hca)
		fake_hca_destroy(hca);
	hca = NULL;
}

static const union ib_gid remote_gid = {
	.raw = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
};

/* InfiniBand or Omni-Path attributes with a different value in each field. */
static void make_ah(struct rdma_ah_attr *ah, enum rdma_ah_attr_type type, u32 dlid,
		    bool grh)
{
	memset(ah, 0, sizeof(*ah));
	ah->type = type;
	rdma_ah_set_dlid(ah, dlid);
	rdma_ah_set_path_bits(ah, 3);
	rdma_ah_set_sl(ah, 4);
	rdma_ah_set_static_rate(ah, IB_RATE_10_GBPS);
	rdma_ah_set_port_num(ah, 1);
	/* A GRH that is ignored unless the flag is set. */
	rdma_ah_set_grh(ah, NULL, 0xabcde, 7, 63, 9);
	rdma_ah_set_dgid_raw(ah, (void *)remote_gid.raw);
	if (!grh)
		rdma_ah_set_ah_flags(ah, 0);
}

static void copy_ah(struct ib_uverbs_ah_attr *out, struct rdma_ah_attr *ah)
{
	memset(out, 0xaa, sizeof(*out));
	ib_copy_ah_attr_to_user(&hca->ibdev, out, ah);
}

static void an_address_is_told_with_its_route(struct kunit *test)
{
	static const struct ib_uverbs_ah_attr want = {
		.grh = {
			.dgid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
			.flow_label = 0xabcde,
			.sgid_index = 7,
			.hop_limit = 63,
			.traffic_class = 9,
		},
		.dlid = 0x1234,
		.sl = 4,
		.src_path_bits = 3,
		.static_rate = IB_RATE_10_GBPS,
		.is_global = 1,
		.port_num = 1,
	};
	struct ib_uverbs_ah_attr out;
	struct rdma_ah_attr ah;

	make_ah(&ah, RDMA_AH_ATTR_TYPE_IB, 0x1234, true);
	copy_ah(&out, &ah);
	KUNIT_EXPECT_MEMEQ(test, &out, &want, sizeof(out));
}

static void an_address_without_route_has_none(struct kunit *test)
{
	struct ib_uverbs_ah_attr out, want = {
		.dlid = 0xc123,
		.sl = 4,
		.src_path_bits = 3,
		.static_rate = IB_RATE_10_GBPS,
		.port_num = 1,
	};
	struct rdma_ah_attr ah;

	make_ah(&ah, RDMA_AH_ATTR_TYPE_IB, 0xc123, false);
	copy_ah(&out, &ah);
	KUNIT_EXPECT_MEMEQ(test, &out, &want, sizeof(out));
}

static void a_roce_address_has_no_lid(struct kunit *test)
{
	struct rdma_ah_attr ah = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	static const u8 dmac[] = { 2, 3, 4, 5, 6, 7 };
	struct ib_uverbs_ah_attr out;

	rdma_ah_set_grh(&ah, (union ib_gid *)&remote_gid, 1, 2, 3, 4);
	memcpy(ah.roce.dmac, dmac, sizeof(dmac));
	copy_ah(&out, &ah);
	KUNIT_EXPECT_EQ(test, out.dlid, 0);
	KUNIT_EXPECT_EQ(test, out.src_path_bits, 0);
	KUNIT_EXPECT_EQ(test, out.is_global, 1);
	KUNIT_EXPECT_MEMEQ(test, out.grh.dgid, remote_gid.raw, 16);
}

/* A LID, and whether userspace gets it unchanged. */
static const struct {
	u32 lid;
	bool plain;
} opa_lids[] = {
	{ 1, true }, { 0xbfff, true }, { 0xc000, false }, { 0xfffe, false },
	{ 0xffff, true }, { 0x10000, false }, { LONG_LID, false },
	{ 0xfffffffe, false }, { 0xffffffff, true },
};

static void an_extended_lid_goes_into_the_gid(struct kunit *test)
{
	struct ib_uverbs_ah_attr out;
	struct rdma_ah_attr ah;
	union ib_gid gid;
	int i;

	for (i = 0; i < ARRAY_SIZE(opa_lids); i++) {
		make_ah(&ah, RDMA_AH_ATTR_TYPE_OPA, opa_lids[i].lid, false);
		copy_ah(&out, &ah);
		memcpy(gid.raw, out.grh.dgid, sizeof(gid));
		KUNIT_EXPECT_EQ(test, out.is_global, !opa_lids[i].plain);
		KUNIT_EXPECT_EQ(test, ib_is_opa_gid(&gid), !opa_lids[i].plain);
		if (opa_lids[i].plain) {
			KUNIT_EXPECT_EQ(test, out.dlid, (u16)opa_lids[i].lid);
			continue;
		}
		KUNIT_EXPECT_EQ(test, out.dlid, 0);
		KUNIT_EXPECT_EQ(test, opa_get_lid_from_gid(&gid), opa_lids[i].lid);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.subnet_prefix),
				0xfe80000000000000ull);
		KUNIT_EXPECT_EQ(test, out.grh.hop_limit, 1);
	}
}

static void a_route_that_has_the_lid_is_kept(struct kunit *test)
{
	union ib_gid gid = { .global.interface_id = OPA_MAKE_ID(LONG_LID) };
	struct ib_uverbs_ah_attr out;
	struct rdma_ah_attr ah;

	make_ah(&ah, RDMA_AH_ATTR_TYPE_OPA, LONG_LID, true);
	ah.grh.dgid = gid;
	copy_ah(&out, &ah);
	KUNIT_EXPECT_MEMEQ(test, out.grh.dgid, gid.raw, 16);
	KUNIT_EXPECT_EQ(test, out.grh.hop_limit, 63);
	KUNIT_EXPECT_EQ(test, out.grh.sgid_index, 7);
	KUNIT_EXPECT_EQ(test, out.grh.flow_label, 0xabcdeu);
}

static const struct ib_qp_attr qp_attr = {
	.qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQD, .path_mtu = IB_MTU_2048,
	.path_mig_state = IB_MIG_ARMED, .qkey = 101, .rq_psn = 102, .sq_psn = 103,
	.dest_qp_num = 104, .qp_access_flags = 105,
	.cap = { .max_send_wr = 106, .max_recv_wr = 107, .max_send_sge = 108,
		 .max_recv_sge = 109, .max_inline_data = 110 },
	.pkey_index = 111, .alt_pkey_index = 112, .en_sqd_async_notify = 1,
	.sq_draining = 2, .max_rd_atomic = 113, .max_dest_rd_atomic = 114,
	.min_rnr_timer = 115, .port_num = 116, .timeout = 117, .retry_cnt = 118,
	.rnr_retry = 119, .alt_port_num = 120, .alt_timeout = 121,
};

static const struct ib_uverbs_qp_attr qp_attr_told = {
	.qp_attr_mask = 0xaaaaaaaa,
	.qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQD, .path_mtu = IB_MTU_2048,
	.path_mig_state = IB_MIG_ARMED, .qkey = 101, .rq_psn = 102, .sq_psn = 103,
	.dest_qp_num = 104, .qp_access_flags = 105, .max_send_wr = 106,
	.max_recv_wr = 107, .max_send_sge = 108, .max_recv_sge = 109,
	.max_inline_data = 110, .pkey_index = 111, .alt_pkey_index = 112,
	.en_sqd_async_notify = 1, .sq_draining = 2, .max_rd_atomic = 113,
	.max_dest_rd_atomic = 114, .min_rnr_timer = 115, .port_num = 116,
	.timeout = 117, .retry_cnt = 118, .rnr_retry = 119, .alt_port_num = 120,
	.alt_timeout = 121,
};

static void a_qp_is_told_in_full_but_for_the_mask(struct kunit *test)
{
	struct ib_uverbs_qp_attr out, want = qp_attr_told;
	struct ib_qp_attr src = qp_attr;

	make_ah(&src.ah_attr, RDMA_AH_ATTR_TYPE_IB, 5, true);
	make_ah(&src.alt_ah_attr, RDMA_AH_ATTR_TYPE_IB, 6, false);
	copy_ah(&want.ah_attr, &src.ah_attr);
	copy_ah(&want.alt_ah_attr, &src.alt_ah_attr);

	memset(&out, 0xaa, sizeof(out));
	ib_copy_qp_attr_to_user(&hca->ibdev, &out, &src);
	KUNIT_EXPECT_MEMEQ(test, &out, &want, sizeof(out));
}

static const struct ib_user_path_rec path_told = {
	.dgid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 },
	.sgid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1 },
	.dlid = cpu_to_be16(0x1122), .slid = cpu_to_be16(0x3344), .raw_traffic = 1,
	.flow_label = cpu_to_be32(0x55667), .reversible = 1, .mtu = IB_MTU_4096,
	.pkey = cpu_to_be16(0x8899), .hop_limit = 21, .traffic_class = 22,
	.numb_path = 23, .sl = 24, .mtu_selector = 2, .rate_selector = 1, .rate = 25,
	.packet_life_time_selector = 3, .packet_life_time = 26, .preference = 27,
};

static void a_path_comes_back_as_it_was(struct kunit *test)
{
	struct ib_user_path_rec in = path_told, out;
	struct sa_path_rec path;

	memset(&path, 0xaa, sizeof(path));
	memset(&out, 0xaa, sizeof(out));
	ib_copy_path_rec_from_user(&path, &in);
	KUNIT_EXPECT_EQ(test, path.rec_type, SA_PATH_REC_TYPE_IB);
	KUNIT_EXPECT_EQ(test, path.service_id, 0);
	KUNIT_EXPECT_EQ(test, path.qos_class, 0);
	KUNIT_EXPECT_EQ(test, path.flags, 0u);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(path.ib.dlid), 0x1122);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(path.ib.slid), 0x3344);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(path.pkey), 0x8899);
	KUNIT_EXPECT_EQ(test, path.mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, path.packet_life_time, 26);

	ib_copy_path_rec_to_user(&out, &path);
	KUNIT_EXPECT_MEMEQ(test, &out, &in, sizeof(out));
}

static void an_omni_path_path_has_its_lids_in_gids(struct kunit *test)
{
	struct ib_user_path_rec out;
	struct sa_path_rec path = {};
	union ib_gid gid;

	path.rec_type = SA_PATH_REC_TYPE_OPA;
	path.opa.dlid = cpu_to_be32(LONG_LID);
	path.opa.slid = cpu_to_be32(LONG_LID + 1);
	memset(&out, 0xaa, sizeof(out));
	ib_copy_path_rec_to_user(&out, &path);
	KUNIT_EXPECT_EQ(test, out.dlid, 0);
	memcpy(gid.raw, out.dgid, 16);
	KUNIT_EXPECT_EQ(test, opa_get_lid_from_gid(&gid), LONG_LID);

	memset(&path, 0xaa, sizeof(path));
	ib_copy_path_rec_from_user(&path, &out);
	KUNIT_EXPECT_EQ(test, path.rec_type, SA_PATH_REC_TYPE_OPA);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(path.opa.dlid), LONG_LID);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(path.opa.slid), LONG_LID + 1);
	KUNIT_EXPECT_EQ(test, path.opa.qos_type, 0);
}

static void a_roce_path_has_no_lids(struct kunit *test)
{
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_ROCE_V2 };
	struct ib_user_path_rec out;

	memset(path.roce.dmac, 0x77, sizeof(path.roce.dmac));
	path.roce.route_resolved = true;
	path.dgid = remote_gid;
	memset(&out, 0xaa, sizeof(out));
	ib_copy_path_rec_to_user(&out, &path);
	KUNIT_EXPECT_EQ(test, out.dlid, 0);
	KUNIT_EXPECT_EQ(test, out.slid, 0);
	KUNIT_EXPECT_EQ(test, out.raw_traffic, 0u);
	KUNIT_EXPECT_MEMEQ(test, out.dgid, remote_gid.raw, 16);
}

static struct kunit_case marshal_cases[] = {
	KUNIT_CASE(an_address_is_told_with_its_route),
	KUNIT_CASE(an_address_without_route_has_none),
	KUNIT_CASE(a_roce_address_has_no_lid),
	KUNIT_CASE(an_extended_lid_goes_into_the_gid),
	KUNIT_CASE(a_route_that_has_the_lid_is_kept),
	KUNIT_CASE(a_qp_is_told_in_full_but_for_the_mask),
	KUNIT_CASE(a_path_comes_back_as_it_was),
	KUNIT_CASE(an_omni_path_path_has_its_lids_in_gids),
	KUNIT_CASE(a_roce_path_has_no_lids),
	{}
};

static struct kunit_suite uverbs_marshal_suite = {
	.name = "uverbs_marshal",
	.init = marshal_test_init,
	.exit = marshal_test_exit,
	.test_cases = marshal_cases,
};

kunit_test_suite(uverbs_marshal_suite);
