// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The event queue of a descriptor, for completion events or for asynchronous events.
 * The two differ in what an event is (struct uverbs_event_ops), not in how it is read.
 *
 * An event wakes one reader that waits in read(), and all that poll.  It belongs to the
 * reader that took it off the queue.  If that reader's buffer turns out to be bad, the
 * event is put back in front and wakes another reader.  No lock is held while an event
 * is copied.
 *
 * A queue is closed when its device is removed or its descriptor closed: no more events
 * are queued.  Queued events can still be read; then reads fail with -EIO.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/uaccess.h>
#include <kunit/visibility.h>
#include <rdma/ib_user_verbs.h>

#include "queues/queues.h"

void uverbs_event_queue_init(struct uverbs_event_queue *queue,
			     const struct uverbs_event_ops *ops)
{
	queue->ops = ops;
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->ready);
	init_waitqueue_head(&queue->readers);
}

void uverbs_event_queue_wake(struct uverbs_event_queue *queue)
{
	wake_up_interruptible_poll(&queue->readers, EPOLLIN | EPOLLRDNORM);
	kill_fasync(&queue->fasync, SIGIO, POLL_IN);
}

void uverbs_event_queue_close(struct uverbs_event_queue *queue)
{
	spin_lock_irq(&queue->lock);
	queue->closed = true;
	spin_unlock_irq(&queue->lock);
	wake_up_interruptible_all(&queue->readers);
	kill_fasync(&queue->fasync, SIGIO, POLL_IN);
}

static struct uverbs_event_queue *event_queue(struct file *filp)
{
	return container_of(filp->private_data, struct uverbs_event_queue, uobject);
}

/* Wait condition, read without the lock: waiters are woken after every change of it. */
static bool event_or_end(const struct uverbs_event_queue *queue)
{
	return !list_empty(&queue->ready) || READ_ONCE(queue->closed);
}

/* Takes the first event; NULL if there is none, -EIO if there will be none. */
VISIBLE_IF_KUNIT struct uverbs_event *
uverbs_event_take(struct uverbs_event_queue *queue, void *desc)
{
	struct uverbs_event *event;

	spin_lock_irq(&queue->lock);
	event = list_first_entry_or_null(&queue->ready, struct uverbs_event, ready);
	if (event)
		queue->ops->take(queue, event, desc);
	else if (queue->closed)
		event = ERR_PTR(-EIO);
	spin_unlock_irq(&queue->lock);
	return event;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_take);

VISIBLE_IF_KUNIT void uverbs_event_put_back(struct uverbs_event_queue *queue,
					    struct uverbs_event *event)
{
	spin_lock_irq(&queue->lock);
	queue->ops->put_back(queue, event);
	spin_unlock_irq(&queue->lock);
	/* Another reader may have gone to sleep meanwhile. */
	uverbs_event_queue_wake(queue);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_event_put_back);

/* Reads one event.  Returns 1, 0 if there was none, or an error. */
static int read_event(struct uverbs_event_queue *queue, char __user *buf)
{
	struct ib_uverbs_async_event_desc desc;
	struct uverbs_event *event = uverbs_event_take(queue, &desc);

	if (IS_ERR_OR_NULL(event))
		return PTR_ERR(event);
	if (copy_to_user(buf, &desc, queue->ops->desc_size)) {
		uverbs_event_put_back(queue, event);
		return -EFAULT;
	}
	queue->ops->read(queue, event);
	return 1;
}

/* Returns 0 when the caller should look for an event again. */
static int wait_for_event(struct uverbs_event_queue *queue, const struct file *filp)
{
	if (filp->f_flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event_interruptible_exclusive(queue->readers,
						  event_or_end(queue));
}

/*
 * read(): reads as many whole events as are queued and fit in the buffer; waits for the
 * first.  -EINVAL if the buffer is too small for one, -EIO once the queue is closed and
 * empty.
 */
ssize_t uverbs_event_read(struct file *filp, char __user *buf, size_t count,
			  loff_t *pos)
{
	struct uverbs_event_queue *queue = event_queue(filp);
	size_t size = queue->ops->desc_size, done = 0;
	int ret;

	if (count < size)
		return -EINVAL;
	while (count - done >= size) {
		ret = read_event(queue, buf + done);
		if (ret > 0) {
			done += size;
			continue;
		}
		if (done)
			break;
		if (!ret)
			ret = wait_for_event(queue, filp);
		if (ret)
			return ret;
	}
	return done;
}

__poll_t uverbs_event_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct uverbs_event_queue *queue = event_queue(filp);
	__poll_t ready = 0;

	poll_wait(filp, &queue->readers, wait);
	spin_lock_irq(&queue->lock);
	if (!list_empty(&queue->ready))
		ready = EPOLLIN | EPOLLRDNORM;
	else if (queue->closed)
		ready = EPOLLIN | EPOLLERR;
	spin_unlock_irq(&queue->lock);
	return ready;
}

int uverbs_event_fasync(int fd, struct file *filp, int on)
{
	return fasync_helper(fd, filp, on, &event_queue(filp)->fasync);
}
