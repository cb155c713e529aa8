// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Multicast groups. */
#include "calls.h"

void do_join(int i)
{
	struct rdma_ucm_join_mcast j = {
		.uid = i + 1, .id = number_of(i),
		.join_flags = one_in(4) ? rnd(5) : RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};
	int ret;

	some_multicast(&j.addr);
	j.addr_size = ((struct sockaddr *)&j.addr)->sa_family == AF_INET ?
		      sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	if (one_in(20))
		j.addr_size = rnd(140);
	show("%d join", i);
	show_address("of", &j.addr);
	show(" size %u flags %x%s%s", j.addr_size, j.join_flags,
	     ids[i].nowhere ? " resolved to no host" : "",
	     ids[i].progress == ROUTE ? " with a route" : "");
	ret = CALL_RESP(i, JOIN_MCAST, &j, sizeof(resp.create));
	show("\n");
	if (!ret) {
		ids[i].group = resp.create.id;
		ids[i].joined = true;
		must_come(1);
	}
}

void do_leave(int i)
{
	struct rdma_ucm_destroy_id d = {
		.id = one_in(4) || !ids[i].joined ? NOBODY : ids[i].group,
	};

	show("%d leave%s", i, d.id == NOBODY ? " nothing" : "");
	if (!CALL_RESP(i, LEAVE_MCAST, &d, sizeof(resp.destroy)))
		show(" reported %u", resp.destroy.events_reported);
	show("\n");
}

