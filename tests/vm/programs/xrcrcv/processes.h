/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef XRC_PROCESSES_H
#define XRC_PROCESSES_H

/* Processes that do as they are told, and tests in steps; for other programs, too. */
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#define PATIENCE	60	/* seconds for any answer of a process */

/* Prints why and ends the process with status 2: the test could not be made. */
void give_up(const char *format, ...);
#define MUST(cond)	do { if (!(cond)) give_up("%s", #cond); } while (0)

/* A process, and where it is told something or tells. */
struct child {
	pid_t pid;		/* 0: it is on another machine */
	int fd;
};

struct message {
	int what;			/* as the program defines it */
	__u32 qpn, lid, srqn;
	__u64 from, number;		/* of messages */
	int status;			/* enum ibv_wc_status, or how many were lost */
};

/* Starts a process that runs @fn and ends with this one. */
struct child start(void (*fn)(int fd, void *arg), void *arg);
void end(struct child *c);
void tell(int fd, const struct message *m);
/* Returns false if the process at the other end is gone. */
bool hear(int fd, struct message *m);
/* The same, for an answer: it comes within PATIENCE. */
bool hear_soon(int fd, struct message *m);
/* Tells, and returns the answer. */
struct message ask(struct child *c, struct message m);

/* Prints "at STEP" and waits for a line of the standard input. */
void reached(const char *step);

#endif
