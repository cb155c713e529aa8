// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * links/NAME in configfs: two ends, written as "sw0:3", then "live".  Writing 1 to "cut" is
 * pulling the cable.  "drop", "dup" and "corrupt" are so many packets in a million, "delay" is
 * in microseconds, "match" the class and the attribute of the MADs that rates are for; they may
 * be set at any time.
 */
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include "config/config.h"

struct config_link {
	struct config_item item;
	struct mutex lock;		/* everything below */
	char *end[2];
	struct vib_link link;
};

static struct config_link *to_config_link(struct config_item *item)
{
	return container_of(item, struct config_link, item);
}

static struct vib_fabric *link_fabric(const struct config_link *cl)
{
	struct config_group *links = to_config_group(cl->item.ci_parent);

	return &container_of(links, struct vib_config_fabric, links)->fabric;
}

static ssize_t link_end_show(struct config_item *item, char *page, unsigned int end)
{
	struct config_link *cl = to_config_link(item);

	guard(mutex)(&cl->lock);
	return sysfs_emit(page, "%s\n", cl->end[end] ?: "");
}

static ssize_t link_end_store(struct config_item *item, const char *page, size_t len,
			      unsigned int end)
{
	struct config_link *cl = to_config_link(item);
	char *text, *old;

	guard(mutex)(&cl->lock);
	if (vib_link_is_plugged(&cl->link))
		return -EBUSY;
	text = kstrndup(skip_spaces(page), len, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	strim(text);
	old = cl->end[end];
	cl->end[end] = text;
	kfree(old);
	return len;
}

#define LINK_END(_name, _end)							\
static ssize_t link_##_name##_show(struct config_item *item, char *page)	\
{										\
	return link_end_show(item, page, _end);					\
}										\
										\
static ssize_t link_##_name##_store(struct config_item *item, const char *page,	\
				    size_t len)					\
{										\
	return link_end_store(item, page, len, _end);				\
}										\
CONFIGFS_ATTR(link_, _name)

LINK_END(a, 0);
LINK_END(b, 1);

static int link_go_live(struct config_link *cl)
{
	struct vib_fabric *fabric = link_fabric(cl);
	struct vib_port *a, *b;
	int ret;

	mutex_lock(&fabric->lock);
	a = vib_config_port(fabric, cl->end[0]);
	b = vib_config_port(fabric, cl->end[1]);
	ret = PTR_ERR_OR_ZERO(a) ?: PTR_ERR_OR_ZERO(b) ?: vib_link_plug(&cl->link, a, b);
	mutex_unlock(&fabric->lock);
	return ret;
}

static ssize_t link_live_show(struct config_item *item, char *page)
{
	struct config_link *cl = to_config_link(item);

	guard(mutex)(&cl->lock);
	return sysfs_emit(page, "%d\n", vib_link_is_plugged(&cl->link));
}

static ssize_t link_live_store(struct config_item *item, const char *page, size_t len)
{
	struct config_link *cl = to_config_link(item);
	bool live;
	int ret;

	ret = kstrtobool(page, &live);
	if (ret)
		return ret;
	guard(mutex)(&cl->lock);
	if (!live)
		vib_link_unplug(&cl->link);
	else if (!vib_link_is_plugged(&cl->link))
		ret = link_go_live(cl);
	return ret ?: len;
}
CONFIGFS_ATTR(link_, live);

static ssize_t link_cut_show(struct config_item *item, char *page)
{
	struct config_link *cl = to_config_link(item);

	return sysfs_emit(page, "%d\n", READ_ONCE(cl->link.cut));
}

static ssize_t link_cut_store(struct config_item *item, const char *page, size_t len)
{
	struct config_link *cl = to_config_link(item);
	bool cut;
	int ret;

	ret = kstrtobool(page, &cut);
	if (ret)
		return ret;
	guard(mutex)(&cl->lock);
	vib_link_cut(&cl->link, cut);
	return len;
}
CONFIGFS_ATTR(link_, cut);

/* ---- faults ---- */

