// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * perm UID: prints what user UID gets from the RDMA devices, one line for each
 * attempt: "NAME errno-name", or "NAME ok".
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_cm.h>

#define RAW_PACKET 8
#define UD 4

static __u32 resp[128];

static void tell(const char *name, int ok)
{
	printf("%s %s\n", name, ok ? "ok" : strerrorname_np(errno));
	fflush(stdout);
}

/* issues a write command; returns true if it is accepted, with the response in resp */
static int command(int fd, __u32 number, void *body, size_t size, size_t out)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		__u8 body[512];
	} buf = { { number, (sizeof(buf.hdr) + size) / 4, out / 4 }, {} };

	memcpy(buf.body, body, size);
	return write(fd, &buf, sizeof(buf.hdr) + size) > 0;
}

static void must(int ok, const char *what)
{
	if (!ok) {
		printf("%s %s\n", what, strerrorname_np(errno));
		exit(1);
	}
}

#define TO_RESP ((uintptr_t)resp)

static __u32 pd, cq;

static void prepare(int fd)
{
	struct ib_uverbs_get_context get = { .response = TO_RESP };
	struct ib_uverbs_alloc_pd alloc = { .response = TO_RESP };
	struct ib_uverbs_create_cq create = {
		.response = TO_RESP, .cqe = 16, .comp_channel = -1,
	};

	must(command(fd, IB_USER_VERBS_CMD_GET_CONTEXT, &get, sizeof(get), 72), "get_context");
	must(command(fd, IB_USER_VERBS_CMD_ALLOC_PD, &alloc, sizeof(alloc), 68), "alloc_pd");
	pd = resp[0];
	must(command(fd, IB_USER_VERBS_CMD_CREATE_CQ, &create, sizeof(create), 72), "create_cq");
	cq = resp[0];
}

static int create_qp(int fd, int type)
{
	struct ib_uverbs_create_qp c = {
		.response = TO_RESP, .pd_handle = pd, .send_cq_handle = cq,
		.recv_cq_handle = cq, .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1,
		.max_recv_sge = 1, .qp_type = type,
	};

	return command(fd, IB_USER_VERBS_CMD_CREATE_QP, &c, sizeof(c),
		       sizeof(struct ib_uverbs_create_qp_resp) + 64);
}

/* RESET to INIT with a Q_Key */
static int set_qkey(int fd, __u32 qkey)
{
	struct ib_uverbs_modify_qp m = {
		.attr_mask = 1 | 1 << 4 | 1 << 5 | 1 << 6,	/* state, P_Key, port, Q_Key */
		.qp_state = 1, .port_num = 1, .qkey = qkey,
	};

	must(create_qp(fd, UD), "create_qp");
	m.qp_handle = resp[0];
	return command(fd, IB_USER_VERBS_CMD_MODIFY_QP, &m, sizeof(m), 0);
}

static int reg_mr(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ib_uverbs_reg_mr r = {
		.response = TO_RESP, .start = (uintptr_t)at, .hca_va = (uintptr_t)at,
		.length = size, .pd_handle = pd, .access_flags = 1,
	};

	return command(fd, IB_USER_VERBS_CMD_REG_MR, &r, sizeof(r),
		       sizeof(struct ib_uverbs_reg_mr_resp) + 64);
}

static int cm_write(int fd, __u32 cmd, void *body, size_t size, size_t out)
{
	struct {
		struct rdma_ucm_cmd_hdr hdr;
		__u8 body[512];
	} buf = { { cmd, size, out }, {} };

	memcpy(buf.body, body, size);
	return write(fd, &buf, sizeof(buf.hdr) + size) > 0;
}

static int bind_port(int fd, unsigned short port)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(0x0a000001),
	};
	struct rdma_ucm_create_id create = { .response = TO_RESP, .ps = RDMA_PS_TCP, .qp_type = 2 };
	struct rdma_ucm_bind b = { .addr_size = sizeof(sin) };

	must(cm_write(fd, RDMA_USER_CM_CMD_CREATE_ID, &create, sizeof(create), 4), "create_id");
	b.id = resp[0];
	memcpy(&b.addr, &sin, sizeof(sin));
	return cm_write(fd, RDMA_USER_CM_CMD_BIND, &b, sizeof(b), 0);
}

int main(int argc, char **argv)
{
	struct rlimit lock = { 1 << 20, 1 << 20 };
	struct rdma_ucm_create_id create = { .response = TO_RESP, .ps = RDMA_PS_TCP, .qp_type = 2 };
	struct ib_uverbs_get_context get = { .response = TO_RESP };
	int fd, cm, theirs, their_cm, uid = argc > 1 ? atoi(argv[1]) : 0;

	setrlimit(RLIMIT_MEMLOCK, &lock);
	theirs = open("/dev/infiniband/uverbs0", O_RDWR);
	their_cm = open("/dev/infiniband/rdma_cm", O_RDWR);
	if (uid && (setgid(uid) || setuid(uid)))
		return 2;

	fd = open("/dev/infiniband/uverbs0", O_RDWR);
	tell("open-uverbs", fd >= 0);
	cm = open("/dev/infiniband/rdma_cm", O_RDWR | O_NONBLOCK);
	tell("open-rdma_cm", cm >= 0);
	tell("open-umad", open("/dev/infiniband/umad0", O_RDWR) >= 0);

	prepare(fd);
	tell("raw-packet", create_qp(fd, RAW_PACKET));
	tell("raw-ipv6", create_qp(fd, 5));
	tell("smi", create_qp(fd, 0));
	tell("qkey", set_qkey(fd, 0x11111111));
	tell("privileged-qkey", set_qkey(fd, 0x80010000));
	tell("small-mr", reg_mr(fd, 64 << 10));
	tell("large-mr", reg_mr(fd, 4 << 20));
	tell("port", bind_port(cm, 7471));
	tell("low-port", bind_port(cm, 471));

	/* files that another user has opened */
	tell("their-uverbs", command(theirs, IB_USER_VERBS_CMD_GET_CONTEXT, &get, sizeof(get), 72));
	tell("their-rdma_cm", cm_write(their_cm, RDMA_USER_CM_CMD_CREATE_ID, &create,
				       sizeof(create), 4));
	return 0;
}
