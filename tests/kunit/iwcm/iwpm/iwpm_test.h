/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_IWPM_TEST_H
#define IBEX_IWPM_TEST_H

#include "iwcm/iwcm_test.h"
#include "pm_daemon.h"

/* A call of iw_connect_id() that runs while the test goes on. */
struct pm_call {
	struct work_struct work;
	struct completion done;
	struct iw_cm_id *cm_id;
	int ret;
};

struct pm_call *pm_call(struct kunit *test, struct iw_cm_id *cm_id);
unsigned int pm_connect_time(void);		/* of it.id */
u16 pm_port(const struct sockaddr_storage *ss);
struct iw_cm_id *pm_id(u16 port);		/* an idle id with that local port */
int pm_init(struct kunit *test);
void pm_exit(struct kunit *test);

#endif
