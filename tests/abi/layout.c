// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* A public struct that has grown: the gate must object. */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/in6.h>
#include <linux/socket.h>

struct ib_event_handler {
	void *device;
	void *handler;
	unsigned long grown;
};


struct ib_event_handler ibex_grown;

int rdma_addr_size_kss(struct __kernel_sockaddr_storage *addr);

int rdma_addr_size_kss(struct __kernel_sockaddr_storage *addr)
{
	return addr->ss_family + !ibex_grown.grown;
}
EXPORT_SYMBOL(rdma_addr_size_kss);

MODULE_DESCRIPTION("A wrong layout, for the test of the ABI gate");
MODULE_LICENSE("Dual BSD/GPL");
