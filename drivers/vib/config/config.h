/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_CONFIG_H
#define VIB_CONFIG_H

/* Topologies, as an administrator makes them in configfs (Documentation/vib.rst). */
#include <linux/configfs.h>
#include "fabric/fabric.h"

struct vib_config_fabric {
	struct config_group group, nodes, links, trunks;
	struct vib_fabric fabric;
};

/*
 * Whether @item, which has been initialized with a name, got it: configfs has no memory for a
 * long one, and does not say so.
 */
static inline bool vib_config_named(struct config_item *item)
{
	return config_item_name(item);
}

extern const struct config_item_type vib_config_nodes_type;
extern const struct config_item_type vib_config_links_type;
extern const struct config_item_type vib_config_trunks_type;

/*
 * The port that @text names: "sw0:3"; of an adapter with one port "ca0" will do.  ERR_PTR:
 * -ENODEV, also for @text NULL; -ENOMEM.  fabric->lock.
 */
struct vib_port *vib_config_port(struct vib_fabric *fabric, const char *text);

/*
 * The table of @node's ports, which is not removed meanwhile: the length if @buf is NULL, else
 * it is written there.  -EAGAIN if @size is not the length.
 */
ssize_t vib_config_ports_read(struct vib_node *node, char *buf, size_t size);

/*
 * "10.0.0.1", "10.0.0.1:18616", "fe80::1%eth0" or "[fe80::1%eth0]:18616" of @net; VIB_TRUNK_PORT
 * if no port is given.  -EINVAL.
 */
int vib_config_address(struct net *net, const char *text, struct sockaddr_storage *address);

/* A write of @page to the attribute "capture" of @what. */
ssize_t vib_config_capture(struct vib_captured *what, const char *page, size_t len);

int vib_config_init(void);
void vib_config_exit(void);

#endif
