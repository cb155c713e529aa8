/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_TESTS_UMADECHO_H
#define IBEX_TESTS_UMADECHO_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdnoreturn.h>

#define ECHO_CLASS	0x3c		/* vendor range 2: with an OUI, and RMPP */
#define ECHO_OUI	0x021be9
#define METHOD_SET	2
#define METHOD_RESP	0x80

#define MAD_SIZE	256
#define MAD_HEADER	40
#define MAD_DATA	(MAD_SIZE - MAD_HEADER)
#define MAX_DATA	(4 << 20)

/* The content of a message: words computed from its cookie and their position. */
struct content {
	__u32 cookie;
	__u32 length;	/* bytes, in words of four */
	__u32 reply;		/* bytes of the answer; 0: echo the request */
};

/* A umad buffer of the largest size, its MAD, and the length of the MAD. */
struct message {
	void *umad;
	__u8 *mad;
	int length;
};

struct port {
	int fd;
	int agent;
};

/* message.c */
struct message message_new(void);
void message_address(struct message *msg, const __u8 gid[16], int gid_index);
void message_request(struct message *msg, const struct content *content);
void message_answer(struct message *msg, const struct content *asked);
__u32 message_tid(const struct message *msg);
bool message_read(const struct message *msg, struct content *content);
bool message_is(const struct message *msg, const struct content *content);

/* main.c */
noreturn void die(const char *what, int error);

/* ask.c, segments.c, serve.c */
struct order {
	__u8 gid[16];
	unsigned int count;
	unsigned int window;
	__u32 size;
	__u32 reply;
};

int ask(const struct port *port, const struct order *order);
int ask_in_segments(const struct port *port, const struct order *order);
int serve(const struct port *port);

#endif
