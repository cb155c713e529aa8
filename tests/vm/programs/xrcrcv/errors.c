// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Calls of ibv_alloc_xrc_rcv_qp() that must fail, each with its error. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "xrcrcv.h"

static struct end e;
static int wrong;

static void expect(int error, const struct ibv_qp_attr *attr, int mask, const char *what)
{
	struct ibv_qp_attr copy = *attr;
	__u32 qpn = 0xabcdef;
	int ret = ibv_alloc_xrc_rcv_qp(e.pd, e.xrcd, &copy, mask, &qpn);

	if (ret == error && (!ret || (errno == ret && qpn == 0xabcdef)))
		return;
	printf("%s: %s, not %s\n", what, strerror(ret), strerror(error));
	wrong++;
}

#define EXPECT_BAD(member, value)					\
do {									\
	struct ibv_qp_attr bad = good;					\
									\
	bad.member = value;						\
	expect(EINVAL, &bad, mask, #member " = " #value);		\
} while (0)

/* Prints "not this core" if the kernel's core is another. */
int check_errors(const char *device)
{
	struct ibv_qp_attr good;
	int mask, bit;
	__u32 qpn;

	open_device(&e, device);
	open_domain(&e, DOMAIN_FILE);
	mask = receiver_attr(&good, 1, e.lid);
	if (ibv_alloc_xrc_rcv_qp(e.pd, e.xrcd, &good, mask, &qpn) == EOPNOTSUPP) {
		puts("not this core");
		return 0;
	}
	expect(0, &good, mask, "all of the mask");
	for (bit = 0; bit < 31; bit++)
		expect(1 << bit == IBV_QP_MIN_RNR_TIMER || 1 << bit == IBV_QP_MAX_DEST_RD_ATOMIC ?
		       0 : EINVAL, &good, mask ^ 1 << bit, "another mask");
	good.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	expect(EINVAL, &good, mask, "reads without a number");
	good.max_dest_rd_atomic = 1;
	mask |= IBV_QP_MAX_DEST_RD_ATOMIC;
	expect(0, &good, mask, "reads");
	EXPECT_BAD(path_mtu, 0);
	EXPECT_BAD(path_mtu, 6);
	EXPECT_BAD(rq_psn, 1 << 24);
	EXPECT_BAD(dest_qp_num, 1 << 24);
	EXPECT_BAD(qp_access_flags, 1 << 30);
	EXPECT_BAD(pkey_index, 0xffff);
	EXPECT_BAD(port_num, 0);
	EXPECT_BAD(port_num, 255);
	EXPECT_BAD(min_rnr_timer, 32);
	EXPECT_BAD(max_dest_rd_atomic, 255);
	EXPECT_BAD(ah_attr.dlid, 0);
	EXPECT_BAD(ah_attr.dlid, 0xc000);
	EXPECT_BAD(ah_attr.sl, 16);
	EXPECT_BAD(ah_attr.port_num, 2);
	puts(wrong ? "wrong errors" : "errors as expected");
	return wrong ? 1 : 0;
}

/* Has QPs made until it may have no more, and one more when it may again. */
int check_limit(const char *device)
{
	struct ibv_qp_attr attr;
	int mask, ret, made = 0, i;
	__u32 qpn;

	open_device(&e, device);
	open_domain(&e, DOMAIN_FILE);
	mask = receiver_attr(&attr, 1, e.lid);
	while (!(ret = ibv_alloc_xrc_rcv_qp(e.pd, e.xrcd, &attr, mask, &qpn)))
		made++;
	printf("made %d: %s\n", made, strerror(ret));
	/* Those that fail leave nothing behind that would count. */
	for (i = 0; i < 100; i++)
		expect(EAGAIN, &attr, mask, "at the limit");
	reached("limit");
	expect(0, &attr, mask, "above the old limit");
	expect(EAGAIN, &attr, mask, "at the new limit");
	reached("raised");
	return ret != EAGAIN || wrong;
}
