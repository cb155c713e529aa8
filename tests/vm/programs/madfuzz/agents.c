// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Agents on the adapter, at which the MADs arrive: with RMPP by the kernel, by the
 * program, and without RMPP. They always have outstanding requests, some of them in
 * segments, to peers whose answers are arbitrary.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "madfuzz.h"

#define ENABLE_PKEY	_IO(RDMA_IOCTL_MAGIC, 3)
#define REGISTER2	_IOWR(RDMA_IOCTL_MAGIC, 4, struct ib_user_mad_reg_req2)

#define OUTSTANDING	16	/* sends */
#define BIG		20000	/* bytes of a send in segments, at most */
#define ROOM		(64 << 10)

static const struct agent {
	__u8 class, version;
	bool rmpp;
	__u32 flags;
} kinds[] = {
	{ CLASS_RMPP, 1, true, 0 },
	{ CLASS_SA, 2, true, 0 },
	{ CLASS_USER_RMPP, 1, true, IB_USER_MAD_USER_RMPP },
	{ CLASS_VENDOR, 1, false, 0 },
	{ CLASS_PM, 1, false, 0 },
};

#define AGENTS	ARRAY_SIZE(kinds)

static int fd;
static unsigned int gid_index;
static struct {
	unsigned long requests, refused, answered, failed, received, replied;
	unsigned int outstanding;
} counts;

static union {
	struct ib_user_mad_hdr hdr;
	__u8 raw[sizeof(struct ib_user_mad_hdr) + ROOM];
} buf;

/* Returns whether SIGTERM is pending; it stays blocked. */
static bool ended(void)
{
	sigset_t set;

	return !sigpending(&set) && sigismember(&set, SIGTERM) == 1;
}

static void register_agent(unsigned int i)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1,
		.mgmt_class = kinds[i].class,
		.mgmt_class_version = kinds[i].version,
		.flags = kinds[i].flags,
		.oui = OUI,
		.rmpp_version = kinds[i].rmpp,
	};

	req.method_mask[0] = 1 << GET | 1 << SET | 1 << SEND | 1 << TRAP | 1 << REPORT |
			     1 << GET_TABLE | 1 << GET_MULTI;
	if (ioctl(fd, REGISTER2, &req) < 0)
		err(1, "class %#x", req.mgmt_class);
	if (req.id != i)
		errx(1, "agent %u is %u", i, req.id);
}

/* Finds the GID index of the adapter's IPv4 address for RoCE v2. */
static void find_gid(const char *dev)
{
	char path[128], gid[64], type[64];
	FILE *f;

	for (gid_index = 0; gid_index < 16; gid_index++) {
		snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/%u",
			 dev, gid_index);
		f = fopen(path, "r");
		if (!f || fscanf(f, "%63s", gid) != 1)
			gid[0] = 0;
		if (f)
			fclose(f);
		snprintf(path, sizeof(path),
			 "/sys/class/infiniband/%s/ports/1/gid_attrs/types/%u", dev, gid_index);
		f = fopen(path, "r");
		if (!f || !fgets(type, sizeof(type), f))
			type[0] = 0;
		if (f)
			fclose(f);
		if (strstr(gid, "ffff:0a00:0001") && strstr(type, "v2"))
			return;
	}
	errx(1, "no GID");
}

static void put_address(struct ib_user_mad_hdr *hdr, __u32 peer)
{
	hdr->qpn = htonl(1);
	hdr->qkey = htonl(QKEY);
	hdr->grh_present = 1;
	hdr->gid_index = gid_index;
	hdr->hop_limit = 64;
	memset(hdr->gid, 0, 10);
	memset(hdr->gid + 10, 0xff, 2);
	peer = htonl(NETWORK | peer);
	memcpy(hdr->gid + 12, &peer, sizeof(peer));
}

/* Sends a request, in as many segments as its class and length require. */
static void send_request(void)
{
	unsigned int i = rnd(AGENTS);
	size_t len = MAD_SIZE;
	struct packet p;

	mad_init(&p, kinds[i].class, chance(2) ? GET : SET);
	if (kinds[i].rmpp && !kinds[i].flags && chance(3)) {
		len = MAD_SIZE + rnd(BIG);
		p.mad[METHOD] = kinds[i].class == CLASS_SA ? GET_MULTI : SEND;
		p.mad[RMPP_VERSION] = 1;
		p.mad[RMPP_TYPE] = DATA;
		p.mad[RMPP_FLAGS] = ACTIVE;
	}
	memset(&buf, 0, sizeof(buf.hdr) + len);
	buf.hdr.id = i;
	buf.hdr.timeout_ms = 20 + rnd(300);
	buf.hdr.retries = rnd(3);
	put_address(&buf.hdr, PEER + rnd(PEERS));
	memcpy(buf.raw + sizeof(buf.hdr), p.mad, MAD_SIZE);
	if (write(fd, &buf, sizeof(buf.hdr) + len) < 0) {
		counts.refused++;
		return;
	}
	counts.requests++;
	counts.outstanding++;
}

/* Replies to the MAD of @len bytes in buf, which also has its sender's address. */
static void reply(size_t len)
{
	__u8 *mad = buf.raw + sizeof(buf.hdr);

	if (mad[METHOD] != GET || mad[CLASS] != CLASS_VENDOR || len != MAD_SIZE)
		return;
	mad[METHOD] |= RESPONSE;
	buf.hdr.gid_index = gid_index;
	buf.hdr.grh_present = 1;
	buf.hdr.hop_limit = 64;
	buf.hdr.timeout_ms = 0;
	buf.hdr.qkey = htonl(QKEY);
	if (write(fd, &buf, sizeof(buf.hdr) + len) > 0)
		counts.replied++;
}

/* Reads a send that got no answer, an answer, or an unsolicited MAD. */
static bool receive(void)
{
	ssize_t len = read(fd, &buf, sizeof(buf));
	__u8 *mad = buf.raw + sizeof(buf.hdr);

	if (len < (ssize_t)sizeof(buf.hdr))
		return false;
	if (buf.hdr.status) {
		counts.failed++;
		counts.outstanding -= !!counts.outstanding;
	} else if (mad[METHOD] & RESPONSE && buf.hdr.id < AGENTS && !kinds[buf.hdr.id].flags) {
		counts.answered++;
		counts.outstanding -= !!counts.outstanding;
	} else {
		counts.received++;
		reply(len - sizeof(buf.hdr));
	}
	return true;
}

int agents(const char *umad)
{
	struct pollfd pollfd = { .events = POLLIN };
	unsigned int i, n;
	sigset_t set;

	fd = open(umad, O_RDWR | O_NONBLOCK);
	if (fd < 0 || ioctl(fd, ENABLE_PKEY) < 0)
		err(1, "%s", umad);
	find_gid("rxe_a");
	for (i = 0; i < AGENTS; i++)
		register_agent(i);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	printf("listening\n");
	fflush(stdout);
	pollfd.fd = fd;
	while (!ended()) {
		for (i = 0; i < 4 && counts.outstanding < OUTSTANDING; i++)
			send_request();
		poll(&pollfd, 1, 20);
		for (n = 0; n < 256 && receive(); n++)
			;
		/* acknowledged RMPP sends have not been counted */
		if (chance(64))
			counts.outstanding = 0;
	}
	close(fd);
	printf("  requests: %lu sent, %lu refused, %lu answered, %lu failed\n",
	       counts.requests, counts.refused, counts.answered, counts.failed);
	printf("  MADs besides: %lu received, %lu replied to\n", counts.received,
	       counts.replied);
	return 0;
}
