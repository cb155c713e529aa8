// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <linux/inet.h>
#include <linux/kthread.h>
#include <rdma/iw_portmap.h>
#include "pm_daemon.h"

struct pm_daemon pmd;

static const char pmd_letters[PMD_OPS] = {
	[RDMA_NL_IWPM_REG_PID] = 'R',
	[RDMA_NL_IWPM_ADD_MAPPING] = 'A',
	[RDMA_NL_IWPM_QUERY_MAPPING] = 'Q',
	[RDMA_NL_IWPM_REMOVE_MAPPING] = 'X',
	[RDMA_NL_IWPM_REMOTE_INFO] = '?',
	[RDMA_NL_IWPM_HANDLE_ERR] = '?',
	[RDMA_NL_IWPM_MAPINFO] = 'I',
	[RDMA_NL_IWPM_MAPINFO_NUM] = 'N',
	[RDMA_NL_IWPM_HELLO] = 'H',
};

/* ---- what the daemon sends ---- */
struct sk_buff *pmd_new(u8 op)
{
	struct sk_buff *skb = nlmsg_new(1024, GFP_KERNEL | __GFP_NOFAIL);

	nlmsg_put(skb, 0, 77, RDMA_NL_GET_TYPE(RDMA_NL_IWCM, op), 0, NLM_F_REQUEST);
	return skb;
}

static void pmd_put_ss(struct sk_buff *skb, int type,
		       const struct sockaddr_storage *ss, u16 shift)
{
	struct sockaddr_storage copy = *ss;
	struct sockaddr_in *in = (struct sockaddr_in *)&copy;

	/* An IPv6 address has its port at the same place. */
	in->sin_port = htons(ntohs(in->sin_port) + shift);
	nla_put(skb, type, sizeof(copy), &copy);
}

void pmd_put_addr(struct sk_buff *skb, int type, const char *ip, u16 port)
{
	struct sockaddr_storage ss = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&ss;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = in_aton(ip);
	pmd_put_ss(skb, type, &ss, port);
}

static void pmd_send(struct sk_buff *skb)
{
	nlmsg_end(skb, nlmsg_hdr(skb));
	nld_send(&pmd.nl, skb, 0);
}

static struct sk_buff *pmd_refusal(u8 op)
{
	struct sk_buff *skb = pmd_new(RDMA_NL_IWPM_HANDLE_ERR);

	nla_put_u32(skb, IWPM_NLA_ERR_SEQ, pmd.heard[op].seq);
	nla_put_u16(skb, IWPM_NLA_ERR_CODE, pmd.refuse[op]);
	return skb;
}

static struct sk_buff *pmd_reply(u8 op)
{
	const struct pmd_heard *heard = &pmd.heard[op];
	u16 shift = heard->value & IWPM_FLAGS_NO_PORT_MAP ? 0 : PMD_MAPS;
	struct sk_buff *skb = pmd_new(op);

