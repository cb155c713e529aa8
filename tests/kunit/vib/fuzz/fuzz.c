// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/module.h>
#include <linux/slab.h>
#include "fuzz.h"

static unsigned int packets = 10000;
module_param(packets, uint, 0444);
MODULE_PARM_DESC(packets, "Random packets of a case");

static unsigned int seed = 20612;
module_param(seed, uint, 0444);
MODULE_PARM_DESC(seed, "Seed of random packets");

#define MOST_PAYLOAD	(VIB_MAX_MTU + 64)

static atomic_t payloads;	/* that exist */

/* ---- numbers ---- */

u32 fuzz_below(struct fuzz *fuzz, u32 n)
{
	return prandom_u32_state(&fuzz->rnd) % n;
}

u32 fuzz_edge(struct fuzz *fuzz)
{
	static const u32 edges[] = {
		0, 1, 2, 3, 0xff, 0x100, 0x7fff, 0x8000, 0xbfff, 0xc000, 0xfffe, 0xffff,
		0x7fffff, 0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0xffffffff,
	};

	if (fuzz_below(fuzz, 4))
		return edges[fuzz_below(fuzz, ARRAY_SIZE(edges))];
	return prandom_u32_state(&fuzz->rnd);
}

/* ---- payloads ---- */

static void payload_release(struct vib_payload *payload)
{
	atomic_dec(&payloads);
	kfree(payload);
}

static struct vib_payload *payload_new(struct fuzz *fuzz, u32 len)
{
	struct vib_payload *payload = vib_payload_alloc(len, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fuzz->test, payload);
	payload->release = payload_release;
	atomic_inc(&payloads);
	return payload;
}

/* @len bytes of payload: those of @pkt as far as it has any, somewhere in a larger one. */
static void payload_give(struct fuzz *fuzz, struct vib_packet *pkt, u16 len)
{
	u32 offset = fuzz_below(fuzz, 2) ? 0 : fuzz_below(fuzz, 100);
	struct vib_payload *payload = payload_new(fuzz, offset + len + fuzz_below(fuzz, 9));
	u16 had = min(len, pkt->len);

	prandom_bytes_state(&fuzz->rnd, payload->data, min(payload->len, 64U));
	vib_packet_read(pkt, 0, payload->data + offset, had);
	vib_payload_put(pkt->payload);
	vib_packet_attach(pkt, payload, offset, len);
	vib_payload_put(payload);
}

/* ---- changes ---- */

static void put_length(struct vib_packet *pkt)
{
	pkt->hdr.lrh[2] = cpu_to_be16(vib_packet_wire_len(pkt) / 4);
}

static void put_pad(struct vib_packet *pkt)
{
	struct ib_other_headers *bth = vib_packet_bth(pkt);

	bth->bth[0] &= cpu_to_be32(~(IB_BTH_PAD_MASK << IB_BTH_PAD_SHIFT));
	bth->bth[0] |= cpu_to_be32((-pkt->len & 3) << IB_BTH_PAD_SHIFT);
}

static void change_byte(struct fuzz *fuzz, struct vib_packet *pkt)
{
	u8 *hdr = (u8 *)&pkt->hdr;
	u32 at = fuzz_below(fuzz, pkt->hdr_len);

	if (fuzz_below(fuzz, 2))
		hdr[at] ^= BIT(fuzz_below(fuzz, 8));
	else
		hdr[at] = fuzz_edge(fuzz);
}

static void change_lrh(struct fuzz *fuzz, struct vib_packet *pkt)
{
	u32 word = fuzz_below(fuzz, 4);

	pkt->hdr.lrh[word] = cpu_to_be16(fuzz_edge(fuzz));
	/* The lane is where the packet is, whatever its header says. */
	if (!word)
		pkt->vl = be16_to_cpu(pkt->hdr.lrh[0]) >> IB_SC_SHIFT;
}

static void change_word(struct fuzz *fuzz, struct vib_packet *pkt)
{
	struct ib_other_headers *oth = vib_packet_bth(pkt);
	u32 word = fuzz_below(fuzz, 3 + sizeof(oth->u) / 4);
	__be32 *at = (__be32 *)oth + word;

	*at = cpu_to_be32(fuzz_edge(fuzz));
}

static void change_grh(struct fuzz *fuzz, struct vib_packet *pkt)
{
	u8 *grh = (u8 *)&pkt->hdr.u.l.grh;

	grh[fuzz_below(fuzz, IB_GRH_BYTES)] = fuzz_edge(fuzz);
}

/* Headers that are cut off, or longer than they say. */
static void change_hdr_len(struct fuzz *fuzz, struct vib_packet *pkt)
{
	u32 words = sizeof(pkt->hdr) / 4 - IB_LRH_BYTES / 4;

	if (fuzz_below(fuzz, 2))
		pkt->hdr_len = IB_LRH_BYTES + 4 * fuzz_below(fuzz, words + 1);
	else
		pkt->hdr_len = clamp_t(int, pkt->hdr_len + 4 * (int)fuzz_below(fuzz, 5) - 8,
				       IB_LRH_BYTES, sizeof(pkt->hdr));
	if (fuzz_below(fuzz, 4))
		put_length(pkt);
}

