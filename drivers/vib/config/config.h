/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef VIB_CONFIG_H
#define VIB_CONFIG_H

/* Topologies, as an administrator makes them in configfs (Documentation/vib.rst). */
#include <linux/configfs.h>
#include "fabric/fabric.h"

struct vib_config_fabric {
	struct config_group group, nodes, links;
	struct vib_fabric fabric;
};

extern const struct config_item_type vib_config_nodes_type;
extern const struct config_item_type vib_config_links_type;

/*
 * The table of @node's ports, which is not removed meanwhile: the length if @buf is NULL, else
 * it is written there.  -EAGAIN if @size is not the length.
 */
ssize_t vib_config_ports_read(struct vib_node *node, char *buf, size_t size);

int vib_config_init(void);
void vib_config_exit(void);

#endif
