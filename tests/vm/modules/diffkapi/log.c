// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The lines of a sequence, which the reader of debugfs gets when it is over. */
#include <linux/vmalloc.h>
#include "kapi.h"

#define LOG_BYTES	0x100000

char *log_text;
size_t log_used;

int log_start(void)
{
	log_text = vmalloc(LOG_BYTES);
	return log_text ? 0 : -ENOMEM;
}

void log_end(void)
{
	vfree(log_text);
}

static __printf(1, 0) void vsay(const char *fmt, va_list args)
{
	log_used += vscnprintf(log_text + log_used, LOG_BYTES - log_used, fmt, args);
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
}

void call(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsay(fmt, args);
	va_end(args);
}

/* EINVAL, or ok. The buffers are used by turns, so that a line may have two. */
const char *result_of(int ret)
{
	static char texts[4][24];
	static unsigned int next;
	char *text = texts[next++ % ARRAY_SIZE(texts)];

	if (ret >= 0)
		return "ok";
	snprintf(text, sizeof(*texts), "%pe", ERR_PTR(ret));
	return *text == '-' ? text + 1 : text;
}

int answer_more(int ret)
{
	say(" = %s", result_of(ret));
	return ret;
}

void answer_end(void)
{
	say("\n");
}

int answer(int ret)
{
	answer_more(ret);
	answer_end();
	return ret;
}

int answer_with(int ret, const char *fmt, ...)
{
	va_list args;

	answer_more(ret);
	if (ret >= 0) {
		say(" ");
		va_start(args, fmt);
		vsay(fmt, args);
		va_end(args);
	}
	answer_end();
	return ret;
}

void say_bytes(const void *bytes, size_t len)
{
	say("%*phN", (int)min_t(size_t, len, 64), bytes);
	if (len > 64)
		say_bytes(bytes + 64, len - 64);
}

void say_gid(const union ib_gid *gid)
{
	say_bytes(gid, sizeof(*gid));
}
