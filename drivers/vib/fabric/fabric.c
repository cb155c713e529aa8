// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Fabrics: sets of nodes and links that have nothing to do with those of another. */
#include "fabric/fabric.h"

void vib_fabric_init(struct vib_fabric *fabric)
{
	RCU_INIT_POINTER(fabric->captured.monitor, NULL);
	mutex_init(&fabric->lock);
	INIT_LIST_HEAD(&fabric->nodes);
	INIT_LIST_HEAD(&fabric->links);
}

void vib_fabric_cleanup(struct vib_fabric *fabric)
{
	WARN_ON(!list_empty(&fabric->nodes) || !list_empty(&fabric->links));
	mutex_destroy(&fabric->lock);
}

struct vib_node *vib_fabric_find(struct vib_fabric *fabric, const char *name)
{
	struct vib_node *node;

	lockdep_assert_held(&fabric->lock);
	list_for_each_entry(node, &fabric->nodes, entry) {
		if (!strcmp(node->name, name))
			return node;
	}
	return NULL;
}
