/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_FUZZ_H
#define VIB_FUZZ_H

/*
 * Random packets.  Each that is sent is taken or dropped, and a counter has it if it is
 * dropped; at the end of a case all credits and all payloads have come back.
 *
 * Parameters of the module: packets, how many a case sends; seed, the first number of the
 * random ones.  A failure prints the seed and the number of the packet.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include "fabric/fabric.h"

struct fuzz {
	struct kunit *test;
	struct rnd_state rnd;
	unsigned int n;			/* of the packet that is made, from 0 */
	/* As it was sent */
	struct vib_packet last;
	struct vib_tx *tx;		/* by which packets are sent */
	u32 credits[VIB_VLS];		/* of it, when nothing is on its way */
};

void fuzz_begin(struct fuzz *fuzz, struct kunit *test, struct vib_port *from);
/* True for each packet of the case; false after them, or when the test has failed. */
bool fuzz_next(struct fuzz *fuzz);
/* All that was sent has been freed, and its credits are back. */
void fuzz_end(struct fuzz *fuzz);

u32 fuzz_below(struct fuzz *fuzz, u32 n);
/* Numbers that bounds are at. */
u32 fuzz_edge(struct fuzz *fuzz);

/* Headers, lengths and payload without sense, to LID @dlid more often than not. */
struct vib_packet *fuzz_random(struct fuzz *fuzz, u16 dlid);
/*
 * Makes @pkt, which is finished, the fuzzer's: gives it a payload that is counted, and a place
 * in that; changes up to three of its fields, or none.
 */
void fuzz_change(struct fuzz *fuzz, struct vib_packet *pkt);
/* By the transmitter, or straight into the buffer at the other end. */
void fuzz_send(struct fuzz *fuzz, struct vib_packet *pkt);
/* Fails the test unless @right: @what is wrong with the packet that was sent last. */
void fuzz_expect(struct fuzz *fuzz, bool right, const char *what);

#endif
