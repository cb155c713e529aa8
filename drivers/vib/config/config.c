// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The configfs folder vib: a folder a fabric, in it nodes/, links/ and trunks/. */
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include "config/config.h"

struct vib_port *vib_config_port(struct vib_fabric *fabric, const char *text)
{
	struct vib_node *node;
	unsigned int num = 1;
	const char *colon;
	char *name;

	lockdep_assert_held(&fabric->lock);
	if (!text)
		return ERR_PTR(-ENODEV);
	colon = strrchr(text, ':');
	if (colon && kstrtouint(colon + 1, 10, &num))
		return ERR_PTR(-ENODEV);
	name = colon ? kstrndup(text, colon - text, GFP_KERNEL) : kstrdup(text, GFP_KERNEL);
	if (!name)
		return ERR_PTR(-ENOMEM);
	node = vib_fabric_find(fabric, name);
	kfree(name);
	return node && num && num <= node->num_ports ? &node->ports[num] : ERR_PTR(-ENODEV);
}

static struct vib_config_fabric *to_config_fabric(struct config_item *item)
{
	return container_of(to_config_group(item), struct vib_config_fabric, group);
}

static void fabric_release(struct config_item *item)
{
	struct vib_config_fabric *fabric = to_config_fabric(item);

	vib_fabric_cleanup(&fabric->fabric);
	kfree(fabric);
}

ssize_t vib_config_capture(struct vib_captured *what, const char *page, size_t len)
{
	bool on;
	int ret;

	ret = kstrtobool(page, &on);
	if (!ret && on)
		ret = vib_capture_start(what);
	else if (!ret)
		vib_capture_stop(what);
	return ret ?: len;
}

/* As that of a link, for all links of the fabric. */
static ssize_t fabric_capture_show(struct config_item *item, char *page)
{
	return vib_capture_show(&to_config_fabric(item)->fabric.captured, page);
}

static ssize_t fabric_capture_store(struct config_item *item, const char *page, size_t len)
{
	return vib_config_capture(&to_config_fabric(item)->fabric.captured, page, len);
}
CONFIGFS_ATTR(fabric_, capture);

static struct configfs_attribute *fabric_attrs[] = {
	&fabric_attr_capture,
	NULL
};

static struct configfs_item_operations fabric_item_ops = {
	.release = fabric_release,
};

static const struct config_item_type fabric_type = {
	.ct_item_ops = &fabric_item_ops,
	.ct_attrs = fabric_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_group *fabric_make(struct config_group *group, const char *name)
{
	struct vib_config_fabric *fabric = kzalloc(sizeof(*fabric), GFP_KERNEL);

	if (!fabric)
		return ERR_PTR(-ENOMEM);
	config_group_init_type_name(&fabric->group, name, &fabric_type);
	if (!vib_config_named(&fabric->group.cg_item)) {
		kfree(fabric);
		return ERR_PTR(-ENOMEM);
	}
	vib_fabric_init(&fabric->fabric);
	config_group_init_type_name(&fabric->nodes, "nodes", &vib_config_nodes_type);
	config_group_init_type_name(&fabric->links, "links", &vib_config_links_type);
	config_group_init_type_name(&fabric->trunks, "trunks", &vib_config_trunks_type);
	configfs_add_default_group(&fabric->nodes, &fabric->group);
	configfs_add_default_group(&fabric->links, &fabric->group);
	configfs_add_default_group(&fabric->trunks, &fabric->group);
	return &fabric->group;
}

static void fabric_drop(struct config_group *group, struct config_item *item)
{
	vib_capture_stop(&to_config_fabric(item)->fabric.captured);
	config_item_put(item);
}

static struct configfs_group_operations fabrics_ops = {
	.make_group = fabric_make,
	.drop_item = fabric_drop,
};

static const struct config_item_type fabrics_type = {
	.ct_group_ops = &fabrics_ops,
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem vib_subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf = "vib",
			.ci_type = &fabrics_type,
		},
	},
};

int vib_config_init(void)
{
	config_group_init(&vib_subsystem.su_group);
	mutex_init(&vib_subsystem.su_mutex);
	return configfs_register_subsystem(&vib_subsystem);
}

/* A fabric's folder holds a reference on the module: there is none. */
void vib_config_exit(void)
{
	configfs_unregister_subsystem(&vib_subsystem);
	mutex_destroy(&vib_subsystem.su_mutex);
}
