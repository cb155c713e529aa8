// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See events.h. */
#include <linux/file.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include "events.h"
#include "user/fixture.h"

int events_channel(struct commands *c)
{
	struct ib_uverbs_create_comp_channel_resp resp;
	struct ib_uverbs_create_comp_channel cmd = {};

	KUNIT_ASSERT_EQ(c->test,
			commands_write(c, IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, &cmd,
				       sizeof(cmd), &resp, sizeof(resp)), 0);
	return resp.fd;
}

int events_async(struct commands *c)
{
	commands_begin(c, UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC);
	commands_new(c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
	KUNIT_ASSERT_EQ(c->test, commands_ioctl(c), 0);
	return commands_got_handle(c, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE);
}

static struct events_cq found_cq(struct commands *c, u32 handle)
{
	struct events_cq found = { .handle = handle };

	found.cq = commands_object(c, UVERBS_OBJECT_CQ, handle);
	KUNIT_ASSERT_NOT_NULL(c->test, found.cq);
	return found;
}

struct events_cq events_cq(struct commands *c, int channel, u64 name, u32 vector)
{
	struct ib_uverbs_create_cq_resp resp;
	struct ib_uverbs_create_cq cmd = {
		.user_handle = name,
		.cqe = 16,
		.comp_vector = vector,
		.comp_channel = channel,
	};

	KUNIT_ASSERT_EQ(c->test,
			commands_write(c, IB_USER_VERBS_CMD_CREATE_CQ, &cmd,
				       sizeof(cmd), &resp, sizeof(resp)), 0);
	return found_cq(c, resp.cq_handle);
}

struct events_cq events_cq_async(struct commands *c, int async, u64 name)
{
	commands_begin(c, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	commands_new(c, UVERBS_ATTR_CREATE_CQ_HANDLE);
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_CQE, 16);
	commands_u64(c, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, name);
	commands_u32(c, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0);
	commands_out(c, UVERBS_ATTR_CREATE_CQ_RESP_CQE, sizeof(u32));
	if (async >= 0)
		commands_fd(c, UVERBS_ATTR_CREATE_CQ_EVENT_FD, async);
	KUNIT_ASSERT_EQ(c->test, commands_ioctl(c), 0);
	return found_cq(c, commands_got_handle(c, UVERBS_ATTR_CREATE_CQ_HANDLE));
}

int events_destroy(struct commands *c, u32 handle,
		   struct ib_uverbs_destroy_cq_resp *resp)
{
	struct ib_uverbs_destroy_cq cmd = { .cq_handle = handle };

	return commands_write(c, IB_USER_VERBS_CMD_DESTROY_CQ, &cmd, sizeof(cmd), resp,
			      sizeof(*resp));
}

void events_complete(struct ib_cq *cq)
{
	unsigned long flags;

	local_irq_save(flags);
	cq->comp_handler(cq, cq->cq_context);
	local_irq_restore(flags);
}

/* ---- reading ---- */

ssize_t events_read_at(struct commands *c, int fd, unsigned long at, size_t len)
{
	struct file *filp = fget(fd);
	loff_t pos = 0;
	ssize_t ret;

	KUNIT_ASSERT_NOT_NULL(c->test, filp);
	filp->f_flags |= O_NONBLOCK;
	ret = filp->f_op->read(filp, (char __user *)at, len, &pos);
	filp->f_flags &= ~O_NONBLOCK;
	fput(filp);
	flush_delayed_fput();
	return ret;
}

ssize_t events_read(struct commands *c, int fd, void *to, size_t len)
{
	unsigned long at = commands_resp_at(c);
	ssize_t ret = events_read_at(c, fd, at, len);

	if (ret > 0)
		KUNIT_ASSERT_EQ(c->test, copy_from_user(to, (void __user *)at, ret),
				0ul);
	return ret;
}

__poll_t events_poll(int fd)
{
	struct file *filp = fget(fd);
	__poll_t ready = vfs_poll(filp, NULL);

	fput(filp);
	flush_delayed_fput();
	return ready;
}

void events_read_names(struct commands *c, int fd, char *names, size_t size)
{
	u64 name;

	while (size-- > 1 && events_read(c, fd, &name, sizeof(name)) == sizeof(name))
		*names++ = name;
	*names = 0;
}

struct ib_uverbs_async_event_desc events_next(struct commands *c, int fd)
{
	struct ib_uverbs_async_event_desc desc;

	if (events_read(c, fd, &desc, sizeof(desc)) != sizeof(desc))
		desc.event_type = -1;
	return desc;
}

u32 events_unread(const struct uverbs_event_object *obj)
{
	u32 i, unread = 0;

	for (i = 0; i < ARRAY_SIZE(obj->events); i++)
		unread += obj->events[i].unread;
	return unread;
}

struct uverbs_event_queue *events_queue(int fd)
{
	struct file *filp = fget(fd);
	struct ib_uobject *uobj = filp->private_data;

	fput(filp);
	flush_delayed_fput();
	return container_of(uobj, struct uverbs_event_queue, uobject);
}

/* ---- threads ---- */

static void read_in_thread(struct kunit *test, void *arg)
{
	struct events_reader *reader = arg;
	unsigned long at = user_pages(test, 1, TEST_RW);
	loff_t pos = 0;

	allow_signal(SIGINT);
	reader->ret = reader->filp->f_op->read(reader->filp, (char __user *)at,
					       reader->len, &pos);
	if (reader->ret > 0)
		KUNIT_EXPECT_EQ(test, copy_from_user(reader->got, (void __user *)at,
						     reader->ret), 0ul);
	flush_signals(current);
	fput(reader->filp);
}

void events_reader_start(struct kunit *test, struct events_reader *reader, int fd,
			 size_t len)
{
	reader->thread.fn = read_in_thread;
	reader->thread.test = test;
	reader->thread.arg = reader;
	reader->filp = fget(fd);
	reader->len = len;
	reader->ret = 0;
	KUNIT_ASSERT_NOT_NULL(test, reader->filp);
	KUNIT_ASSERT_EQ(test, user_thread_start(&reader->thread), 0);
	/* Gives the thread time to wait. */
	msleep(20);
}

bool events_reader_done(struct events_reader *reader)
{
	msleep(20);
	return READ_ONCE(reader->thread.done);
}

void events_reader_join(struct events_reader *reader)
{
	user_thread_join(&reader->thread);
	flush_delayed_fput();
}
