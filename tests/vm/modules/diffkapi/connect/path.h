/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_KAPI_PATH_H
#define IBEX_TESTS_KAPI_PATH_H

#include <rdma/ib_sa.h>
#include "kapi.h"

void right_path(struct sa_path_rec *rec, const struct kdev *from, const struct kdev *to);
void say_path(const struct sa_path_rec *rec);
void ah_of_path(void);
void ah_of_group(void);

#endif /* IBEX_TESTS_KAPI_PATH_H */
