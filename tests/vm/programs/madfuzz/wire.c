// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* RoCE v2 datagrams out of and into a packet socket. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "madfuzz.h"

#define ROCE_PORT	4791
#define HEADERS		(sizeof(struct ether_header) + sizeof(struct iphdr) + \
			 sizeof(struct udphdr))
#define BTH		12
#define DETH		8
#define CRC		4
#define BATCH		64
#define FRAME		(HEADERS + BTH + DETH + MAD_ROOM + CRC)

static int sock;
static __u32 crc_table[8][256];
static __u8 frames[BATCH][FRAME];
static struct iovec iov[BATCH];
static struct mmsghdr msgs[BATCH];
static unsigned int filled;

static void crc_init(void)
{
	unsigned int i, k;
	__u32 v;

	for (i = 0; i < 256; i++) {
		for (v = i, k = 0; k < 8; k++)
			v = v >> 1 ^ (v & 1 ? 0xedb88320u : 0);
		crc_table[0][i] = v;
	}
	for (i = 0; i < 256; i++)
		for (k = 1; k < 8; k++)
			crc_table[k][i] = crc_table[k - 1][i] >> 8 ^
				crc_table[0][crc_table[k - 1][i] & 0xff];
}

static __u32 crc32(__u32 crc, const __u8 *p, size_t len)
{
	__u32 w[2];

	for (; len >= 8; len -= 8, p += 8) {
		memcpy(w, p, 8);
		w[0] ^= crc;
		crc = crc_table[7][w[0] & 0xff] ^ crc_table[6][w[0] >> 8 & 0xff] ^
		      crc_table[5][w[0] >> 16 & 0xff] ^ crc_table[4][w[0] >> 24] ^
		      crc_table[3][w[1] & 0xff] ^ crc_table[2][w[1] >> 8 & 0xff] ^
		      crc_table[1][w[1] >> 16 & 0xff] ^ crc_table[0][w[1] >> 24];
	}
	for (; len; len--, p++)
		crc = crc >> 8 ^ crc_table[0][(crc ^ *p) & 0xff];
	return crc;
}

/* A17.3: fields that routers change count as ones. */
static __u32 icrc(const __u8 *ip, size_t len)
{
	__u8 head[8 + sizeof(struct iphdr) + sizeof(struct udphdr) + BTH];
	size_t covered = sizeof(head) - 8;
	__u8 *h = head + 8;

	if (len < covered)
		covered = len;
	memset(head, 0xff, sizeof(head));
	memcpy(h, ip, covered);
	h[1] = 0xff;			/* TOS */
	h[8] = 0xff;			/* TTL */
	memset(h + 10, 0xff, 2);	/* checksums */
	memset(h + 26, 0xff, 2);
	h[32] = 0xff;			/* FECN, BECN */
	return ~crc32(crc32(~0u, head, 8 + covered), ip + covered, len - covered);
}

static __u16 ip_checksum(const __u8 *ip)
{
	__u32 sum = 0;
	unsigned int i;

	for (i = 0; i < sizeof(struct iphdr); i += 2)
		sum += ip[i] << 8 | ip[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

static __u32 address(__u32 host)
{
	return htonl(host < 256 ? NETWORK | host : host);
}

static void put_headers(__u8 *at, const struct packet *p, size_t len)
{
	struct ether_header *eth = (void *)at;
	struct iphdr ip = {
		.version = 4, .ihl = 5, .tot_len = htons(len - sizeof(*eth)),
		.id = htons(1), .frag_off = htons(0x4000), .ttl = 64,
		.protocol = IPPROTO_UDP,
		.saddr = address(p->from), .daddr = address(p->to),
	};
	struct udphdr udp = {
		.source = htons(0xc000 | rnd(0x4000)), .dest = htons(ROCE_PORT),
		.len = htons(len - sizeof(*eth) - sizeof(ip)),
	};

	*eth = (struct ether_header){
		.ether_dhost = { 2, 0, 0, 0, 0, 1 }, .ether_shost = { 2, 0, 0, 0, 0, 2 },
		.ether_type = htons(ETHERTYPE_IP),
	};
	ip.check = htons(ip_checksum((__u8 *)&ip));
	memcpy(at + sizeof(*eth), &ip, sizeof(ip));
	memcpy(at + sizeof(*eth) + sizeof(ip), &udp, sizeof(udp));
}

static void put_transport(__u8 *at, const struct packet *p)
{
	__u32 words[] = {
		htonl((__u32)p->opcode << 24 | p->flags << 16 | p->pkey), htonl(p->qpn), 0,
		htonl(p->qkey), htonl(p->src_qpn),
	};

	memcpy(at, words, sizeof(words));
}

/* Builds the next frame of the batch. */
void wire_add(const struct packet *p)
{
	size_t whole = BTH + DETH + p->len;
	size_t body = whole - (p->cut < whole ? p->cut : whole);
	__u8 *frame = frames[filled];
	__u32 crc;

	put_headers(frame, p, HEADERS + body + CRC);
	put_transport(frame + HEADERS, p);
	memcpy(frame + HEADERS + BTH + DETH, p->mad, p->len);
	crc = icrc(frame + sizeof(struct ether_header),
		   HEADERS - sizeof(struct ether_header) + body);
	crc ^= p->bad_crc;
	memcpy(frame + HEADERS + body, &crc, CRC);
	iov[filled] = (struct iovec){ frame, HEADERS + body + CRC };
	msgs[filled].msg_hdr = (struct msghdr){ .msg_iov = &iov[filled], .msg_iovlen = 1 };
	if (++filled == BATCH)
		wire_flush();
}

void wire_flush(void)
{
	unsigned int done = 0;
	int n;

	while (done < filled) {
		n = sendmmsg(sock, msgs + done, filled - done, 0);
		if (n < 0)
			err(1, "sendmmsg");
		done += n;
	}
	filled = 0;
}

/* Returns 1 for the answer to a probe, else 0. */
static unsigned int receive_one(const __u8 *frame, size_t len)
{
	const __u8 *ip = frame + sizeof(struct ether_header);
	const __u8 *mad = frame + HEADERS + BTH + DETH;

	if (len < HEADERS + BTH + DETH + MAD_SIZE || ip[0] != 0x45 || ip[9] != IPPROTO_UDP)
		return 0;
	if (mad[CLASS] == CLASS_PROBE)
		return mad[METHOD] == (GET | RESPONSE);
	/* Notes CM messages, and MADs that are not responses. */
	if (mad[CLASS] == CLASS_CM || !(mad[METHOD] & RESPONSE))
		seen_note(ip[19], mad);
	return 0;
}

unsigned int wire_receive(int wait_ms)
{
	struct pollfd pollfd = { .fd = sock, .events = POLLIN };
	unsigned int probes = 0;
	__u8 frame[FRAME];
	ssize_t len;

	if (poll(&pollfd, 1, wait_ms) <= 0)
		return 0;
	while ((len = recv(sock, frame, sizeof(frame), MSG_DONTWAIT)) > 0)
		probes += receive_one(frame, len);
	return probes;
}

void wire_open(const char *netdev)
{
	struct sockaddr_ll addr = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = if_nametoindex(netdev),
	};
	int on = 1, size = 8 << 20;

	crc_init();
	sock = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
	if (sock < 0 || !addr.sll_ifindex || bind(sock, (void *)&addr, sizeof(addr)))
		err(1, "%s", netdev);
	if (setsockopt(sock, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) ||
	    setsockopt(sock, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof(on)) ||
	    setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		err(1, "setsockopt");
}