	switch (op) {
	case RDMA_NL_IWPM_REG_PID:
		nla_put_u32(skb, IWPM_NLA_RREG_PID_SEQ, heard->seq);
		nla_put_string(skb, IWPM_NLA_RREG_IBDEV_NAME, heard->names[1]);
		nla_put_string(skb, IWPM_NLA_RREG_ULIB_NAME, "iWarpPortMapperUser");
		nla_put_u16(skb, IWPM_NLA_RREG_ULIB_VER, pmd.version);
		nla_put_u16(skb, IWPM_NLA_RREG_PID_ERR, pmd.err[op]);
		break;
	case RDMA_NL_IWPM_ADD_MAPPING:
		nla_put_u32(skb, IWPM_NLA_RMANAGE_MAPPING_SEQ, heard->seq);
		pmd_put_ss(skb, IWPM_NLA_RMANAGE_ADDR, &heard->addr[0], 0);
		pmd_put_ss(skb, IWPM_NLA_RMANAGE_MAPPED_LOC_ADDR, &heard->addr[0], shift);
		nla_put_u16(skb, IWPM_NLA_RMANAGE_MAPPING_ERR, pmd.err[op]);
		break;
	case RDMA_NL_IWPM_QUERY_MAPPING:
		nla_put_u32(skb, IWPM_NLA_RQUERY_MAPPING_SEQ, heard->seq);
		pmd_put_ss(skb, IWPM_NLA_RQUERY_LOCAL_ADDR, &heard->addr[0], 0);
		pmd_put_ss(skb, IWPM_NLA_RQUERY_REMOTE_ADDR, &heard->addr[1], 0);
		pmd_put_ss(skb, IWPM_NLA_RQUERY_MAPPED_LOC_ADDR, &heard->addr[0], shift);
		pmd_put_ss(skb, IWPM_NLA_RQUERY_MAPPED_REM_ADDR, &heard->addr[1],
			   pmd.unmapped_peer ? 0 : PMD_PEER_MAPS);
		nla_put_u16(skb, IWPM_NLA_RQUERY_MAPPING_ERR, pmd.err[op]);
		break;
	case RDMA_NL_IWPM_MAPINFO_NUM:
		nla_put_u32(skb, IWPM_NLA_MAPINFO_SEQ, heard->seq);
		nla_put_u32(skb, IWPM_NLA_MAPINFO_SEND_NUM, heard->value);
		nla_put_u32(skb, IWPM_NLA_MAPINFO_ACK_NUM, heard->value);
		break;
	}
	nlmsg_end(skb, nlmsg_hdr(skb));
	if (pmd.spoil)
		pmd.spoil(skb);
	return skb;
}

static void pmd_respond(u8 op)
{
	int i;

	if (pmd.mute[op] || op == RDMA_NL_IWPM_REMOVE_MAPPING ||
	    op == RDMA_NL_IWPM_MAPINFO || op == RDMA_NL_IWPM_HELLO)
		return;
	if (pmd.refuse[op]) {
		pmd_send(pmd_refusal(op));
		return;
	}
	for (i = 0; i <= pmd.twice; i++)
		nld_send(&pmd.nl, pmd_reply(op), 0);
}

/* ---- what the daemon receives ---- */
static void pmd_note_attr(struct pmd_heard *heard, u8 op, const struct nlattr *nla)
{
	int type = nla_type(nla), len = nla_len(nla);

	if (len == sizeof(struct sockaddr_storage)) {
		memcpy(&heard->addr[heard->nr_addr++ % 2], nla_data(nla), len);
	} else if (op == RDMA_NL_IWPM_REG_PID && type >= IWPM_NLA_REG_IF_NAME) {
		nla_strscpy(heard->names[type - IWPM_NLA_REG_IF_NAME], nla, 32);
		heard->name_len[type - IWPM_NLA_REG_IF_NAME] = len;
	} else if (op == RDMA_NL_IWPM_HELLO) {
		heard->value = nla_get_u16(nla);
	} else if (type == IWPM_NLA_MANAGE_MAPPING_SEQ && op != RDMA_NL_IWPM_MAPINFO) {
		heard->attr_seq = nla_get_u32(nla);
	} else {
		heard->value = nla_get_u32(nla);
		heard->has_value = true;
	}
}

static void pmd_note(const struct nlmsghdr *nlh, u8 op)
{
	struct pmd_heard *heard = &pmd.heard[op];
	const struct nlattr *nla;
	int rem;

	memset(heard, 0, sizeof(*heard));
	heard->seq = nlh->nlmsg_seq;
	heard->len = nlh->nlmsg_len;
	nlmsg_for_each_attr(nla, nlh, 0, rem)
		pmd_note_attr(heard, op, nla);
	switch (op) {
	case RDMA_NL_IWPM_ADD_MAPPING:
	case RDMA_NL_IWPM_QUERY_MAPPING:
		pmd.holds += !pmd.refuse[op];
		break;
	case RDMA_NL_IWPM_MAPINFO:
		pmd.holds++;
		break;
	case RDMA_NL_IWPM_REMOVE_MAPPING:
		pmd.holds--;
		break;
	}
	if (pmd.nr_log < (int)sizeof(pmd.log) - 1)
		pmd.log[pmd.nr_log++] = pmd_letters[op];
}

