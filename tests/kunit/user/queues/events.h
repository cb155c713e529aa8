/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_EVENTS_H
#define IBEX_USER_EVENTS_H

/* A process that reads events: its descriptors, its CQs, and threads that wait. */
#include "user/call/commands.h"
#include "user/uverbs_test.h"

/* Create descriptors by CREATE_COMP_CHANNEL and ASYNC_EVENT_ALLOC; they assert. */
int events_channel(struct commands *c);
int events_async(struct commands *c);

struct events_cq {
	u32 handle;
	struct ib_cq *cq;
};

/* Creates a CQ with user handle @name on @vector; @channel may be -1. */
struct events_cq events_cq(struct commands *c, int channel, u64 name, u32 vector);
/* Likewise by ioctl; if @async is not -1 the CQ's asynchronous events go to it. */
struct events_cq events_cq_async(struct commands *c, int async, u64 name);
int events_destroy(struct commands *c, u32 handle,
		   struct ib_uverbs_destroy_cq_resp *resp);
/* As in the interrupt of an adapter. */
void events_complete(struct ib_cq *cq);

/* The result of a read() of @fd that does not wait. */
ssize_t events_read(struct commands *c, int fd, void *to, size_t len);
/* Reads to an address of the user. */
ssize_t events_read_at(struct commands *c, int fd, unsigned long at, size_t len);
__poll_t events_poll(int fd);
/* Reads completion events until there are none: the name of each CQ is a letter. */
void events_read_names(struct commands *c, int fd, char *names, size_t size);
/* The next asynchronous event, or type -1 if there is none. */
struct ib_uverbs_async_event_desc events_next(struct commands *c, int fd);
struct uverbs_event_queue *events_queue(int fd);
/* The number of unread asynchronous events of an object. */
u32 events_unread(const struct uverbs_event_object *obj);

/* A thread that waits in read() for an event, or for more if @len allows. */
struct events_reader {
	struct user_thread thread;
	struct file *filp;
	size_t len;
	ssize_t ret;
	u64 got[4];
};

void events_reader_start(struct kunit *test, struct events_reader *reader, int fd,
			 size_t len);
/* Whether it has read, or failed. */
bool events_reader_done(struct events_reader *reader);
void events_reader_join(struct events_reader *reader);

#endif