static void change_payload(struct fuzz *fuzz, struct vib_packet *pkt)
{
	u32 len = fuzz_below(fuzz, 3) ? fuzz_below(fuzz, 300) : fuzz_below(fuzz, MOST_PAYLOAD);

	payload_give(fuzz, pkt, len);
	if (fuzz_below(fuzz, 4))
		put_length(pkt);
	if (fuzz_below(fuzz, 4))
		put_pad(pkt);
}

static void change_vl(struct fuzz *fuzz, struct vib_packet *pkt)
{
	pkt->vl = fuzz_below(fuzz, 2) ? VIB_VL_MGMT : fuzz_below(fuzz, VIB_VLS);
	pkt->hdr.lrh[0] &= cpu_to_be16(~(IB_SC_MASK << IB_SC_SHIFT));
	pkt->hdr.lrh[0] |= cpu_to_be16(pkt->vl << IB_SC_SHIFT);
}

static void change_something(struct fuzz *fuzz, struct vib_packet *pkt)
{
	switch (fuzz_below(fuzz, 8)) {
	case 0:
		change_lrh(fuzz, pkt);
		break;
	case 1:
		change_hdr_len(fuzz, pkt);
		break;
	case 2:
		change_payload(fuzz, pkt);
		break;
	case 3:
		change_vl(fuzz, pkt);
		break;
	case 4:
		change_grh(fuzz, pkt);
		break;
	case 5:
		change_byte(fuzz, pkt);
		break;
	default:
		change_word(fuzz, pkt);
		break;
	}
}

void fuzz_change(struct fuzz *fuzz, struct vib_packet *pkt)
{
	u32 changes = fuzz_below(fuzz, 4);

	payload_give(fuzz, pkt, pkt->len);
	while (changes--)
		change_something(fuzz, pkt);
}

struct vib_packet *fuzz_random(struct fuzz *fuzz, u16 dlid)
{
	struct vib_packet *pkt = vib_packet_alloc(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(fuzz->test, pkt);
	prandom_bytes_state(&fuzz->rnd, &pkt->hdr, sizeof(pkt->hdr));
	pkt->vl = be16_to_cpu(pkt->hdr.lrh[0]) >> IB_SC_SHIFT;
	pkt->hdr_len = IB_LRH_BYTES + 4 * fuzz_below(fuzz, sizeof(pkt->hdr) / 4 - 1);
	payload_give(fuzz, pkt, fuzz_below(fuzz, 400));
	/* All of it random would hardly ever come past the first of the checks. */
	if (!fuzz_below(fuzz, 4))
		return pkt;
	pkt->hdr.lrh[0] &= ~cpu_to_be16(IB_LVER_MASK << IB_LVER_SHIFT);
	pkt->hdr.lrh[0] |= cpu_to_be16(IB_LNH_IBA_LOCAL);
	pkt->hdr.lrh[1] = cpu_to_be16(dlid);
	put_length(pkt);
	put_pad(pkt);
	if (fuzz_below(fuzz, 2))
		pkt->vl = 0;
	return pkt;
}

/* ---- sending ---- */

void fuzz_send(struct fuzz *fuzz, struct vib_packet *pkt)
{
	struct vib_port *from = fuzz->tx->port, *to;

	pkt->blocks = DIV_ROUND_UP(vib_packet_wire_len(pkt) + 2, 64);
	fuzz->last = *pkt;
	if (fuzz_below(fuzz, 8)) {
		vib_port_xmit(from, pkt);
		return;
	}
	rcu_read_lock_bh();
	to = rcu_dereference_bh(from->peer);
	if (to)
		to->node->ops->receive(to, pkt);
	rcu_read_unlock_bh();
	if (!to)
		vib_packet_free(pkt);
}

void fuzz_expect(struct fuzz *fuzz, bool right, const char *what)
{
	const struct vib_packet *pkt = &fuzz->last;

	if (right)
		return;
	KUNIT_FAIL(fuzz->test, "seed %u, packet %u of %u: %s: VL %u, headers %u, payload %u: %*ph",
		   seed, fuzz->n - 1, packets, what, pkt->vl, pkt->hdr_len, pkt->len,
		   (int)min_t(u32, pkt->hdr_len, 64), &pkt->hdr);
}

/* ---- a case ---- */

static void wait_for_works(void)
{
	int i;

	for (i = 0; i < 8; i++)
		flush_workqueue(vib_wq);
}

void fuzz_begin(struct fuzz *fuzz, struct kunit *test, struct vib_port *from)
{
	wait_for_works();
	memset(fuzz, 0, sizeof(*fuzz));
	fuzz->test = test;
	fuzz->tx = &from->tx;
	memcpy(fuzz->credits, from->tx.credits, sizeof(fuzz->credits));
	atomic_set(&payloads, 0);
	prandom_seed_state(&fuzz->rnd, seed);
}

bool fuzz_next(struct fuzz *fuzz)
{
	if (fuzz->n == packets || fuzz->test->status == KUNIT_FAILURE)
		return false;
	fuzz->n++;
	return true;
}

void fuzz_end(struct fuzz *fuzz)
{
	wait_for_works();
	KUNIT_EXPECT_EQ_MSG(fuzz->test, atomic_read(&payloads), 0, "payloads are left, seed %u",
			    seed);
	KUNIT_EXPECT_MEMEQ(fuzz->test, fuzz->tx->credits, fuzz->credits, sizeof(fuzz->credits));
	KUNIT_EXPECT_EQ(fuzz->test, fuzz->tx->total, 0);
	kunit_info(fuzz->test, "%u packets", fuzz->n);
}
