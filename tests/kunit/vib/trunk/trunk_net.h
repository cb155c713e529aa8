/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_TRUNK_NET_H
#define VIB_TRUNK_NET_H

/*
 * Two adapters, each with a trunk plugged to its port 1, which are each other's peers over UDP
 * on the loopback device.  At the test's end everything is removed; a trunk that is not
 * released then fails the test.
 */
#include <linux/in.h>
#include "../fabric/fabric_net.h"
#include "trunk/trunk.h"
#include "wait.h"

#define TN_ENDS		2
#define TN_INTERVAL	20	/* ms */
/* As long as anything may take: time is virtual. */
#define TN_LONG		10000

struct tn_end {
	struct fab_node *ca;
	struct vib_port *port;		/* 1 of @ca */
	struct vib_trunk *trunk;	/* NULL: closed */
	struct tn_life *life;		/* of @trunk */
};

struct tn {
	struct kunit *test;
	struct fab *fab;
	struct tn_end end[TN_ENDS];
	struct list_head lives;		/* of all trunks that were opened */
};

/* The two adapters; undone at the test's end. */
struct tn *tn_new(struct kunit *test);
/* 127.0.0.1 and the port of an end. */
struct sockaddr_storage tn_address(unsigned int end);
struct vib_trunk_attr tn_attr(unsigned int end);
/* Opens the trunk of an end and plugs it in; 0 or the error. */
int tn_open(struct tn *tn, unsigned int end);
void tn_close(struct tn *tn, unsigned int end);
/* Whether the trunk of an end that was closed last is released, once works have run. */
bool tn_released(struct tn *tn, unsigned int end);
/* Opens both, and takes the ports to Active. */
struct tn *tn_joined(struct kunit *test);

/* Whether both ports get to @state in time, with trunks that agree. */
bool tn_both(struct tn *tn, u8 state);
bool tn_is(struct tn *tn, unsigned int end, u8 state);
void tn_activate(struct tn *tn);

/* Lets the works of trunks and ports run until what was sent has come. */
void tn_wait_idle(struct tn *tn);
void tn_send(struct tn *tn, unsigned int end, const struct fab_spec *spec);
/* The PSN of the next packet that arrives at @end, which is freed; 0: none comes. */
u32 tn_take_psn(struct tn *tn, unsigned int end);
u64 tn_count(struct tn *tn, unsigned int end, enum vib_trunk_counter which);
/* As if the trunk of @end had sent a packet of @blocks, which the network lost. */
bool tn_lose(struct tn *tn, unsigned int end, u8 vl, u16 blocks);
/* A datagram comes to @end from its peer. */
void tn_datagram(struct tn *tn, unsigned int end, const void *buf, size_t len);

#endif