static void pmd_message(const struct nlmsghdr *nlh)
{
	u8 op = RDMA_NL_GET_OP(nlh->nlmsg_type);

	if (nlh->nlmsg_type == NLMSG_ERROR) {
		pmd.verdict = ((struct nlmsgerr *)nlmsg_data(nlh))->error;
		/* pairs with pmd_tell(), which reads the verdict */
		smp_store_release(&pmd.acks, pmd.acks + 1);
		return;
	}
	if (RDMA_NL_GET_CLIENT(nlh->nlmsg_type) != RDMA_NL_IWCM || op >= PMD_OPS)
		return;
	pmd_note(nlh, op);
	pmd_respond(op);
}

static int pmd_thread(void *unused)
{
	while (!kthread_should_stop()) {
		while (!READ_ONCE(pmd.paused) &&
		       nld_receive(&pmd.nl, pmd.buf, sizeof(pmd.buf)))
			pmd_message((struct nlmsghdr *)pmd.buf);
		usleep_range(1000, 2000);
	}
	return 0;
}

int pmd_up(void)
{
	int ret;

	memset(&pmd, 0, sizeof(pmd));
	pmd.version = IWPM_UABI_VERSION;
	ret = nld_open(&pmd.nl, RDMA_NL_GROUP_IWPM);
	if (ret)
		return ret;
	pmd.task = kthread_run(pmd_thread, NULL, "pm_daemon");
	return PTR_ERR_OR_ZERO(pmd.task);
}

void pmd_down(void)
{
	if (!IS_ERR_OR_NULL(pmd.task))
		kthread_stop(pmd.task);
	pmd.task = NULL;
	nld_close(&pmd.nl);
}

u32 pmd_portid(void)
{
	struct sockaddr_nl me = {};

	pmd.nl.sock->ops->getname(pmd.nl.sock, (struct sockaddr *)&me, 0);
	return me.nl_pid;
}

bool pmd_hears(const char *log)
{
	return wait_within(!strcmp(pmd.log, log), 1000);
}

bool pmd_holds(int num)
{
	return wait_within(READ_ONCE(pmd.holds) == num, 1000);
}

int pmd_tell(struct sk_buff *skb)
{
	int acks = pmd.acks;

	nlmsg_end(skb, nlmsg_hdr(skb));
	nlmsg_hdr(skb)->nlmsg_flags |= NLM_F_ACK;
	nld_send(&pmd.nl, skb, 0);
	/* pairs with pmd_message() */
	if (!wait_within(smp_load_acquire(&pmd.acks) != acks, 1000))
		return -ETIME;
	return pmd.verdict;
}

int pmd_answer(u8 op)
{
	return pmd_tell(pmd_reply(op));
}

int pmd_hello(u16 version)
{
	struct sk_buff *skb = pmd_new(RDMA_NL_IWPM_HELLO);

	nla_put_u16(skb, IWPM_NLA_HELLO_ABI_VERSION, version);
	return pmd_tell(skb);
}

int pmd_ask_mapinfo(u16 version)
{
	struct sk_buff *skb = pmd_new(RDMA_NL_IWPM_MAPINFO);

	nla_put_string(skb, IWPM_NLA_MAPINFO_ULIB_NAME, "iWarpPortMapperUser");
	nla_put_u16(skb, IWPM_NLA_MAPINFO_ULIB_VER, version);
	return pmd_tell(skb);
}

int pmd_remote_info(const char *mapped_ip, u16 mapped, const char *ip, u16 port)
{
	struct sk_buff *skb = pmd_new(RDMA_NL_IWPM_REMOTE_INFO);

	nla_put_u32(skb, IWPM_NLA_RQUERY_MAPPING_SEQ, 0);
	pmd_put_addr(skb, IWPM_NLA_RQUERY_LOCAL_ADDR, "192.0.2.1", 1000);
	pmd_put_addr(skb, IWPM_NLA_RQUERY_REMOTE_ADDR, ip, port);
	pmd_put_addr(skb, IWPM_NLA_RQUERY_MAPPED_LOC_ADDR, "192.0.2.1", 1000 + PMD_MAPS);
	pmd_put_addr(skb, IWPM_NLA_RQUERY_MAPPED_REM_ADDR, mapped_ip, mapped);
	nla_put_u16(skb, IWPM_NLA_RQUERY_MAPPING_ERR, 0);
	return pmd_tell(skb);
}
