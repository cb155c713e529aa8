// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Random numbers, pools of handles, and the filling in of fields. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"

__u64 rnd64(void)
{
	w.rng ^= w.rng << 13;
	w.rng ^= w.rng >> 7;
	w.rng ^= w.rng << 17;
	return w.rng;
}

__u32 rnd(__u32 below)
{
	return (rnd64() >> 16) % below;
}

int chance(unsigned int one_in)
{
	return rnd(one_in) == 0;
}

static const __u32 edges[] = {
	0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 127, 128, 255, 256, 1023, 4095, 4096,
	32767, 32768, 65535, 65536, 0x7fffffff, 0x80000000, 0x80010000, 0xfffffffe, 0xffffffff,
};

static __u32 edge(void)
{
	return chance(6) ? (__u32)rnd64() : edges[rnd(sizeof(edges) / sizeof(*edges))];
}

/* On vib there are few of some, so that queue pairs and memory often have the same ones. */
static __u32 *place(char kind)
{
	unsigned int few = strchr("pcx", kind) ? 2 : strchr("jz", kind) ? 4 : POOL;

	return &w.pool[strchr(KINDS, kind) - KINDS][rnd(on_vib ? few : POOL)];
}

__u32 handle(char kind)
{
	if (chance(40))
		return edge();
	if (chance(60))
		kind = KINDS[rnd(sizeof(KINDS) - 1)];
	return *place(kind);
}

void keep(char kind, __u32 value)
{
	*place(kind) = value;
}

static void put64(__u32 *out, __u64 v)
{
	memcpy(out, &v, sizeof(v));
}

void put_gid(__u32 *out)
{
	memset(out, 0, 16);
	if (chance(8)) {
		out[0] = htonl(0xff0e0000);
		out[3] = htonl(0xe0000001 + rnd(4));
		return;
	}
	out[2] = htonl(0xffff);
	/* rarely an address that no host has: resolving it takes seconds */
	out[3] = htonl(0x0a000001 + rnd(chance(2000) ? 200 : 2));
}

/* 28 bytes: as much as the largest family has */
void put_sockaddr(__u32 *out)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(chance(20) ? rnd(65536) : 7000 + rnd(8)),
		.sin_addr.s_addr = htonl(0x0a000001 + rnd(2)),
	};
	struct sockaddr_in6 sin6 = {
		.sin6_family = AF_INET6,
		.sin6_port = sin.sin_port,
	};

	memset(out, 0, sizeof(sin6));
	if (chance(8)) {
		sin6.sin6_addr.s6_addr[0] = 0xfd;
		sin6.sin6_addr.s6_addr[15] = 1 + rnd(2);
		sin6.sin6_scope_id = rnd(3);
		memcpy(out, &sin6, sizeof(sin6));
		return;
	}
	if (chance(10))
		sin.sin_addr.s_addr = htonl(chance(2) ? 0 : 0xe0000001 + rnd(4));
	if (chance(30))
		sin.sin_family = edge();
	memcpy(out, &sin, sizeof(sin));
}

/* Mostly of the same adapter, whose queue pairs' numbers are known. */
__u16 lid(void)
{
	return chance(4) ? rnd(4) : w.lid;
}

/*
 * ib_uverbs_ah_attr, and ib_uverbs_qp_dest which differs in the order of bytes. On vib the LID
 * decides, and there need not be a GID.
 */
static void put_path(__u32 *out, int dest)
{
	__u8 *b = (__u8 *)(out + 5);
	int global = !on_vib || chance(8);

	memset(out, 0, 32);
	put_gid(out);
	if (dest) {		/* flow, dlid, -, index, hop, class, sl, path, rate, global, port */
		b[0] = on_vib ? lid() : 0;
		b[4] = chance(4) ? rnd(4) : 1;
		b[5] = 64;
		b[10] = global;
		b[11] = 1;
	} else {		/* flow, index, hop, class, -; dlid, sl, path, rate, global, port */
		b[0] = chance(4) ? rnd(4) : 1;
		b[1] = 64;
		b[4] = on_vib ? lid() : 0;
		b[9] = global;
		b[10] = 1;
	}
}

static void put_conn_param(__u32 *out)
{
	__u8 *b = (__u8 *)(out + 66);

	memset(out, 0, 272);
	out[0] = handle('q');
	b[0] = chance(4) ? rnd(256) : rnd(64);	/* private_data_len */
	b[2] = rnd(4);
	b[3] = rnd(4);
	b[5] = rnd(8);
	b[6] = rnd(8);
	b[7] = 1;
}

/* how many words a field takes */
static size_t width(char f)
{
	return strchr("RUPL", f) ? 2 : strchr("DH", f) ? 8 : f == 'G' ? 4 :
	       f == 'S' ? 7 : f == 'T' ? 32 : f == 'K' ? 68 : 1;
}

size_t words_of(const char *fields)
{
	size_t n = 0;

	while (*fields)
		n += width(*fields++);
	return n;
}

static size_t field(char f, __u32 *out, size_t room)
{
	size_t need = width(f);

	if (need > room)
		return room;
	switch (f) {
	case 'R':
		put64(out, chance(200) ? rnd64() : (uintptr_t)resp);
		break;
	case 'P':
		put64(out, chance(50) ? rnd64() : (uintptr_t)arena + (chance(8) ? rnd(8192) : 0));
		break;
	case 'U':
		put64(out, rnd64());
		break;
	case 'L':
		put64(out, chance(20) ? edge() : 1 + rnd(ARENA));
		break;
	case 'G':
		put_gid(out);
		break;
	case 'H':
		put_path(out, 0);
		break;
	case 'D':
		put_path(out, 1);
		break;
	case 'S':
		put_sockaddr(out);
		break;
	case 'T':
		memset(out, 0, 128);
		put_sockaddr(out);
		break;
	case 'K':
		put_conn_param(out);
		break;
	case '0':
	case '1':
		*out = f - '0';
		break;
	case 'n':
		*out = 1 + rnd(32);
		break;
	case 'y':
		*out = rnd(5);
		break;
	case 'A':
		*out = chance(10) ? edge() : rnd(2) ? 7 : rnd(32);
		break;
	case 'Q':		/* sq_sig_all, qp_type, is_srq, - */
		*out = rnd(2) | (chance(8) ? rnd(16) : 2 + rnd(3)) << 8 |
		       (__u32)chance(4) << 16;
		break;
	case 'r':
		*out = rnd64();
		break;
	case 'C':
		*out = on_vib && chance(2) ? ~0U : handle('C');
		break;
	case 'e':
		*out = edge();
		break;
	default:
		*out = handle(f);
	}
	return need;
}

/* Words beyond the string are zero, now and then random. */
void fill(const char *fields, __u32 *out, size_t words)
{
	size_t n = 0;

	while (*fields && n < words)
		n += field(*fields++, out + n, words - n);
	for (; n < words; n++)
		out[n] = chance(16) ? edge() : 0;
}

void spoil(__u32 *buf, size_t words)
{
	unsigned int n = chance(3) ? 1 + rnd(3) : 0;

	while (n-- && words) {
		__u32 *at = &buf[rnd(words)];

		switch (rnd(4)) {
		case 0:
			*at ^= 1u << rnd(32);
			break;
		case 1:
			((__u8 *)at)[rnd(4)] = rnd(256);
			break;
		default:
			*at = edge();
		}
	}
}
