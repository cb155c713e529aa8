// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * nodes/NAME in configfs: attributes first, then "live".  What is live cannot be changed any
 * more; rmdir removes it like a machine that loses its power.
 */
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include "config/config.h"
#include "device/hca.h"
#include "switch/switch.h"

struct config_node {
	struct config_item item;
	struct mutex lock;		/* everything below */
	u8 type;
	struct vib_node_attr attr;
	char desc[IB_DEVICE_NODE_DESC_MAX];	/* empty: the name */
	struct vib_node *node;		/* once live */
};

static struct config_node *to_config_node(struct config_item *item)
{
	return container_of(item, struct config_node, item);
}

static struct vib_fabric *node_fabric(const struct config_node *cn)
{
	/* nodes/NAME, nodes, the fabric */
	struct config_group *nodes = to_config_group(cn->item.ci_parent);

	return &container_of(nodes, struct vib_config_fabric, nodes)->fabric;
}

/* A number in [@min, @max] into @value, unless the node is live. */
static ssize_t node_store(struct config_node *cn, const char *page, size_t len, u64 min,
			  u64 max, u64 *value)
{
	u64 number;
	int ret;

	ret = kstrtou64(page, 0, &number);
	if (ret)
		return ret;
	if (number < min || number > max)
		return -ERANGE;
	if (cn->node)
		return -EBUSY;
	*value = number;
	return len;
}

#define NODE_NUMBER(_name, _field, _min, _max, _format)				\
static ssize_t node_##_name##_show(struct config_item *item, char *page)	\
{										\
	struct config_node *cn = to_config_node(item);				\
										\
	guard(mutex)(&cn->lock);						\
	return sysfs_emit(page, _format "\n", (_field));			\
}										\
										\
static ssize_t node_##_name##_store(struct config_item *item, const char *page,	\
				    size_t len)					\
{										\
	struct config_node *cn = to_config_node(item);				\
	ssize_t ret;								\
	u64 value;								\
										\
	guard(mutex)(&cn->lock);						\
	ret = node_store(cn, page, len, _min, _max, &value);			\
	if (ret > 0)								\
		_field = value;							\
	return ret;								\
}										\
CONFIGFS_ATTR(node_, _name)

NODE_NUMBER(ports, cn->attr.num_ports, 1, VIB_MAX_PORTS, "%u");
NODE_NUMBER(pkeys, cn->attr.pkeys, 1, 256, "%u");
NODE_NUMBER(guids, cn->attr.guids, 1, 128, "%u");
NODE_NUMBER(data_vls, cn->attr.data_vls, 1, 15, "%u");

static ssize_t node_store_guid(struct config_node *cn, const char *page, size_t len,
			       __be64 *guid)
{
	ssize_t ret;
	u64 value;

	ret = node_store(cn, page, len, 1, U64_MAX, &value);
	if (ret > 0)
		*guid = cpu_to_be64(value);
	return ret;
}

static ssize_t node_guid_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	return sysfs_emit(page, "0x%016llx\n", be64_to_cpu(cn->attr.guid));
}

static ssize_t node_guid_store(struct config_item *item, const char *page, size_t len)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	return node_store_guid(cn, page, len, &cn->attr.guid);
}
CONFIGFS_ATTR(node_, guid);

/* The SystemImageGUID; a consumer may have changed that of a live adapter. */
static ssize_t node_sys_guid_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);
	__be64 guid;

	guard(mutex)(&cn->lock);
	guid = cn->node ? READ_ONCE(cn->node->sys_guid) : cn->attr.sys_guid;
	return sysfs_emit(page, "0x%016llx\n", be64_to_cpu(guid));
}

static ssize_t node_sys_guid_store(struct config_item *item, const char *page, size_t len)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	return node_store_guid(cn, page, len, &cn->attr.sys_guid);
}
CONFIGFS_ATTR(node_, sys_guid);

/* The NodeDescription; a live one's may have been changed (rdma-ndd). */
static ssize_t node_desc_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);
	char desc[IB_DEVICE_NODE_DESC_MAX];

	guard(mutex)(&cn->lock);
	if (!cn->node)
		return sysfs_emit(page, "%s\n", cn->desc[0] ? cn->desc : cn->attr.name);
	spin_lock_bh(&cn->node->desc_lock);
	memcpy(desc, cn->node->desc, sizeof(desc));
	spin_unlock_bh(&cn->node->desc_lock);
	return sysfs_emit(page, "%.*s\n", (int)sizeof(desc), desc);
}

