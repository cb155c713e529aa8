/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_FIXTURE_H
#define IBEX_USER_FIXTURE_H

/*
 * A device that serves processes, an open file on it with a context, and two types of
 * user object whose driver does what the test wants.
 */
#include <kunit/test.h>
#include <rdma/uverbs_std_types.h>
#include "fake_hca.h"
#include "call/call.h"
#include "queues/queues.h"
#include "uverbs/uverbs.h"

struct fixture_object {
	struct ib_uobject uobj;
	char letter;
};

struct fixture {
	struct kunit *test;
	struct fake_hca *hca;
	struct uverbs_device *udev;
	struct ib_uverbs_file *file;
	u64 buf[64];			/* of call */
	struct uverbs_call *call;
	struct uverbs_attr_bundle *attrs;

	int refuse_context;		/* what alloc_ucontext answers */
	int contexts;			/* alive */

	/* The driver: destroys are noted by the letter of what is destroyed. */
	char destroyed[32];
	char why[32];			/* a digit each, enum rdma_remove_reason */
	int nr_destroyed;
	char refuse;			/* this one stays */
	int refusals;			/* so many times */
	char uses;			/* 'a' cannot go while this one is there */
	bool refuse_last;		/* even at RDMA_REMOVE_DRIVER_FAILURE */
};

extern const struct uverbs_api_object fixture_type;	/* with a handle */
extern const struct uverbs_api_object fixture_other;	/* another */
extern const struct uverbs_api_object fixture_fd;	/* with a descriptor */

int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);
/* Registers the device and opens a file, without a context. */
int fixture_open(struct fixture *t);
void fixture_close(struct fixture *t);
/* A new call, as of another method. */
void fixture_call(struct fixture *t);
/* An object named @letter; its handle or descriptor, or an error. */
int fixture_make(struct fixture *t, const struct uverbs_api_object *type,
		 char letter);
int fixture_lookup(struct fixture *t, const struct uverbs_api_object *type, int id,
		   enum rdma_lookup_mode mode, struct ib_uobject **uobj);
/* What a driver's destroy does with an object: refuses or notes it. */
int fixture_note(struct ib_uobject *uobj, enum rdma_remove_reason why);
/* Closes a descriptor and waits for its release. */
void fixture_close_fd(int fd);

#endif
