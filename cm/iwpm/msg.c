// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages to and from the port mapper daemon: <rdma/rdma_netlink.h>,
 * versions 3 and 4.  Version 4 added the flags of a mapping.
 */
#include <linux/jhash.h>
#include <net/netlink.h>
#include <rdma/iw_portmap.h>
#include <ibex/device.h>

#include "iwpm.h"

/* The name of the protocol, which both sides send. */
#define IWPM_LIB_NAME	"iWarpPortMapperUser"

bool iwpm_addr_get(struct iwpm_addr *addr, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;

	memset(addr, 0, sizeof(*addr));
	addr->family = ss->ss_family;
	switch (ss->ss_family) {
	case AF_INET:
		addr->port = in->sin_port;
		addr->ip.s6_addr32[0] = in->sin_addr.s_addr;
		break;
	case AF_INET6:
		addr->port = in6->sin6_port;
		addr->ip = in6->sin6_addr;
		addr->scope = in6->sin6_scope_id;
		break;
	}
	return addr->port;
}

void iwpm_addr_set(const struct iwpm_addr *addr, struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;
	struct sockaddr_in *in = (struct sockaddr_in *)ss;

	ss->ss_family = addr->family;
	if (addr->family == AF_INET) {
		in->sin_port = addr->port;
		in->sin_addr.s_addr = addr->ip.s6_addr32[0];
	} else {
		in6->sin6_port = addr->port;
		in6->sin6_addr = addr->ip;
	}
}

u32 iwpm_addr_hash(const struct iwpm_addr *addr)
{
	return jhash(addr, IWPM_ADDR_KEY, 0);
}

/* ---- to the daemon ---- */

/* Allocates room for the largest message, RDMA_NL_IWPM_QUERY_MAPPING. */
static struct sk_buff *iwpm_msg_new(u8 op, u32 seq)
{
	struct sk_buff *skb;
	struct nlmsghdr *nlh;

	skb = nlmsg_new(2 * nla_total_size(sizeof(u32)) +
			2 * nla_total_size(sizeof(struct sockaddr_storage)),
			GFP_KERNEL);
	if (skb)
		ibnl_put_msg(skb, &nlh, seq, 0, RDMA_NL_IWCM, op, NLM_F_REQUEST);
	return skb;
}

static void iwpm_put(struct sk_buff *skb, int type, int len, const void *data)
{
	WARN_ON_ONCE(nla_put(skb, type, len, data));
	nlmsg_end(skb, nlmsg_hdr(skb));
}

static void iwpm_put_u32(struct sk_buff *skb, int type, u32 value)
{
	iwpm_put(skb, type, sizeof(value), &value);
}

static void iwpm_put_addr(struct sk_buff *skb, int type,
			  const struct iwpm_addr *addr)
{
	struct sockaddr_storage ss = {};

	iwpm_addr_set(addr, &ss);
	if (addr->family == AF_INET6)
		((struct sockaddr_in6 *)&ss)->sin6_scope_id = addr->scope;
	iwpm_put(skb, type, sizeof(ss), &ss);
}

/* The daemon always copies the maximum length of a name, so pad it to @size. */
static void iwpm_put_name(struct sk_buff *skb, int type, const char *name,
			  int size)
{
	char padded[IWPM_DEVNAME_SIZE];

	strscpy_pad(padded, name, size);
	iwpm_put(skb, type, size, padded);
}

struct sk_buff *iwpm_msg_register(u32 seq, const struct ib_device *device)
{
	struct sk_buff *skb = iwpm_msg_new(RDMA_NL_IWPM_REG_PID, seq);
	char name[IB_DEVICE_NAME_MAX];

	if (!skb)
		return NULL;
	ibcore_device_name(device, name);
	iwpm_put_u32(skb, IWPM_NLA_REG_PID_SEQ, seq);
	iwpm_put_name(skb, IWPM_NLA_REG_IF_NAME, device->iw_ifname,
		      IWPM_IFNAME_SIZE);
	iwpm_put_name(skb, IWPM_NLA_REG_IBDEV_NAME, name, IWPM_DEVNAME_SIZE);
	iwpm_put_name(skb, IWPM_NLA_REG_ULIB_NAME, IWPM_LIB_NAME,
		      IWPM_ULIBNAME_SIZE);
	return skb;
}

struct sk_buff *iwpm_msg_hello(u16 version)
{
	struct sk_buff *skb = iwpm_msg_new(RDMA_NL_IWPM_HELLO, 0);

	if (skb)
		iwpm_put(skb, IWPM_NLA_HELLO_ABI_VERSION, sizeof(version),
			 &version);
	return skb;
}