static ssize_t node_desc_store(struct config_item *item, const char *page, size_t len)
{
	struct config_node *cn = to_config_node(item);
	size_t text = strcspn(page, "\n");

	guard(mutex)(&cn->lock);
	if (cn->node)
		return -EBUSY;
	if (text >= sizeof(cn->desc))
		return -ENAMETOOLONG;
	memcpy(cn->desc, page, text);
	cn->desc[text] = '\0';
	return len;
}
CONFIGFS_ATTR(node_, desc);

static ssize_t node_mtu_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	return sysfs_emit(page, "%d\n", ib_mtu_enum_to_int(cn->attr.mtu));
}

static ssize_t node_mtu_store(struct config_item *item, const char *page, size_t len)
{
	struct config_node *cn = to_config_node(item);
	ssize_t ret;
	u64 value;

	guard(mutex)(&cn->lock);
	ret = node_store(cn, page, len, 256, VIB_MAX_MTU, &value);
	if (ret > 0 && !is_power_of_2(value))
		return -EINVAL;
	if (ret > 0)
		cn->attr.mtu = ib_mtu_int_to_enum(value);
	return ret;
}
CONFIGFS_ATTR(node_, mtu);

static ssize_t node_type_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);

	return sysfs_emit(page, "%s\n", cn->type == RDMA_NODE_IB_SWITCH ? "switch" : "ca");
}

static ssize_t node_type_store(struct config_item *item, const char *page, size_t len)
{
	struct config_node *cn = to_config_node(item);
	u8 type;

	if (sysfs_streq(page, "switch"))
		type = RDMA_NODE_IB_SWITCH;
	else if (sysfs_streq(page, "ca"))
		type = RDMA_NODE_IB_CA;
	else
		return -EINVAL;
	guard(mutex)(&cn->lock);
	if (cn->node)
		return -EBUSY;
	cn->type = type;
	return len;
}
CONFIGFS_ATTR(node_, type);

/* A GUID of the node's own, from its name and the fabric's: the same at each boot. */
static __be64 node_default_guid(const struct config_node *cn)
{
	const char *fabric = config_item_name(cn->item.ci_parent->ci_parent);
	u64 hash;

	hash = (u64)full_name_hash(NULL, fabric, strlen(fabric)) << 32 |
	       full_name_hash(NULL, cn->attr.name, strlen(cn->attr.name));
	/*
	 * 0x06: an EUI-64 that is locally administered.  ULPs take GUIDs as service IDs (SRP), of
	 * which those that begin with 0x02 belong to the CM.  A CA's ports count from it.
	 */
	return cpu_to_be64(0x0600000000000000ULL | (hash & 0x00ffffffffffff00ULL));
}

static struct vib_node *node_create(struct config_node *cn)
{
	struct vib_switch *sw;
	struct vib_hca *hca;

	if (cn->type == RDMA_NODE_IB_SWITCH) {
		sw = vib_switch_create(&cn->attr);
		return IS_ERR(sw) ? ERR_CAST(sw) : &sw->node;
	}
	hca = vib_hca_create(&cn->attr);
	return IS_ERR(hca) ? ERR_CAST(hca) : &hca->node;
}

/* What the RDMA device of an adapter is called; of another node: nothing. */
static ssize_t node_device_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	if (!cn->node || cn->type != RDMA_NODE_IB_CA)
		return 0;
	return sysfs_emit(page, "%s\n",
			  dev_name(&container_of(cn->node, struct vib_hca, node)->ib.dev));
}
CONFIGFS_ATTR_RO(node_, device);

static ssize_t node_ports_state_read(struct config_item *item, void *buf, size_t size)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	if (!cn->node)
		return -ENODEV;
	return vib_config_ports_read(cn->node, buf, size);
}
CONFIGFS_BIN_ATTR_RO(node_, ports_state, NULL, 0);

static void node_destroy(struct config_node *cn)
{
	if (cn->type == RDMA_NODE_IB_SWITCH)
		vib_switch_destroy(to_vib_switch(cn->node));
	else
		vib_hca_destroy(container_of(cn->node, struct vib_hca, node));
	cn->node = NULL;
}

