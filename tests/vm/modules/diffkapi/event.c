// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What handlers were told. A source keeps the order in which its events came; the thread of the
 * sequence prints as many as it waits for, so that what is printed does not depend on when they
 * come.
 */
#include <linux/sched.h>
#include "kapi.h"

void source_init(struct source *s)
{
	spin_lock_init(&s->lock);
	init_waitqueue_head(&s->wait);
	s->came = 0;
	s->printed = 0;
}

void event(struct source *s, const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	va_start(args, fmt);
	spin_lock_irqsave(&s->lock, flags);
	if (s->came < EVENT_LINES) {
		vsnprintf(s->lines[s->came], EVENT_BYTES, fmt, args);
		/* The reader, who has no lock, must not see a part of the line. */
		smp_store_release(&s->came, s->came + 1);
	}
	spin_unlock_irqrestore(&s->lock, flags);
	va_end(args);
	wake_up(&s->wait);
}

bool take_events(struct source *s, unsigned int count)
{
	/* pairs with event() */
	bool all = wait_event_timeout(s->wait, smp_load_acquire(&s->came) >= s->printed + count,
				      EVENT_WAIT);

	/* pairs with event() */
	while (count-- && s->printed < smp_load_acquire(&s->came))
		say("  event %s\n", s->lines[s->printed++]);
	if (!all)
		say("  event that does not come\n");
	return all;
}

unsigned int events_left(struct source *s)
{
	unsigned int count = READ_ONCE(s->came) - s->printed;

	if (count)
		take_events(s, count);
	return count;
}
