// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * trunks/NAME in configfs: "port" of a node, such as "sw0:3", the "local" and the "peer"
 * address, then "live".  The socket is of the network namespace of who writes "live", which
 * stays as long as the trunk is live.
 */
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include "config/config.h"
#include "trunk/trunk.h"

#define DEFAULT_INTERVAL	200	/* ms */

enum trunk_text {
	TRUNK_PORT,
	TRUNK_LOCAL,
	TRUNK_PEER,
	TRUNK_TEXTS
};

struct config_trunk {
	struct config_item item;
	struct mutex lock;		/* everything below */
	char *text[TRUNK_TEXTS];
	u16 interval;
	struct vib_trunk *trunk;	/* once live */
};

static struct config_trunk *to_config_trunk(struct config_item *item)
{
	return container_of(item, struct config_trunk, item);
}

static struct vib_fabric *trunk_fabric(const struct config_trunk *ct)
{
	struct config_group *trunks = to_config_group(ct->item.ci_parent);

	return &container_of(trunks, struct vib_config_fabric, trunks)->fabric;
}

/* ---- addresses ---- */

/* Splits @text, which is changed, into host and port; of more than one colon none is a port's. */
static void split_address(char *text, char **host, char **port)
{
	char *colon, *end;

	*host = text;
	*port = NULL;
	if (*text == '[') {
		*host = text + 1;
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':')) {
			*host = NULL;
			return;
		}
		*end = '\0';
		*port = end[1] ? end + 2 : NULL;
		return;
	}
	colon = strchr(text, ':');
	if (colon && !strchr(colon + 1, ':')) {
		*colon = '\0';
		*port = colon + 1;
	}
}