/* @op: RDMA_NL_IWPM_ADD_MAPPING or _QUERY_MAPPING */
struct sk_buff *iwpm_msg_ask(u8 op, u32 seq, const struct iwpm_map *map,
			     u32 flags, u16 version)
{
	bool query = op == RDMA_NL_IWPM_QUERY_MAPPING;
	struct sk_buff *skb = iwpm_msg_new(op, seq);

	if (!skb)
		return NULL;
	BUILD_BUG_ON((int)IWPM_NLA_QUERY_MAPPING_SEQ != (int)IWPM_NLA_MANAGE_MAPPING_SEQ);
	BUILD_BUG_ON((int)IWPM_NLA_QUERY_LOCAL_ADDR != (int)IWPM_NLA_MANAGE_ADDR);
	iwpm_put_u32(skb, IWPM_NLA_MANAGE_MAPPING_SEQ, seq);
	iwpm_put_addr(skb, IWPM_NLA_MANAGE_ADDR, &map->local);
	if (query)
		iwpm_put_addr(skb, IWPM_NLA_QUERY_REMOTE_ADDR, &map->remote);
	if (version > IWPM_UABI_VERSION_MIN)
		iwpm_put_u32(skb, query ? (int)IWPM_NLA_QUERY_FLAGS :
					  (int)IWPM_NLA_MANAGE_FLAGS, flags);
	return skb;
}

struct sk_buff *iwpm_msg_remove(const struct iwpm_addr *local)
{
	struct sk_buff *skb = iwpm_msg_new(RDMA_NL_IWPM_REMOVE_MAPPING, 0);

	if (!skb)
		return NULL;
	iwpm_put_u32(skb, IWPM_NLA_MANAGE_MAPPING_SEQ, 0);
	iwpm_put_addr(skb, IWPM_NLA_MANAGE_ADDR, local);
	return skb;
}

struct sk_buff *iwpm_msg_mapinfo(const struct iwpm_addr *local,
				 const struct iwpm_addr *mapped, u32 flags,
				 u16 version)
{
	struct sk_buff *skb = iwpm_msg_new(RDMA_NL_IWPM_MAPINFO, 0);

	if (!skb)
		return NULL;
	iwpm_put_addr(skb, IWPM_NLA_MAPINFO_LOCAL_ADDR, local);
	iwpm_put_addr(skb, IWPM_NLA_MAPINFO_MAPPED_ADDR, mapped);
	if (version > IWPM_UABI_VERSION_MIN)
		iwpm_put_u32(skb, IWPM_NLA_MAPINFO_FLAGS, flags);
	return skb;
}

struct sk_buff *iwpm_msg_mapinfo_num(u32 num)
{
	struct sk_buff *skb = iwpm_msg_new(RDMA_NL_IWPM_MAPINFO_NUM, 0);

	if (!skb)
		return NULL;
	iwpm_put_u32(skb, IWPM_NLA_MAPINFO_SEQ, 0);
	iwpm_put_u32(skb, IWPM_NLA_MAPINFO_SEND_NUM, num);
	return skb;
}

/* ---- from the daemon ---- */
enum iwpm_kind {
	IWPM_U16 = 1,
	IWPM_U32,
	IWPM_ADDR,		/* stored as a struct iwpm_addr */
	IWPM_NAME,		/* any value, ignored */
	IWPM_LIB,		/* must be IWPM_LIB_NAME */
};

struct iwpm_field {
	u8 kind;		/* enum iwpm_kind; 0: no such attribute */
	u8 offset;		/* in struct iwpm_reply */
};

/* Size of an array for the attributes of any message. */
#define IWPM_ATTRS	IWPM_NLA_RQUERY_MAPPING_MAX

#define FIELD(k, to)	{ .kind = IWPM_##k, \
			  .offset = offsetof(struct iwpm_reply, to) }

/* Fields of the response to a query, and of a message about a peer's mapping. */
#define QUERY_FIELDS { \
	[IWPM_NLA_RQUERY_MAPPING_SEQ]	= FIELD(U32, seq), \
	[IWPM_NLA_RQUERY_LOCAL_ADDR]	= FIELD(ADDR, map.local), \
	[IWPM_NLA_RQUERY_REMOTE_ADDR]	= FIELD(ADDR, map.remote), \
	[IWPM_NLA_RQUERY_MAPPED_LOC_ADDR] = FIELD(ADDR, map.mapped_local), \
	[IWPM_NLA_RQUERY_MAPPED_REM_ADDR] = FIELD(ADDR, map.mapped_remote), \
	[IWPM_NLA_RQUERY_MAPPING_ERR]	= FIELD(U16, err), \
}

