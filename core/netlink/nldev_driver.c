// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * RDMA netlink: attributes that drivers add to a resource.  In the nest
 * RDMA_NLDEV_ATTR_DRIVER each of them consists of a name, a hint how to print
 * the value unless in decimal, and the value.
 */
#include <net/netlink.h>

#include "netlink/nldev.h"

static int put_name(struct sk_buff *msg, const char *name,
		    enum rdma_nldev_print_type print)
{
	if (nla_put_string(msg, RDMA_NLDEV_ATTR_DRIVER_STRING, name))
		return -EMSGSIZE;
	if (print != RDMA_NLDEV_PRINT_TYPE_UNSPEC &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_DRIVER_PRINT_TYPE, print))
		return -EMSGSIZE;
	return 0;
}

static int put_u32(struct sk_buff *msg, const char *name,
		   enum rdma_nldev_print_type print, u32 value)
{
	return put_name(msg, name, print) ?:
	       nla_put_u32(msg, RDMA_NLDEV_ATTR_DRIVER_U32, value);
}

static int put_u64(struct sk_buff *msg, const char *name,
		   enum rdma_nldev_print_type print, u64 value)
{
	return put_name(msg, name, print) ?:
	       ibcore_nldev_put_u64(msg, RDMA_NLDEV_ATTR_DRIVER_U64, value);
}

/**
 * rdma_nl_put_driver_string() - add a string to a resource's description
 * @msg: message within RDMA_NLDEV_ATTR_DRIVER
 * @name: name of the value
 * @str: the string
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @msg is full.
 */
int rdma_nl_put_driver_string(struct sk_buff *msg, const char *name,
			      const char *str)
{
	return put_name(msg, name, RDMA_NLDEV_PRINT_TYPE_UNSPEC) ?:
	       nla_put_string(msg, RDMA_NLDEV_ATTR_DRIVER_STRING, str);
}
EXPORT_SYMBOL(rdma_nl_put_driver_string);

/**
 * rdma_nl_put_driver_u32() - add a number to a resource's description
 * @msg: message within RDMA_NLDEV_ATTR_DRIVER
 * @name: name of the value
 * @value: the number, printed in decimal
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @msg is full.
 */
int rdma_nl_put_driver_u32(struct sk_buff *msg, const char *name, u32 value)
{
	return put_u32(msg, name, RDMA_NLDEV_PRINT_TYPE_UNSPEC, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u32);

/**
 * rdma_nl_put_driver_u32_hex() - add a number to a resource's description
 * @msg: message within RDMA_NLDEV_ATTR_DRIVER
 * @name: name of the value
 * @value: the number, printed in hexadecimal
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @msg is full.
 */
int rdma_nl_put_driver_u32_hex(struct sk_buff *msg, const char *name, u32 value)
{
	return put_u32(msg, name, RDMA_NLDEV_PRINT_TYPE_HEX, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u32_hex);

/**
 * rdma_nl_put_driver_u64() - add a number to a resource's description
 * @msg: message within RDMA_NLDEV_ATTR_DRIVER
 * @name: name of the value
 * @value: the number, printed in decimal
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @msg is full.
 */
int rdma_nl_put_driver_u64(struct sk_buff *msg, const char *name, u64 value)
{
	return put_u64(msg, name, RDMA_NLDEV_PRINT_TYPE_UNSPEC, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u64);

/**
 * rdma_nl_put_driver_u64_hex() - add a number to a resource's description
 * @msg: message within RDMA_NLDEV_ATTR_DRIVER
 * @name: name of the value
 * @value: the number, printed in hexadecimal
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @msg is full.
 */
int rdma_nl_put_driver_u64_hex(struct sk_buff *msg, const char *name, u64 value)
{
	return put_u64(msg, name, RDMA_NLDEV_PRINT_TYPE_HEX, value);
}
EXPORT_SYMBOL(rdma_nl_put_driver_u64_hex);

/**
 * rdma_nl_stat_hwcounter_entry() - add a counter to a resource's statistics
 * @msg: message within RDMA_NLDEV_ATTR_STAT_HWCOUNTERS
 * @name: name of the counter
 * @value: value of the counter
 *
 * Context: any.
 * Return: 0, or -EMSGSIZE if @msg is full, in which case the entry is not
 * added.
 */
int rdma_nl_stat_hwcounter_entry(struct sk_buff *msg, const char *name,
				 u64 value)
{
	struct nlattr *nest;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	if (!nest)
		return -EMSGSIZE;

	if (nla_put_string(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME,
			   name) ||
	    ibcore_nldev_put_u64(msg,
				 RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE,
				 value)) {
		nla_nest_cancel(msg, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}
EXPORT_SYMBOL(rdma_nl_stat_hwcounter_entry);
