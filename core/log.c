// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Log lines of an RDMA device.  They name the driver and its own device (the
 * parent, which the administrator knows from lspci) before the RDMA device.
 * The RDMA device is named by dev->name, because a rename frees the string of
 * dev_name().  During a rename the line may have parts of both names.  A line
 * may be logged in any context.
 */
#include <linux/device.h>
#include <linux/kern_levels.h>
#include <linux/module.h>
#include "core.h"

static const char *log_name(const struct ib_device *dev)
{
	if (!dev)
		return "(NULL ib_device)";
	return dev->name[0] ? dev->name : "(unnamed)";
}

static void log_line(const char *level, const struct ib_device *dev,
		     struct va_format *vaf)
{
	const struct device *parent = dev ? dev->dev.parent : NULL;

	if (parent)
		dev_printk_emit(level[1] - '0', parent, "%s %s %s: %pV",
				dev_driver_string(parent), dev_name(parent),
				log_name(dev), vaf);
	else
		_printk("%s%s: %pV", level, log_name(dev), vaf);
}

/**
 * ibdev_printk - Log a line for a device
 * @level: KERN_EMERG to KERN_DEBUG
 * @ibdev: the device, or NULL
 * @format: as printk()
 *
 * ibdev_emerg() to ibdev_info() are the same with the level in their name.
 *
 * Context: any.
 */
void ibdev_printk(const char *level, const struct ib_device *ibdev,
		  const char *format, ...)
{
	struct va_format vaf = { .fmt = format };
	va_list args;

	va_start(args, format);
	vaf.va = &args;
	log_line(level, ibdev, &vaf);
	va_end(args);
}
EXPORT_SYMBOL(ibdev_printk);

#define IBDEV_LOG(name, level)						\
void name(const struct ib_device *ibdev, const char *format, ...)	\
{									\
	struct va_format vaf = { .fmt = format };			\
	va_list args;							\
									\
	va_start(args, format);						\
	vaf.va = &args;							\
	log_line(level, ibdev, &vaf);					\
	va_end(args);							\
}

IBDEV_LOG(ibdev_emerg, KERN_EMERG)
EXPORT_SYMBOL(ibdev_emerg);

IBDEV_LOG(ibdev_alert, KERN_ALERT)
EXPORT_SYMBOL(ibdev_alert);

IBDEV_LOG(ibdev_crit, KERN_CRIT)
EXPORT_SYMBOL(ibdev_crit);

IBDEV_LOG(ibdev_err, KERN_ERR)
EXPORT_SYMBOL(ibdev_err);

IBDEV_LOG(ibdev_warn, KERN_WARNING)
EXPORT_SYMBOL(ibdev_warn);

IBDEV_LOG(ibdev_notice, KERN_NOTICE)
EXPORT_SYMBOL(ibdev_notice);

IBDEV_LOG(ibdev_info, KERN_INFO)
EXPORT_SYMBOL(ibdev_info);
