// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See xrc_rcv.h. */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/shmem_fs.h>
#include "xrc_rcv.h"

int rcv_file(struct kunit *test)
{
	struct file *file = shmem_file_setup("xrcd", PAGE_SIZE, 0);
	int fd = get_unused_fd_flags(O_CLOEXEC);

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_GE(test, fd, 0);
	fd_install(fd, file);
	return fd;
}

int rcv_open_domain(struct commands *c, int fd, u32 *handle)
{
	struct ib_uverbs_open_xrcd cmd = { .fd = fd, .oflags = O_CREAT };
	struct ib_uverbs_open_xrcd_resp resp;
	int ret;

	ret = commands_write(c, CMD(OPEN_XRCD), &cmd, sizeof(cmd), &resp, sizeof(resp));
	*handle = resp.xrcd_handle;
	return ret;
}

int rcv_close_domain(struct commands *c, u32 handle)
{
	struct ib_uverbs_close_xrcd cmd = { .xrcd_handle = handle };

	return commands_write(c, CMD(CLOSE_XRCD), &cmd, sizeof(cmd), NULL, 0);
}

void rcv_attr(struct ib_uverbs_qp_attr *attr)
{
	*attr = (struct ib_uverbs_qp_attr) {
		.path_mtu = IB_MTU_1024,
		.rq_psn = 0x123456,
		.dest_qp_num = 0x654321,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
		.ah_attr = { .dlid = 7, .sl = 3, .src_path_bits = 1, .port_num = 1,
			     .static_rate = IB_RATE_10_GBPS },
		.alt_ah_attr = { .dlid = 8, .sl = 4, .port_num = 1 },
		.pkey_index = 2,
		.alt_pkey_index = 3,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 12,
		.port_num = 1,
		.alt_port_num = 1,
		.alt_timeout = 14,
	};
}

int rcv_call(struct commands *c, u32 xrcd, const struct ib_uverbs_qp_attr *attr, u32 mask,
	     u32 *qpn)
{
	int ret;

	commands_begin(c, UVERBS_OBJECT_XRCD, IBEX_METHOD_ALLOC_XRC_RCV_QP);
	commands_obj(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_XRCD, xrcd);
	commands_in(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_ATTR, attr, sizeof(*attr));
	commands_u32(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_MASK, mask);
	commands_out(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM, sizeof(*qpn));
	ret = commands_ioctl(c);
	if (!ret)
		*qpn = commands_got_u32(c, IBEX_ATTR_ALLOC_XRC_RCV_QP_RESP_QP_NUM);
	return ret;
}

int rcv_alloc(struct commands *c, u32 xrcd, u32 *qpn)
{
	struct ib_uverbs_qp_attr attr;

	rcv_attr(&attr);
	return rcv_call(c, xrcd, &attr, RCV_ALL, qpn);
}

struct ib_qp *rcv_qp(struct commands *c, u32 qpn)
{
	return xa_load(&c->hca->qps, qpn);
}

int rcv_alive(struct commands *c, enum fake_hca_object kind)
{
	return atomic_read(&c->hca->alive[kind]);
}
