/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_USER_EVENTS_H
#define IBEX_USER_EVENTS_H

/* A process that reads events: its descriptors, its CQs, and threads that wait. */
#include "user/call/commands.h"
#include "user/uverbs_test.h"

/* New descriptors, by CREATE_COMP_CHANNEL and ASYNC_EVENT_ALLOC; they assert. */
int events_channel(struct commands *c);
int events_async(struct commands *c);

struct events_cq {
	u32 handle;
	struct ib_cq *cq;
};

/* A CQ that the user calls @name, on @vector; @channel: or -1. */
struct events_cq events_cq(struct commands *c, int channel, u64 name, u32 vector);
/* By ioctl, its errors going to descriptor @async unless that is -1. */
struct events_cq events_cq_async(struct commands *c, int async, u64 name);
int events_destroy(struct commands *c, u32 handle,
		   struct ib_uverbs_destroy_cq_resp *resp);
/* As in an adapter's interrupt. */
void events_complete(struct ib_cq *cq);

/* What read() of @fd answers; it does not wait. */
ssize_t events_read(struct commands *c, int fd, void *to, size_t len);
/* To where the user says. */
ssize_t events_read_at(struct commands *c, int fd, unsigned long at, size_t len);
__poll_t events_poll(int fd);
/* Reads completion events until there are none: a letter each, the CQ's name. */
void events_read_names(struct commands *c, int fd, char *names, size_t size);
/* The next asynchronous event, or type -1 if there is none. */
struct ib_uverbs_async_event_desc events_next(struct commands *c, int fd);
struct uverbs_event_queue *events_queue(int fd);
/* How many asynchronous events of an object wait to be read. */
u32 events_unread(const struct uverbs_event_object *obj);

/* A thread that waits in read() for one event, or more if it is so long. */
struct events_reader {
	struct user_thread thread;
	struct file *filp;
	size_t len;
	ssize_t ret;
	u64 got[4];
};

void events_reader_start(struct kunit *test, struct events_reader *reader, int fd,
			 size_t len);
/* It has read, or failed. */
bool events_reader_done(struct events_reader *reader);
void events_reader_join(struct events_reader *reader);

#endif
