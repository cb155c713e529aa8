// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs that the adapter sent recently: its agents' requests and transfers, its CM's
 * messages.
 */
#include <string.h>

#include "madfuzz.h"

#define RING	128

struct ring {
	unsigned int noted;
	struct seen seen[RING];
};

static struct ring requests, messages;

static const struct seen *ring_pick(const struct ring *ring)
{
	unsigned int filled = ring->noted < RING ? ring->noted : RING;

	if (!filled)
		return NULL;
	/* the latest are the most likely to still await an answer */
	return &ring->seen[(ring->noted - 1 - rnd(chance(2) && filled > 8 ? 8 : filled)) % RING];
}

void seen_note(__u32 to, const __u8 *mad)
{
	struct ring *ring = mad[CLASS] == CLASS_CM ? &messages : &requests;
	struct seen *seen = &ring->seen[ring->noted++ % RING];

	seen->to = to;
	memcpy(seen->mad, mad, SEEN_BYTES);
}

const struct seen *seen_request(void)
{
	return ring_pick(&requests);
}

const struct seen *seen_cm(void)
{
	return ring_pick(&messages);
}
