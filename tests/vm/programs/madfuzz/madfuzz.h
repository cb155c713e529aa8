/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fuzzer of QP1: what its files share.
 *
 * It plays many peers of an adapter, at the other end of its wire. Each kind of
 * MAD is made almost valid, with the transaction and communication ids that were
 * seen on the wire, and then some of its fields are spoilt. Every batch ends with a
 * probe, a Get that must be answered: the answer shows that all MADs before it have
 * passed the adapter's receive queue, so that the next batch may be sent.
 *
 * Layouts: InfiniBand Architecture Specification vol. 1, 9 (headers), 13.4 (MADs),
 * 13.6 (RMPP), 12.6 (CM messages), annexes A11 and A17.
 */
#ifndef IBEX_MADFUZZ_H
#define IBEX_MADFUZZ_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define NETWORK		0x0a000000u	/* 10.0.0.0/24 */
#define TARGET		1		/* the adapter's address in it */
#define PEER		16		/* the first peer's, and how many there are */
#define PEERS		16

#define MAD_SIZE	256
#define MAD_ROOM	2048

#define QKEY		0x80010000u
#define OUI		0x001405u

enum class {
	CLASS_SMP = 0x01, CLASS_SA = 0x03, CLASS_PM = 0x04, CLASS_CM = 0x07,
	CLASS_VENDOR = 0x0a, CLASS_PROBE = 0x0f, CLASS_RMPP = 0x30,
	CLASS_USER_RMPP = 0x31, CLASS_SMP_ROUTED = 0x81,
};

enum method {
	GET = 1, SET = 2, SEND = 3, TRAP = 5, REPORT = 6, REPRESS = 7,
	GET_TABLE = 0x12, GET_MULTI = 0x14, RESPONSE = 0x80,
};

/* Offsets in a MAD. */
enum mad_field {
	BASE = 0, CLASS = 1, VERSION = 2, METHOD = 3, STATUS = 4, TID = 8,
	ATTR = 16, MODIFIER = 20,
	RMPP_VERSION = 24, RMPP_TYPE = 25, RMPP_FLAGS = 26, RMPP_STATUS = 27,
	RMPP_SEG = 28, RMPP_LEN = 32, VENDOR_OUI = 37,
	CM_LOCAL = 24, CM_REMOTE = 28,
};

enum rmpp_type { DATA = 1, ACK, STOP, ABORT };
enum rmpp_flags { ACTIVE = 1, FIRST = 2, LAST = 4 };

/* A datagram to be sent. */
struct packet {
	__u32 from, to;	/* last byte of an address, or a whole one */
	__u8 opcode, flags;	/* of the BTH */
	__u16 pkey;
	__u32 qpn, qkey, src_qpn;
	bool bad_crc;
	bool refused;		/* by the adapter, before the MAD layer */
	unsigned int len;	/* of mad */
	unsigned int cut;	/* bytes cut off from what follows the UDP header */
	__u8 mad[MAD_ROOM];
};

/* rnd.c */
void rnd_seed(__u64 seed);
__u64 rnd64(void);
__u32 rnd(__u32 below);
bool chance(unsigned int one_in);
__u32 edge(void);		/* a number that may be out of range */
void rnd_fill(__u8 *at, size_t len);

/* mad.c: fields in network order, headers, and random faults */
void put16(struct packet *p, unsigned int at, __u16 v);
void put32(struct packet *p, unsigned int at, __u32 v);
void put64(struct packet *p, unsigned int at, __u64 v);
__u32 get32(const __u8 *mad, unsigned int at);
__u64 get64(const __u8 *mad, unsigned int at);
void mad_init(struct packet *p, __u8 class, __u8 method);
void mad_spoil(struct packet *p);
__u8 mad_class(void);	/* one that may have an agent */
__u8 mad_method(void);
__u64 mad_tid(void);

/* seen.c: MADs that the adapter sent */
#define SEEN_BYTES	64

struct seen {
	__u32 to;		/* the peer that it was sent to */
	__u8 mad[SEEN_BYTES];
};

void seen_note(__u32 to, const __u8 *mad);
/* Return one of the requests or transfers of its agents, or one of its CM's messages. */
const struct seen *seen_request(void);
const struct seen *seen_cm(void);

/* kinds of MADs: mgmt.c, rmpp.c, cm.c */
void make_noise(struct packet *p);
void make_header(struct packet *p);
void make_length(struct packet *p);
void make_transport(struct packet *p);
void make_vendor(struct packet *p);
void make_sa(struct packet *p);
void make_smp(struct packet *p);
void make_good(struct packet *p);
void make_response(struct packet *p);
void make_rmpp_first(struct packet *p);
void make_rmpp_segment(struct packet *p);
void make_rmpp_control(struct packet *p);
void make_rmpp_answer(struct packet *p);
void make_cm_noise(struct packet *p);
void make_cm_req(struct packet *p);
void make_cm_connect(struct packet *p);
void make_cm_reply(struct packet *p);

/* wire.c */
void wire_open(const char *netdev);
void wire_add(const struct packet *p);
void wire_flush(void);
/* Receives what arrives within @wait_ms; returns how many probes were answered. */
unsigned int wire_receive(int wait_ms);

/* agents.c */
int agents(const char *umad);

#endif
