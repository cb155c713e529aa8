/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBEX_UMAD_TEST_H
#define IBEX_UMAD_TEST_H

/*
 * Two processes, each of which has opened a fake adapter's umad device by its device
 * node.  The case's thread plays both; it has user memory of TEST_MEM bytes.
 */
#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/mman.h>
#include <rdma/ib_smi.h>
#include "fake_hca.h"
#include "umad/umad.h"
#include "wait.h"

#define TEST_CLASS	0x0a	/* vendor range 1: no RMPP header, no OUI */
#define TEST_RMPP_CLASS	0x30	/* vendor range 2 */
#define TEST_MEM	SZ_256K

struct umad_end {
	struct fake_hca *hca;
	struct umad_port *port;
	struct file *filp;
	struct ib_umad_file *file;
	int other_ahs;			/* address handles that are not of sends */
};

struct umad_pair {
	struct umad_end a, b;
	int ida, idb;			/* agents of TEST_CLASS; b's takes GET */
};

/* A MAD and its header, as a process has them. */
struct umad_mad {
	struct ib_user_mad_hdr hdr;
	union {
		struct ib_mad_hdr mad;
		struct ib_rmpp_mad rmpp;
		struct ib_vendor_mad vendor;
		struct ib_smp smp;
		u8 data[SZ_64K];
	};
};

int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);
extern struct umad_pair ends;
extern unsigned long fixture_mem;
extern struct umad_mad *fixture_mad;	/* is read into, and written from */

int fixture_end_init(struct umad_end *end, const struct fake_hca_params *params);
void fixture_end_exit(struct umad_end *end);
struct file *fixture_open_node(const char *name, int flags);
int fixture_open(struct umad_end *end, int flags);
void fixture_close(struct umad_end *end);
/* Closes a file as a process that ends does: no work is deferred. */
void fixture_close_file(struct file *filp);
/* Maps more user memory; asserts that it worked. */
unsigned long fixture_mmap(struct kunit *test, struct file *file, unsigned long size,
			   unsigned long prot);

/*
 * Two pages of user memory.  The case fills the first; it may be read-only to the
 * process.  @fn is called when the second is touched for the first time; without @fn
 * there is no second page.
 */
struct fixture_page {
	unsigned long addr;		/* in the process */
	void *data;			/* in the kernel */
	struct page *page[2];
	void (*fn)(void *arg);
	void *arg;
	bool broken;			/* no second page, even after @fn */
	bool touched;
};

void fixture_page_map(struct kunit *test, struct fixture_page *page, unsigned long prot);
void fixture_page_free(struct fixture_page *page);

/* @arg is copied to user memory and back. */
long fixture_ioctl(struct umad_end *end, unsigned int cmd, void *arg, size_t size);
int fixture_register(struct umad_end *end, u8 mgmt_class, u8 method, u8 rmpp, u32 flags);
int fixture_register_old(struct umad_end *end, u8 mgmt_class, u8 method, u8 rmpp);
int fixture_unregister(struct umad_end *end, u32 id);

/* Fills fixture_mad with a request for @to; 256 bytes. */
struct umad_mad *fixture_request(int id, struct umad_end *to, u8 method, u64 tid,
				 u32 timeout_ms);
/*
 * Fills fixture_mad with an RMPP transfer of @len bytes of data; returns its length
 * from the MAD's start.
 */
size_t fixture_transfer(int id, struct umad_end *to, u8 method, u64 tid, size_t len);
/* Writes fixture_mad, @len bytes of its MAD. */
ssize_t fixture_write(struct umad_end *end, size_t len);
/* Reads @len bytes of MAD into fixture_mad. */
ssize_t fixture_read(struct umad_end *end, size_t len);
bool fixture_readable(struct umad_end *end);
/* Waits for up to a minute of virtual time until the file is readable. */
bool fixture_wait(struct umad_end *end);
void fixture_quiesce(void);
unsigned int fixture_agents(struct umad_end *end);
/* Returns the number of outstanding sends: each has an address handle. */
int fixture_sends(struct umad_end *end);

/* A thread that calls @fn, which waits. */
struct fixture_waiter {
	long (*fn)(struct fixture_waiter *waiter);
	struct kunit *test;
	struct file *filp;
	const char *name;
	struct task_struct *task;
	long result;
	bool done;
};

void fixture_waiter_start(struct kunit *test, struct fixture_waiter *waiter);
/* Returns whether @fn has returned within a minute; then the thread has ended. */
bool fixture_waiter_join(struct fixture_waiter *waiter);

#endif