int vib_config_address(struct net *net, const char *text, struct sockaddr_storage *address)
{
	char *copy, *host, *port, number[8];
	int ret = -EINVAL;
	u16 value;

	if (!text)
		return -EINVAL;
	copy = kstrdup(text, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	scnprintf(number, sizeof(number), "%u", VIB_TRUNK_PORT);
	split_address(copy, &host, &port);
	if (host && (!port || (!kstrtou16(port, 10, &value) && value)))
		ret = inet_pton_with_scope(net, AF_UNSPEC, host, port ?: number, address);
	kfree(copy);
	return ret ? -EINVAL : 0;
}

/* ---- texts ---- */

static ssize_t trunk_text_show(struct config_item *item, char *page, enum trunk_text which)
{
	struct config_trunk *ct = to_config_trunk(item);

	guard(mutex)(&ct->lock);
	return sysfs_emit(page, "%s\n", ct->text[which] ?: "");
}

static ssize_t trunk_text_store(struct config_item *item, const char *page, size_t len,
				enum trunk_text which)
{
	struct config_trunk *ct = to_config_trunk(item);
	struct sockaddr_storage address;
	char *text;
	int ret = 0;

	guard(mutex)(&ct->lock);
	if (ct->trunk)
		return -EBUSY;
	text = kstrndup(skip_spaces(page), len, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	strim(text);
	if (which != TRUNK_PORT)
		ret = vib_config_address(current->nsproxy->net_ns, text, &address);
	if (ret) {
		kfree(text);
		return ret;
	}
	kfree(ct->text[which]);
	ct->text[which] = text;
	return len;
}

#define TRUNK_TEXT(_name, _which)						\
static ssize_t trunk_##_name##_show(struct config_item *item, char *page)	\
{										\
	return trunk_text_show(item, page, _which);				\
}										\
										\
static ssize_t trunk_##_name##_store(struct config_item *item,			\
				     const char *page, size_t len)		\
{										\
	return trunk_text_store(item, page, len, _which);			\
}										\
CONFIGFS_ATTR(trunk_, _name)

TRUNK_TEXT(port, TRUNK_PORT);
TRUNK_TEXT(local, TRUNK_LOCAL);
TRUNK_TEXT(peer, TRUNK_PEER);

static ssize_t trunk_interval_show(struct config_item *item, char *page)
{
	struct config_trunk *ct = to_config_trunk(item);

	guard(mutex)(&ct->lock);
	return sysfs_emit(page, "%u\n", ct->interval);
}

static ssize_t trunk_interval_store(struct config_item *item, const char *page, size_t len)
{
	struct config_trunk *ct = to_config_trunk(item);
	u16 value;
	int ret;

	ret = kstrtou16(page, 10, &value);
	if (ret)
		return ret;
	if (value < VIB_TRUNK_MIN_INTERVAL || value > VIB_TRUNK_MAX_INTERVAL)
		return -ERANGE;
	guard(mutex)(&ct->lock);
	if (ct->trunk)
		return -EBUSY;
	ct->interval = value;
	return len;
}
CONFIGFS_ATTR(trunk_, interval);

/* ---- live ---- */

static void trunk_go_away(struct config_trunk *ct)
{
	if (ct->trunk)
		vib_trunk_close(ct->trunk);
	ct->trunk = NULL;
}

static int trunk_go_live(struct config_trunk *ct)
{
	struct vib_trunk_attr attr = {
		.net = current->nsproxy->net_ns,
		.interval = ct->interval,
	};
	struct vib_fabric *fabric = trunk_fabric(ct);
	struct vib_trunk *trunk;
	struct vib_port *port;
	int ret;

	ret = vib_config_address(attr.net, ct->text[TRUNK_LOCAL], &attr.local) ?:
	      vib_config_address(attr.net, ct->text[TRUNK_PEER], &attr.peer);
	if (ret)
		return ret;
	trunk = vib_trunk_open(fabric, &attr);
	if (IS_ERR(trunk))
		return PTR_ERR(trunk);
	mutex_lock(&fabric->lock);
	port = vib_config_port(fabric, ct->text[TRUNK_PORT]);
	ret = PTR_ERR_OR_ZERO(port) ?: vib_trunk_plug(trunk, port);
	mutex_unlock(&fabric->lock);
	if (ret)
		vib_trunk_close(trunk);
	else
		ct->trunk = trunk;
	return ret;
}

/* A node that was removed has taken the trunk's link with it. */
static bool trunk_is_live(struct config_trunk *ct)
{
	return ct->trunk && vib_link_is_plugged(&ct->trunk->link);
}

static ssize_t trunk_live_show(struct config_item *item, char *page)
{
	struct config_trunk *ct = to_config_trunk(item);

	guard(mutex)(&ct->lock);
	return sysfs_emit(page, "%d\n", trunk_is_live(ct));
}

static ssize_t trunk_live_store(struct config_item *item, const char *page, size_t len)
{
	struct config_trunk *ct = to_config_trunk(item);
	bool live;
	int ret;

	ret = kstrtobool(page, &live);
	if (ret)
		return ret;
	guard(mutex)(&ct->lock);
	if (live && trunk_is_live(ct))
		return len;
	trunk_go_away(ct);
	if (live)
		ret = trunk_go_live(ct);
	return ret ?: len;
}
CONFIGFS_ATTR(trunk_, live);

static ssize_t trunk_cut_show(struct config_item *item, char *page)
{
	struct config_trunk *ct = to_config_trunk(item);

	guard(mutex)(&ct->lock);
	return sysfs_emit(page, "%d\n", ct->trunk && READ_ONCE(ct->trunk->link.cut));
}

static ssize_t trunk_cut_store(struct config_item *item, const char *page, size_t len)
{
	struct config_trunk *ct = to_config_trunk(item);
	bool cut;
	int ret;

	ret = kstrtobool(page, &cut);
	if (ret)
		return ret;
	guard(mutex)(&ct->lock);
	if (!ct->trunk)
		return -ENODEV;
	vib_link_cut(&ct->trunk->link, cut);
	return len;
}
CONFIGFS_ATTR(trunk_, cut);

/* ---- what it is doing ---- */

static ssize_t trunk_state_show(struct config_item *item, char *page)
{
	static const char * const names[] = {
		[VIB_TRUNK_POLLING] = "Polling",
		[VIB_TRUNK_HEARD] = "Heard",
		[VIB_TRUNK_UP] = "Up",
	};
	struct config_trunk *ct = to_config_trunk(item);

	guard(mutex)(&ct->lock);
	return sysfs_emit(page, "%s\n",
			  ct->trunk ? names[READ_ONCE(ct->trunk->session.state)] : "-");
}
CONFIGFS_ATTR_RO(trunk_, state);

/* The GUID and the port of the node at the other end, as it last said; nothing before. */
static ssize_t trunk_far_show(struct config_item *item, char *page)
{
	struct config_trunk *ct = to_config_trunk(item);
	struct vib_trunk_params far;

	guard(mutex)(&ct->lock);
	if (!ct->trunk)
		return 0;
	spin_lock_bh(&ct->trunk->lock);
	far = ct->trunk->far;
	spin_unlock_bh(&ct->trunk->lock);
	return far.guid ? sysfs_emit(page, "0x%016llx %u\n", far.guid, far.port) : 0;
}
CONFIGFS_ATTR_RO(trunk_, far);

static const char * const counter_names[] = {
	[VIB_TRUNK_SENT] = "sent",
	[VIB_TRUNK_RECEIVED] = "received",
	[VIB_TRUNK_SEND_ERRORS] = "send_errors",
	[VIB_TRUNK_LOST] = "lost",
	[VIB_TRUNK_LATE] = "late",
	[VIB_TRUNK_DUPLICATES] = "duplicates",
	[VIB_TRUNK_FOREIGN] = "foreign",
	[VIB_TRUNK_MALFORMED] = "malformed",
	[VIB_TRUNK_STRAY] = "stray",
	[VIB_TRUNK_OVERRUNS] = "overruns",
	[VIB_TRUNK_NO_MEMORY] = "no_memory",
	[VIB_TRUNK_WAITS] = "waits",
	[VIB_TRUNK_DOWNS] = "downs",
};

/* A name and a number in each line. */
static ssize_t trunk_counters_show(struct config_item *item, char *page)
{
	struct config_trunk *ct = to_config_trunk(item);
	u64 count[VIB_TRUNK_COUNTERS] = {};
	unsigned int i;
	int at = 0;

	BUILD_BUG_ON(ARRAY_SIZE(counter_names) != VIB_TRUNK_COUNTERS);
	guard(mutex)(&ct->lock);
	if (ct->trunk) {
		spin_lock_bh(&ct->trunk->lock);
		memcpy(count, ct->trunk->count, sizeof(count));
		spin_unlock_bh(&ct->trunk->lock);
	}
	for (i = 0; i < VIB_TRUNK_COUNTERS; i++)
		at += sysfs_emit_at(page, at, "%s %llu\n", counter_names[i], count[i]);
	return at;
}
CONFIGFS_ATTR_RO(trunk_, counters);

static struct configfs_attribute *trunk_attrs[] = {
	&trunk_attr_port,
	&trunk_attr_local,
	&trunk_attr_peer,
	&trunk_attr_interval,
	&trunk_attr_live,
	&trunk_attr_cut,
	&trunk_attr_state,
	&trunk_attr_far,
	&trunk_attr_counters,
	NULL
};

static void trunk_item_release(struct config_item *item)
{
	struct config_trunk *ct = to_config_trunk(item);
	unsigned int i;

	for (i = 0; i < TRUNK_TEXTS; i++)
		kfree(ct->text[i]);
	mutex_destroy(&ct->lock);
	kfree(ct);
}

static struct configfs_item_operations trunk_item_ops = {
	.release = trunk_item_release,
};

static const struct config_item_type trunk_type = {
	.ct_item_ops = &trunk_item_ops,
	.ct_attrs = trunk_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *trunk_make(struct config_group *group, const char *name)
{
	struct config_trunk *ct = kzalloc(sizeof(*ct), GFP_KERNEL);

	if (!ct)
		return ERR_PTR(-ENOMEM);
	mutex_init(&ct->lock);
	ct->interval = DEFAULT_INTERVAL;
	config_item_init_type_name(&ct->item, name, &trunk_type);
	return &ct->item;
}

static void trunk_drop(struct config_group *group, struct config_item *item)
{
	struct config_trunk *ct = to_config_trunk(item);

	mutex_lock(&ct->lock);
	trunk_go_away(ct);
	mutex_unlock(&ct->lock);
	config_item_put(item);
}

static struct configfs_group_operations trunks_ops = {
	.make_item = trunk_make,
	.drop_item = trunk_drop,
};

const struct config_item_type vib_config_trunks_type = {
	.ct_group_ops = &trunks_ops,
	.ct_owner = THIS_MODULE,
};
