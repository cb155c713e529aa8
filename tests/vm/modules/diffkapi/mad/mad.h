/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_KAPI_MAD_H
#define IBEX_TESTS_KAPI_MAD_H

#include <rdma/ib_mad.h>
#include "kapi.h"

#define MAD_CLASS	0x3d		/* vendor range 2: with an OUI, and RMPP */

/* What becomes of a request, by its attribute. */
enum {
	ATTR_ANSWER = 1, ATTR_SILENT, ATTR_LATE, ATTR_DATAGRAM,
};

/* An agent of one device, whose handlers leave events. */
struct mad_end {
	struct source events;
	struct kdev *dev;
	struct ib_mad_agent *agent;
	struct ib_ah *ah;
	bool ipv4;			/* the address */
	u32 tid;			/* of the last request, sent or received */
	bool rmpp, answers;
	/* What the thread waits for, which frees it; the handler frees all others. */
	struct ib_mad_send_buf *awaited;
};

extern const u8 mad_oui[3];

void mad_header(struct ib_mad_hdr *hdr, u8 method, u32 attr, u64 tid);
void mad_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
void mad_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		  struct ib_mad_recv_wc *wc);
struct mad_end *mad_end(struct kdev *dev, bool rmpp);
bool mad_ah(struct mad_end *e, struct kdev *to);
void mad_end_free(struct mad_end *e);

#endif /* IBEX_TESTS_KAPI_MAD_H */