/* Indexed by operation and attribute; all attributes of an operation are mandatory. */
static const struct iwpm_field iwpm_fields[][IWPM_ATTRS] = {
	[RDMA_NL_IWPM_REG_PID] = {
		[IWPM_NLA_RREG_PID_SEQ]		= FIELD(U32, seq),
		[IWPM_NLA_RREG_IBDEV_NAME]	= { .kind = IWPM_NAME },
		[IWPM_NLA_RREG_ULIB_NAME]	= { .kind = IWPM_LIB },
		[IWPM_NLA_RREG_ULIB_VER]	= FIELD(U16, version),
		[IWPM_NLA_RREG_PID_ERR]		= FIELD(U16, err),
	},
	[RDMA_NL_IWPM_ADD_MAPPING] = {
		[IWPM_NLA_RMANAGE_MAPPING_SEQ]	= FIELD(U32, seq),
		[IWPM_NLA_RMANAGE_ADDR]		= FIELD(ADDR, map.local),
		[IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR] = FIELD(ADDR, map.mapped_local),
		[IWPM_NLA_RMANAGE_MAPPING_ERR]	= FIELD(U16, err),
	},
	[RDMA_NL_IWPM_QUERY_MAPPING] = QUERY_FIELDS,
	[RDMA_NL_IWPM_REMOTE_INFO] = QUERY_FIELDS,
	[RDMA_NL_IWPM_HANDLE_ERR] = {
		[IWPM_NLA_ERR_SEQ]		= FIELD(U32, seq),
		[IWPM_NLA_ERR_CODE]		= FIELD(U16, err),
	},
	[RDMA_NL_IWPM_MAPINFO] = {
		[IWPM_NLA_MAPINFO_ULIB_NAME]	= { .kind = IWPM_LIB },
		[IWPM_NLA_MAPINFO_ULIB_VER]	= FIELD(U16, version),
	},
	[RDMA_NL_IWPM_MAPINFO_NUM] = {
		[IWPM_NLA_MAPINFO_SEQ]		= FIELD(U32, seq),
		[IWPM_NLA_MAPINFO_SEND_NUM]	= FIELD(U32, sent),
		[IWPM_NLA_MAPINFO_ACK_NUM]	= FIELD(U32, known),
	},
	[RDMA_NL_IWPM_HELLO] = {
		[IWPM_NLA_HELLO_ABI_VERSION]	= FIELD(U16, version),
	},
};

static bool iwpm_read_scalar(const struct nlattr *nla, void *to, int len)
{
	if (nla_len(nla) != len)
		return false;
	memcpy(to, nla_data(nla), len);
	return true;
}

static bool iwpm_read_addr(const struct nlattr *nla, void *to)
{
	struct sockaddr_storage ss;

	return iwpm_read_scalar(nla, &ss, sizeof(ss)) && iwpm_addr_get(to, &ss);
}

static bool iwpm_read(const struct nlattr *nla, enum iwpm_kind kind, void *to)
{
	switch (kind) {
	case IWPM_U16:
		return iwpm_read_scalar(nla, to, sizeof(u16));
	case IWPM_U32:
		return iwpm_read_scalar(nla, to, sizeof(u32));
	case IWPM_ADDR:
		return iwpm_read_addr(nla, to);
	case IWPM_LIB:
		return !nla_strcmp(nla, IWPM_LIB_NAME);
	default:
		return true;
	}
}

/* Parses a message, whose operation must be in the table above. */
int iwpm_msg_parse(const struct nlmsghdr *nlh, struct iwpm_reply *reply,
		   struct netlink_ext_ack *extack)
{
	const struct iwpm_field *fields =
		iwpm_fields[RDMA_NL_GET_OP(nlh->nlmsg_type)];
	struct nlattr *tb[IWPM_ATTRS];
	int i, ret;

	memset(reply, 0, sizeof(*reply));
	ret = nlmsg_parse(nlh, 0, tb, IWPM_ATTRS - 1, NULL, extack);
	if (ret)
		return ret;
	for (i = 1; i < IWPM_ATTRS; i++) {
		if (!tb[i] == !fields[i].kind &&
		    (!tb[i] || iwpm_read(tb[i], fields[i].kind,
					 (void *)reply + fields[i].offset)))
			continue;
		NL_SET_ERR_MSG_ATTR(extack, tb[i],
				    "Attribute missing, unknown or malformed");
		return -EINVAL;
	}
	return 0;
}
