/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_FIXTURE_H
#define IBEX_USER_FIXTURE_H

/*
 * A device that serves processes, an open file on it with a context, and types of
 * user object whose driver does what the test sets.
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

	int refuse_context;		/* error of alloc_ucontext */
	int contexts;			/* that the driver has */

	/* The driver: notes the letters of destroyed objects. */
	char destroyed[32];
	char why[32];			/* their enum rdma_remove_reason, a digit each */
	int nr_destroyed;
	char refuse;			/* the object with this letter is not destroyed */
	int refusals;			/* for so many times */
	char uses;			/* 'a' cannot be destroyed before this one */
	bool refuse_last;		/* even at RDMA_REMOVE_DRIVER_FAILURE */
};

extern const struct uverbs_api_object fixture_type;	/* with a handle */
extern const struct uverbs_api_object fixture_other;	/* another with a handle */
extern const struct uverbs_api_object fixture_fd;	/* with a descriptor */

int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);
/* Registers the device and opens a file, without a context. */
int fixture_open(struct fixture *t);
void fixture_close(struct fixture *t);
/* Begins a new call, for example of another method. */
void fixture_call(struct fixture *t);
/* Creates an object with this letter; returns its handle or descriptor, or an error. */
int fixture_make(struct fixture *t, const struct uverbs_api_object *type,
		 char letter);
int fixture_lookup(struct fixture *t, const struct uverbs_api_object *type, int id,
		   enum rdma_lookup_mode mode, struct ib_uobject **uobj);
/* The destroy of the driver: refuses, or notes the object. */
int fixture_note(struct ib_uobject *uobj, enum rdma_remove_reason why);
/* Closes a descriptor and waits for its release. */
void fixture_close_fd(int fd);

#endif