/* A rate, and how many packets it has struck. */
#define LINK_RATE(_name, _struck, _kind)					\
static ssize_t link_##_name##_show(struct config_item *item, char *page)	\
{										\
	const struct vib_fault *fault = &to_config_link(item)->link.fault;	\
	u32 rate = READ_ONCE(fault->rate[VIB_FAULT_##_kind]);			\
										\
	return sysfs_emit(page, "%u\n", rate);					\
}										\
										\
static ssize_t link_##_name##_store(struct config_item *item, const char *page,	\
				    size_t len)					\
{										\
	unsigned int rate;							\
	int ret;								\
										\
	ret = kstrtouint(page, 10, &rate) ?:					\
	      vib_fault_set_rate(&to_config_link(item)->link.fault,		\
				 VIB_FAULT_##_kind, rate);			\
	return ret ?: len;							\
}										\
CONFIGFS_ATTR(link_, _name);							\
										\
static ssize_t link_##_struck##_show(struct config_item *item, char *page)	\
{										\
	struct vib_fault *fault = &to_config_link(item)->link.fault;		\
										\
	return sysfs_emit(page, "%llu\n",					\
			  vib_fault_struck(fault, VIB_FAULT_##_kind));		\
}										\
CONFIGFS_ATTR_RO(link_, _struck)

LINK_RATE(drop, dropped, DROP);
LINK_RATE(dup, duplicated, DUP);
LINK_RATE(corrupt, corrupted, CORRUPT);

static ssize_t link_delay_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_config_link(item)->link.fault.delay));
}

static ssize_t link_delay_store(struct config_item *item, const char *page, size_t len)
{
	unsigned int us;
	int ret;

	ret = kstrtouint(page, 10, &us) ?:
	      vib_fault_set_delay(&to_config_link(item)->link.fault, us);
	return ret ?: len;
}
CONFIGFS_ATTR(link_, delay);

static ssize_t link_match_show(struct config_item *item, char *page)
{
	u32 match = READ_ONCE(to_config_link(item)->link.fault.match);

	return sysfs_emit(page, "0x%06x\n", match);
}

static ssize_t link_match_store(struct config_item *item, const char *page, size_t len)
{
	unsigned int match;
	int ret;

	ret = kstrtouint(page, 0, &match) ?:
	      vib_fault_set_match(&to_config_link(item)->link.fault, match);
	return ret ?: len;
}
CONFIGFS_ATTR(link_, match);

static ssize_t link_seed_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", READ_ONCE(to_config_link(item)->link.fault.seed));
}

static ssize_t link_seed_store(struct config_item *item, const char *page, size_t len)
{
	u64 seed;
	int ret;

	ret = kstrtou64(page, 0, &seed);
	if (ret)
		return ret;
	vib_fault_set_seed(&to_config_link(item)->link.fault, seed);
	return len;
}
CONFIGFS_ATTR(link_, seed);

/* 1: shows the link's packets by a network device, whose name it is to read. */
static ssize_t link_capture_show(struct config_item *item, char *page)
{
	return vib_capture_show(&to_config_link(item)->link.captured, page);
}

static ssize_t link_capture_store(struct config_item *item, const char *page, size_t len)
{
	return vib_config_capture(&to_config_link(item)->link.captured, page, len);
}
CONFIGFS_ATTR(link_, capture);

static struct configfs_attribute *link_attrs[] = {
	&link_attr_a,
	&link_attr_b,
	&link_attr_live,
	&link_attr_cut,
	&link_attr_drop,
	&link_attr_dup,
	&link_attr_corrupt,
	&link_attr_delay,
	&link_attr_match,
	&link_attr_seed,
	&link_attr_dropped,
	&link_attr_duplicated,
	&link_attr_corrupted,
	&link_attr_capture,
	NULL
};

static void link_item_release(struct config_item *item)
{
	struct config_link *cl = to_config_link(item);

	kfree(cl->end[0]);
	kfree(cl->end[1]);
	mutex_destroy(&cl->lock);
	kfree(cl);
}

static struct configfs_item_operations link_item_ops = {
	.release = link_item_release,
};

static const struct config_item_type link_type = {
	.ct_item_ops = &link_item_ops,
	.ct_attrs = link_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_item *link_make(struct config_group *group, const char *name)
{
	struct config_link *cl = kzalloc(sizeof(*cl), GFP_KERNEL);

	if (!cl)
		return ERR_PTR(-ENOMEM);
	config_item_init_type_name(&cl->item, name, &link_type);
	if (!vib_config_named(&cl->item)) {
		kfree(cl);
		return ERR_PTR(-ENOMEM);
	}
	mutex_init(&cl->lock);
	vib_link_init(&cl->link,
		      &container_of(group, struct vib_config_fabric, links)->fabric);
	return &cl->item;
}

static void link_drop(struct config_group *group, struct config_item *item)
{
	struct config_link *cl = to_config_link(item);

	mutex_lock(&cl->lock);
	vib_link_unplug(&cl->link);
	mutex_unlock(&cl->lock);
	vib_capture_stop(&cl->link.captured);
	config_item_put(item);
}

static struct configfs_group_operations links_ops = {
	.make_item = link_make,
	.drop_item = link_drop,
};

const struct config_item_type vib_config_links_type = {
	.ct_group_ops = &links_ops,
	.ct_owner = THIS_MODULE,
};
