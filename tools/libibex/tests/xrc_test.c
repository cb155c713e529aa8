// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What libibex sends to the kernel, and what it makes of the answers: ioctl() ends here. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ibex/xrc.h>
#include <infiniband/ibex.h>
#include "uverbs.h"

#define HANDLE	5
#define QPN	0x4711
#define ALL	(IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_AV |	\
		 IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |			\
		 IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH)

#define CHECK(cond)							\
do {									\
	if (!(cond)) {							\
		printf("%s:%d: %s\n", __FILE__, __LINE__, #cond);	\
		exit(1);						\
	}								\
} while (0)

/* As libibverbs lays it out. */
struct domain {
	struct ibv_xrcd xrcd;
	uint32_t comp_mask;
	uint32_t handle;
};

static struct ibv_device devices[2];
static struct ibv_context context = { .device = &devices[0], .cmd_fd = 77 };
static struct ibv_context other = { .device = &devices[1], .cmd_fd = 78 };
static struct ibv_pd pd = { .context = &context };
static struct domain domain = { { &context }, 0xffffffff, HANDLE };

/* The kernel. */
static struct {
	uint32_t first, number;		/* of the process's XRC domains */
	int lists_error, error;
	int lists, calls;
	struct ib_uverbs_qp_attr attr;
	uint32_t mask;
} kernel;

static const struct ib_uverbs_attr *find(const struct ib_uverbs_ioctl_hdr *hdr, int id, int len)
{
	int i;

	for (i = 0; i < hdr->num_attrs; i++) {
		if (hdr->attrs[i].attr_id != id)
			continue;
		CHECK(hdr->attrs[i].flags == UVERBS_ATTR_F_MANDATORY);
		CHECK(len < 0 || hdr->attrs[i].len == len);
		return &hdr->attrs[i];
	}
	CHECK(!"the attribute is there");
	return NULL;
}

static void *at(const struct ib_uverbs_attr *attr)
{
	return (void *)(uintptr_t)attr->data;
}

static int answer_list(const struct ib_uverbs_ioctl_hdr *hdr)
{
	const struct ib_uverbs_attr *list = find(hdr, UVERBS_ATTR_INFO_HANDLES_LIST, -1);
	uint32_t i, room = list->len / sizeof(uint32_t);

	kernel.lists++;
	CHECK(find(hdr, UVERBS_ATTR_INFO_OBJECT_ID, 8)->data == UVERBS_OBJECT_XRCD);
	for (i = 0; i < kernel.number && i < room; i++)
		((uint32_t *)at(list))[i] = kernel.first + i;
	*(uint32_t *)at(find(hdr, UVERBS_ATTR_INFO_TOTAL_HANDLES, 4)) = i;
	return kernel.lists_error;
}

static int answer_alloc(const struct ib_uverbs_ioctl_hdr *hdr)
{
	kernel.calls++;
	CHECK(hdr->object_id == UVERBS_OBJECT_XRCD);
	CHECK(hdr->method_id == 0xe000 && hdr->num_attrs == 4);
	CHECK(find(hdr, 0, 0)->data == HANDLE);
	memcpy(&kernel.attr, at(find(hdr, 1, sizeof(kernel.attr))), sizeof(kernel.attr));
	kernel.mask = find(hdr, 2, 4)->data;
	if (!kernel.error)
		*(uint32_t *)at(find(hdr, 3, 4)) = QPN;
	return kernel.error;
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	const struct ib_uverbs_ioctl_hdr *hdr;
	va_list args;
	int ret;

	va_start(args, request);
	hdr = va_arg(args, const struct ib_uverbs_ioctl_hdr *);
	va_end(args);
	CHECK(fd == 77);
	/* Direction, size, magic and number, as in the kernel's headers. */
	CHECK(request == 0xc0181b01);
	CHECK(hdr->length == sizeof(*hdr) + hdr->num_attrs * sizeof(hdr->attrs[0]));
	ret = hdr->object_id == UVERBS_OBJECT_DEVICE ? answer_list(hdr) : answer_alloc(hdr);
	if (!ret)
		return 0;
	errno = ret;
	return -1;
}

static void fill(struct ibv_qp_attr *attr)
{
	*attr = (struct ibv_qp_attr) {
		.path_mtu = IBV_MTU_2048, .rq_psn = 0x123456, .dest_qp_num = 0x654321,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
		.ah_attr = { .dlid = 7, .sl = 3, .src_path_bits = 1, .port_num = 2,
			     .static_rate = 4, .is_global = 1,
			     .grh = { .dgid.raw = { 0xfe, 0x80, [15] = 1 },
				      .flow_label = 0xabcde, .sgid_index = 5,
				      .hop_limit = 63, .traffic_class = 9 } },
		.alt_ah_attr = { .dlid = 8, .port_num = 1 },
		.pkey_index = 1, .alt_pkey_index = 2, .max_dest_rd_atomic = 3,
		.min_rnr_timer = 12, .port_num = 2, .alt_port_num = 1, .alt_timeout = 14,
	};
}

static int alloc(struct ibv_qp_attr *attr, int mask, uint32_t *qpn)
{
	kernel.lists = 0;
	kernel.calls = 0;
	errno = 0;
	return ibv_alloc_xrc_rcv_qp(&pd, &domain.xrcd, attr, mask, qpn);
}

static void all_attributes_arrive(void)
{
	const struct ib_uverbs_qp_attr *got = &kernel.attr;
	struct ibv_qp_attr attr;
	uint32_t qpn = 0;

	fill(&attr);
	CHECK(!alloc(&attr, ALL, &qpn) && qpn == QPN && kernel.mask == ALL);
	CHECK(got->path_mtu == IBV_MTU_2048 && got->rq_psn == 0x123456);
	CHECK(got->dest_qp_num == 0x654321 && got->qp_access_flags == IBV_ACCESS_REMOTE_WRITE);
	CHECK(got->ah_attr.dlid == 7 && got->ah_attr.sl == 3 && got->ah_attr.port_num == 2);
	CHECK(got->ah_attr.src_path_bits == 1 && got->ah_attr.static_rate == 4);
	CHECK(got->ah_attr.is_global == 1 && got->ah_attr.grh.flow_label == 0xabcde);
	CHECK(got->ah_attr.grh.sgid_index == 5 && got->ah_attr.grh.hop_limit == 63);
	CHECK(got->ah_attr.grh.traffic_class == 9);
	CHECK(!memcmp(got->ah_attr.grh.dgid, attr.ah_attr.grh.dgid.raw, 16));
	CHECK(got->alt_ah_attr.dlid == 8 && got->alt_ah_attr.port_num == 1);
	CHECK(got->pkey_index == 1 && got->alt_pkey_index == 2 && got->port_num == 2);
	CHECK(got->max_dest_rd_atomic == 3 && got->min_rnr_timer == 12);
	CHECK(got->alt_port_num == 1 && got->alt_timeout == 14);
}

static void what_the_mask_lacks_is_not_sent(void)
{
	static const struct ib_uverbs_qp_attr nothing;
	struct ibv_qp_attr attr;
	uint32_t qpn;

	memset(&attr, 0xff, sizeof(attr));
	CHECK(!alloc(&attr, 0, &qpn) && !kernel.mask);
	CHECK(!memcmp(&kernel.attr, &nothing, sizeof(nothing)));
	/* A path that is not global has no GRH. */
	attr.ah_attr.is_global = 0;
	CHECK(!alloc(&attr, IBV_QP_AV, &qpn));
	CHECK(!memcmp(&kernel.attr.ah_attr.grh, &nothing.ah_attr.grh, sizeof(nothing.ah_attr.grh)));
}

static void errors(void)
{
	static const struct { int from, to; } map[] = {
		{ EPROTONOSUPPORT, EOPNOTSUPP }, { ENOTTY, EOPNOTSUPP }, { ENOSYS, EOPNOTSUPP },
		{ EOPNOTSUPP, EOPNOTSUPP }, { EINVAL, EINVAL }, { EPERM, EPERM },
		{ ENOSPC, ENOSPC }, { ENOMEM, ENOMEM }, { EAGAIN, EAGAIN }, { EIO, EIO },
	};
	struct ibv_qp_attr attr;
	uint32_t qpn = 1;
	unsigned int i;

	fill(&attr);
	for (i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		kernel.error = map[i].from;
		CHECK(alloc(&attr, ALL, &qpn) == map[i].to && errno == map[i].to);
		kernel.error = 0;
		kernel.lists_error = map[i].from;
		CHECK(alloc(&attr, ALL, &qpn) == map[i].to && !kernel.calls);
		kernel.lists_error = 0;
	}
	CHECK(qpn == 1);
	CHECK(ibv_alloc_xrc_rcv_qp(NULL, &domain.xrcd, &attr, ALL, &qpn) == EINVAL);
	CHECK(ibv_alloc_xrc_rcv_qp(&pd, NULL, &attr, ALL, &qpn) == EINVAL);
	CHECK(ibv_alloc_xrc_rcv_qp(&pd, &domain.xrcd, NULL, ALL, &qpn) == EINVAL);
	CHECK(ibv_alloc_xrc_rcv_qp(&pd, &domain.xrcd, &attr, ALL, NULL) == EINVAL);
	pd.context = &other;
	CHECK(alloc(&attr, ALL, &qpn) == EINVAL && !kernel.lists);
	pd.context = &context;
}

/* A libibverbs that keeps the handle elsewhere is noticed; one with many domains is not lost. */
static void the_handle_is_one_that_the_kernel_knows(void)
{
	struct ibv_qp_attr attr;
	uint32_t qpn;

	fill(&attr);
	kernel.number = 0;
	CHECK(alloc(&attr, ALL, &qpn) == EINVAL && !kernel.calls);
	kernel.first = HANDLE + 1;
	kernel.number = 10;
	CHECK(alloc(&attr, ALL, &qpn) == EINVAL && !kernel.calls);
	kernel.first = HANDLE - 4;
	CHECK(!alloc(&attr, ALL, &qpn) && kernel.lists == 1);
	kernel.number = 64;
	CHECK(!alloc(&attr, ALL, &qpn) && kernel.lists == 2);
	kernel.first = 1000000;
	kernel.number = 1000000;
	CHECK(alloc(&attr, ALL, &qpn) == ENOSPC);
}

int main(void)
{
	kernel.first = HANDLE;
	kernel.number = 1;
	all_attributes_arrive();
	what_the_mask_lacks_is_not_sent();
	errors();
	the_handle_is_one_that_the_kernel_knows();
	puts("libibex: ok");
	return 0;
}
