// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The content of a MAD: words computed from its cookie and their own position, so that
 * a lost, doubled or exchanged segment is detected.
 */
#include "mad.h"

#define WORD		sizeof(__be32)
#define SEG_WORDS	(IB_MGMT_VENDOR_DATA / WORD)

static atomic64_t next_cookie;

u64 payload_cookie(void)
{
	return atomic64_inc_return(&next_cookie) << 20 | 0x5a5;
}

bool payload_fits(const struct payload *payload)
{
	return payload->length >= PAYLOAD_MIN && payload->length <= MAX_SIZE &&
	       IS_ALIGNED(payload->length, WORD);
}

static __be32 payload_word(const struct payload *payload, u32 place)
{
	switch (place) {
	case 0:
		return cpu_to_be32(upper_32_bits(payload->cookie));
	case 1:
		return cpu_to_be32(lower_32_bits(payload->cookie));
	case 2:
		return cpu_to_be32(payload->length);
	case 3:
		return cpu_to_be32(payload->reply);
	default:
		return cpu_to_be32((u32)payload->cookie * 0x9e3779b1 +
				   place * 0x85ebca6b);
	}
}

/* Returns the data of segment @seg, from 1, of a MAD to be sent. */
static __be32 *payload_segment(struct ib_mad_send_buf *buf, int seg)
{
	return buf->seg_count ? ib_get_rmpp_segment(buf, seg) :
				buf->mad + buf->hdr_len;
}

void payload_fill(struct ib_mad_send_buf *buf, const struct payload *payload)
{
	u32 i, words = payload->length / WORD;
	__be32 *to = NULL;

	for (i = 0; i < words; i++) {
		if (i % SEG_WORDS == 0)
			to = payload_segment(buf, i / SEG_WORDS + 1);
		to[i % SEG_WORDS] = payload_word(payload, i);
	}
}

static const __be32 *payload_received(const struct ib_mad_recv_buf *buf)
{
	return (void *)buf->mad + IB_MGMT_VENDOR_HDR;
}

void payload_copy(struct ib_mad_send_buf *buf, struct ib_mad_recv_wc *from,
		  const struct payload *payload)
{
	u32 left = payload->length, n;
	struct ib_mad_recv_buf *part;
	int seg = 1;

	list_for_each_entry(part, &from->rmpp_list, list) {
		n = min_t(u32, left, IB_MGMT_VENDOR_DATA);
		if (!n)
			break;
		memcpy(payload_segment(buf, seg++), payload_received(part), n);
		left -= n;
	}
}

bool mad_is_transfer(struct ib_mad_recv_wc *wc)
{
	struct ib_rmpp_mad *mad = (void *)wc->recv_buf.mad;

	return ib_get_rmpp_flags(&mad->rmpp_hdr) & IB_MGMT_RMPP_FLAG_ACTIVE;
}

/* Returns false if the MAD is not as long as it says. */
bool payload_get(struct ib_mad_recv_wc *wc, struct payload *payload)
{
	const __be32 *word = payload_received(&wc->recv_buf);

	payload->cookie = (u64)be32_to_cpu(word[0]) << 32 | be32_to_cpu(word[1]);
	payload->length = be32_to_cpu(word[2]);
	payload->reply = be32_to_cpu(word[3]);
	if (!payload_fits(payload))
		return false;
	if (mad_is_transfer(wc))
		return wc->mad_len == IB_MGMT_VENDOR_HDR + payload->length;
	return payload->length <= PAYLOAD_MAD;
}

/* Returns whether the received data is @payload, to the last word. */
bool payload_good(struct ib_mad_recv_wc *wc, const struct payload *payload)
{
	u32 i, done = 0, words = payload->length / WORD;
	struct ib_mad_recv_buf *part;
	const __be32 *word;

	list_for_each_entry(part, &wc->rmpp_list, list) {
		word = payload_received(part);
		for (i = 0; i < SEG_WORDS && done < words; i++, done++)
			if (word[i] != payload_word(payload, done))
				return false;
	}
	return done == words;
}
