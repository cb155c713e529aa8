// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Functions of their arguments only: conversions and names. */
#include <linux/ethtool.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_mad.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>
#include "kapi.h"

static void rates(void)
{
	u32 rate = rnd(30), mult = rnd(100);

	switch (rnd(3)) {
	case 0:
		call("ib_rate_to_mbps %u", rate);
		answer_with(0, "%d", ib_rate_to_mbps(rate));
		break;
	case 1:
		call("ib_rate_to_mult %u", rate);
		answer_with(0, "%d", ib_rate_to_mult(rate));
		break;
	default:
		mult = one_in(2) ? one_of(1, 2, 4, 8, 12, 16, 20, 24, 32, 40, 48, 80, 120) : mult;
		call("mult_to_ib_rate %u", mult);
		answer_with(0, "%d", mult_to_ib_rate(mult));
	}
}

/* Those that there are, and some that there are not. */
static void names(void)
{
	u32 n = one_in(10) ? one_of(1000, 0x7fffffff, 255) : rnd(36);

	switch (rnd(4)) {
	case 0:
		call("ib_event_msg %u", n);
		answer_with(0, "'%s'", ib_event_msg(n));
		break;
	case 1:
		call("ib_wc_status_msg %u", n);
		answer_with(0, "'%s'", ib_wc_status_msg(n));
		break;
	case 2:
		call("rdma_event_msg %u", n);
		answer_with(0, "'%s'", rdma_event_msg(n));
		break;
	default:
		call("ibcm_reject_msg %u", n);
		answer_with(0, "'%s'", ibcm_reject_msg(n));
	}
}

static void iw_names(void)
{
	int n = one_in(2) ? -(int)one_of(ECONNRESET, ECONNREFUSED, ETIMEDOUT, EINVAL) :
			    (int)one_of(0, 1, ECONNRESET);

	call("iwcm_reject_msg %d", n);
	answer_with(0, "'%s'", iwcm_reject_msg(n));
}

static void mad_classes(void)
{
	u32 class = one_in(2) ? rnd(256) : one_of(1, 3, 4, 6, 7, 0x10, 0x12, 0x30, 0x4f, 0x81);

	call("ib_is_mad_class_rmpp %x", class);
	answer_with(0, "%d", ib_is_mad_class_rmpp(class));
	call("ib_get_mad_data_offset %x", class);
	answer_with(0, "%d", ib_get_mad_data_offset(class));
}

static void mad_responses(void)
{
	struct ib_mad_hdr hdr = {
		.mgmt_class = one_of(IB_MGMT_CLASS_BM, IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_CLASS_CM,
				     0x30),
		.method = one_in(2) ? rnd(256) : one_of(IB_MGMT_METHOD_GET, IB_MGMT_METHOD_GET_RESP,
							IB_MGMT_METHOD_TRAP_REPRESS, 3),
		.attr_mod = one_in(2) ? IB_BM_ATTR_MOD_RESP : cpu_to_be32(rnd(4)),
	};

	call("ib_response_mad class %x method %x modifier %x", hdr.mgmt_class, hdr.method,
	     be32_to_cpu(hdr.attr_mod));
	answer_with(0, "%d", !!ib_response_mad(&hdr));
}

/* ---- addresses ---- */

static void addr_sizes(void)
{
	struct __kernel_sockaddr_storage ss = {};
	struct sockaddr_in6 in6 = {};

	ss.ss_family = one_of(AF_INET, AF_INET6, AF_IB, AF_UNSPEC, AF_UNIX, 200);
	in6.sin6_family = ss.ss_family;
	switch (rnd(3)) {
	case 0:
		call("rdma_addr_size family %u", ss.ss_family);
		answer_with(0, "%d", rdma_addr_size((struct sockaddr *)&ss));
		break;
	case 1:
		call("rdma_addr_size_in6 family %u", ss.ss_family);
		answer_with(0, "%d", rdma_addr_size_in6(&in6));
		break;
	default:
		call("rdma_addr_size_kss family %u", ss.ss_family);
		answer_with(0, "%d", rdma_addr_size_kss(&ss));
	}
}

void pure_functions(u64 number)
{
	static const struct op ops[] = {
		{ rates, 6 }, { names, 8 }, { iw_names, 1 }, { mad_classes, 4 }, { mad_responses,
										  4 },
		{ addr_sizes, 3 },
	};

	random_ops(ops, ARRAY_SIZE(ops), 50 + rnd(30));
}