static void node_go_away(struct config_node *cn)
{
	if (cn->type == RDMA_NODE_IB_CA)
		vib_hca_unregister(container_of(cn->node, struct vib_hca, node));
	vib_node_remove(cn->node);
	cn->node = NULL;
}

static int node_go_live(struct config_node *cn)
{
	int ret;

	if (!cn->attr.guid)
		cn->attr.guid = node_default_guid(cn);
	cn->attr.desc = cn->desc[0] ? cn->desc : NULL;
	cn->node = node_create(cn);
	if (IS_ERR(cn->node)) {
		ret = PTR_ERR(cn->node);
		cn->node = NULL;
		return ret;
	}
	ret = vib_node_add(node_fabric(cn), cn->node);
	if (ret) {
		node_destroy(cn);
		return ret;
	}
	if (cn->type != RDMA_NODE_IB_CA)
		return 0;
	ret = vib_hca_register(container_of(cn->node, struct vib_hca, node));
	if (ret) {
		vib_node_remove(cn->node);
		cn->node = NULL;
	}
	return ret;
}

static ssize_t node_live_show(struct config_item *item, char *page)
{
	struct config_node *cn = to_config_node(item);

	guard(mutex)(&cn->lock);
	return sysfs_emit(page, "%d\n", !!cn->node);
}

static ssize_t node_live_store(struct config_item *item, const char *page, size_t len)
{
	struct config_node *cn = to_config_node(item);
	bool live;
	int ret;

	ret = kstrtobool(page, &live);
	if (ret)
		return ret;
	guard(mutex)(&cn->lock);
	if (live && !cn->node)
		ret = node_go_live(cn);
	else if (!live && cn->node)
		node_go_away(cn);
	return ret ?: len;
}
CONFIGFS_ATTR(node_, live);

static struct configfs_attribute *node_attrs[] = {
	&node_attr_type,
	&node_attr_ports,
	&node_attr_pkeys,
	&node_attr_guids,
	&node_attr_data_vls,
	&node_attr_guid,
	&node_attr_sys_guid,
	&node_attr_desc,
	&node_attr_mtu,
	&node_attr_live,
	&node_attr_device,
	NULL
};

static struct configfs_bin_attribute *node_bin_attrs[] = {
	&node_attr_ports_state,
	NULL
};

static void node_item_release(struct config_item *item)
{
	struct config_node *cn = to_config_node(item);

	kfree(cn->attr.name);
	mutex_destroy(&cn->lock);
	kfree(cn);
}

static struct configfs_item_operations node_item_ops = {
	.release = node_item_release,
};

static const struct config_item_type node_type = {
	.ct_item_ops = &node_item_ops,
	.ct_attrs = node_attrs,
	.ct_bin_attrs = node_bin_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *node_make(struct config_group *group, const char *name)
{
	struct config_node *cn = kzalloc(sizeof(*cn), GFP_KERNEL);

	if (!cn)
		return ERR_PTR(-ENOMEM);
	cn->attr.name = kstrdup(name, GFP_KERNEL);
	if (!cn->attr.name) {
		kfree(cn);
		return ERR_PTR(-ENOMEM);
	}
	config_item_init_type_name(&cn->item, name, &node_type);
	if (!vib_config_named(&cn->item)) {
		kfree(cn->attr.name);
		kfree(cn);
		return ERR_PTR(-ENOMEM);
	}
	mutex_init(&cn->lock);
	cn->type = RDMA_NODE_IB_CA;
	cn->attr.num_ports = 1;
	cn->attr.pkeys = 32;
	cn->attr.guids = 8;
	cn->attr.data_vls = 4;
	cn->attr.mtu = IB_MTU_4096;
	return &cn->item;
}

/* rmdir: as if the machine had lost its power. */
static void node_drop(struct config_group *group, struct config_item *item)
{
	struct config_node *cn = to_config_node(item);

	mutex_lock(&cn->lock);
	if (cn->node)
		node_go_away(cn);
	mutex_unlock(&cn->lock);
	config_item_put(item);
}

static struct configfs_group_operations nodes_ops = {
	.make_item = node_make,
	.drop_item = node_drop,
};

const struct config_item_type vib_config_nodes_type = {
	.ct_group_ops = &nodes_ops,
	.ct_owner = THIS_MODULE,
};
