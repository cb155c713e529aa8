/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRCRCV_H
#define XRCRCV_H

/* Processes that receive through a QP of an XRC domain, which one of them had made. */
#include "processes.h"
#include "verbs.h"

#define DOMAIN_FILE	"/run/xrcrcv.domain"

int check_errors(const char *device);
int check_limit(const char *device);
int many(const char *device, int number, bool of_process);
int race(const char *device, int seconds, int processes);

#endif
