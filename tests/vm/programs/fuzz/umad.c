// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* /dev/infiniband/umad*: agents, MADs sent and received. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "fuzz.h"

#define REGISTER	_IOWR(RDMA_IOCTL_MAGIC, 1, struct ib_user_mad_reg_req)
#define UNREGISTER	_IOW(RDMA_IOCTL_MAGIC, 2, __u32)
#define ENABLE_PKEY	_IO(RDMA_IOCTL_MAGIC, 3)
#define REGISTER2	_IOWR(RDMA_IOCTL_MAGIC, 4, struct ib_user_mad_reg_req2)

static const __u8 classes[] = { 0x01, 0x81, 0x03, 0x04, 0x06, 0x07, 0x0a, 0x30, 0x4f };

static __u8 class(void)
{
	return chance(10) ? rnd(256) : classes[rnd(sizeof(classes))];
}

static int register_agent(void)
{
	struct ib_user_mad_reg_req req = {
		.qpn = chance(16) ? rnd(4) : 1,
		.mgmt_class = class(),
		.mgmt_class_version = chance(8) ? rnd(256) : 1,
		.rmpp_version = rnd(2),
	};

	if (chance(3)) {
		req.method_mask[0] = rnd64();
		req.method_mask[1] = rnd64();
	}
	spoil((__u32 *)&req, sizeof(req) / 4);
	if (ioctl(w.umad, REGISTER, &req) < 0)
		return 0;
	keep('i', req.id);
	return 1;
}

static int register_agent2(void)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = chance(16) ? rnd(4) : 1,
		.mgmt_class = class(),
		.mgmt_class_version = chance(8) ? rnd(256) : 1,
		.flags = rnd(2),
		.oui = chance(4) ? rnd64() : 0x1405,
		.rmpp_version = rnd(2),
	};

	if (chance(3)) {
		req.method_mask[0] = rnd64();
		req.method_mask[1] = rnd64();
	}
	spoil((__u32 *)&req, sizeof(req) / 4);
	if (ioctl(w.umad, REGISTER2, &req) < 0)
		return 0;
	keep('i', req.id);
	return 1;
}

static int send_mad(void)
{
	struct {
		struct ib_user_mad_hdr hdr;
		__u8 mad[1024];
	} buf;
	__u32 *m = (__u32 *)buf.mad;
	size_t size = sizeof(buf.hdr) + (chance(8) ? rnd(1024) : 256);

	memset(&buf, 0, sizeof(buf));
	buf.hdr.id = chance(2) ? rnd(4) : handle('i');
	buf.hdr.timeout_ms = chance(3) ? 0 : rnd(60);
	buf.hdr.retries = rnd(3);
	buf.hdr.length = 256;
	buf.hdr.qpn = htonl(1);
	buf.hdr.qkey = htonl(0x80010000);
	buf.hdr.grh_present = !chance(16);
	buf.hdr.gid_index = chance(4) ? rnd(4) : 1;
	buf.hdr.hop_limit = 64;
	put_gid((__u32 *)buf.hdr.gid);
	buf.mad[0] = 1;
	buf.mad[1] = class();
	buf.mad[2] = chance(8) ? rnd(256) : 1 + rnd(2);
	buf.mad[3] = chance(4) ? rnd(256) : 1 + rnd(3);
	m[2] = rnd64();
	m[3] = rnd64();
	m[4] = htonl(rnd(64) << 16);
	if (chance(4)) {		/* an RMPP header */
		buf.mad[24] = rnd(3);
		buf.mad[25] = rnd(6);
		buf.mad[26] = rnd(8);
		m[7] = htonl(rnd(4));
		m[8] = htonl(rnd(1000));
	}
	spoil((__u32 *)&buf, size / 4);
	return write(w.umad, &buf, size) >= 0;
}

int fuzz_umad(void)
{
	struct pollfd p = { .fd = w.umad, .events = POLLIN };
	__u32 id;

	if (w.umad < 0)
		return 0;
	switch (rnd(32)) {
	case 0:
		return register_agent();
	case 1:
		return register_agent2();
	case 2:
		if (!chance(4))		/* unregistering waits for the agent's work */
			return 0;
		id = chance(2) ? rnd(40) : handle('i');
		return ioctl(w.umad, UNREGISTER, &id) == 0;
	case 3:
		return ioctl(w.umad, chance(2) ? ENABLE_PKEY : (unsigned int)rnd64(), resp) == 0;
	case 4:
		return poll(&p, 1, 0) > 0;
	case 5 ... 10:
		return read(w.umad, resp, chance(4) ? rnd(400) : 400) > 0;
	default:
		return send_mad();
	}
}
