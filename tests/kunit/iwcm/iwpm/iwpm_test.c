// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The port mapper's exchanges: which port the provider uses, which one the consumer
 * sees, and what becomes of malformed responses.
 */
#include <linux/inet.h>
#include <linux/workqueue.h>
#include <rdma/iw_portmap.h>
#include "../faults.h"
#include "iwpm_test.h"

/* ---- what iwpm_restart_test.c uses too ---- */
u16 pm_port(const struct sockaddr_storage *ss)
{
	return ntohs(((const struct sockaddr_in *)ss)->sin_port);
}

struct iw_cm_id *pm_id(u16 port)
{
	struct iw_cm_id *cm_id = iw_id();

	((struct sockaddr_in *)&cm_id->local_addr)->sin_port = htons(port);
	return cm_id;
}

static void pm_call_work(struct work_struct *work)
{
	struct pm_call *call = container_of(work, struct pm_call, work);

	call->ret = iw_connect_id(call->cm_id);
	complete(&call->done);
}

struct pm_call *pm_call(struct kunit *test, struct iw_cm_id *cm_id)
{
	struct pm_call *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, call);
	call->cm_id = cm_id;
	init_completion(&call->done);
	INIT_WORK(&call->work, pm_call_work);
	queue_work(system_unbound_wq, &call->work);
	return call;
}

/* Connects it.id; returns the time that it took, in milliseconds. */
unsigned int pm_connect_time(void)
{
	unsigned long start = jiffies;

	it.id = it.id ?: iw_id();
	if (iw_connect_id(it.id))
		return UINT_MAX;
	return took_ms(jiffies - start);
}

int pm_init(struct kunit *test)
{
	int ret = iw_init(test);

	if (ret)
		return ret;
	it.hca->ibdev.iw_driver_flags = 0;
	strscpy(it.hca->ibdev.iw_ifname, "pmif0", IFNAMSIZ);
	return pmd_up();
}

/* Expects that each mapping was removed. */
void pm_exit(struct kunit *test)
{
	pmd.paused = false;
	iw_exit(test);
	if (pmd.task)
		KUNIT_EXPECT_TRUE_MSG(test, pmd_holds(0), "%d mappings left: %s",
				      pmd.holds, pmd.log);
	pmd_down();
}

/* ---- mapped ---- */
static void nobody_maps_without_a_daemon(struct kunit *test)
{
	pmd_down();
	KUNIT_EXPECT_LT(test, pm_connect_time(), 100u);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_local_addr), 1000);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2000);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, pm_port(&it.listener->m_local_addr), 1000);
}

static void a_listener_is_mapped(struct kunit *test)
{
	const struct pmd_heard *reg = &pmd.heard[RDMA_NL_IWPM_REG_PID];
	const struct pmd_heard *add = &pmd.heard[RDMA_NL_IWPM_ADD_MAPPING];

	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RA");
	KUNIT_EXPECT_TRUE(test, it.listener->mapped);
	KUNIT_EXPECT_EQ(test, pm_port(&it.listener->local_addr), 1000);
	KUNIT_EXPECT_EQ(test, pm_port(&it.listener->m_local_addr), 1000 + PMD_MAPS);

	/*
	 * The names have the full length of the daemon's buffers, which it reads whole.
	 */
	KUNIT_EXPECT_STREQ(test, reg->names[0], "pmif0");
	KUNIT_EXPECT_STREQ(test, reg->names[1], dev_name(&it.hca->ibdev.dev));
	KUNIT_EXPECT_STREQ(test, reg->names[2], "iWarpPortMapperUser");
	KUNIT_EXPECT_EQ(test, reg->name_len[0], IWPM_IFNAME_SIZE);
	KUNIT_EXPECT_EQ(test, reg->name_len[1], IWPM_DEVNAME_SIZE);
	KUNIT_EXPECT_EQ(test, reg->name_len[2], IWPM_ULIBNAME_SIZE);
	KUNIT_EXPECT_EQ(test, reg->attr_seq, reg->seq);
	KUNIT_EXPECT_EQ(test, add->attr_seq, add->seq);
	KUNIT_EXPECT_EQ(test, pm_port(&add->addr[0]), 1000);
	KUNIT_EXPECT_TRUE(test, add->has_value);
	KUNIT_EXPECT_EQ(test, add->value, 0u);

	iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	KUNIT_EXPECT_TRUE(test, pmd_hears("RAX"));
	KUNIT_EXPECT_EQ(test, pm_port(&pmd.heard[RDMA_NL_IWPM_REMOVE_MAPPING].addr[0]), 1000);
}

static void ports_at_connect(struct iw_cm_id *cm_id)
{
	it.seen = pm_port(&cm_id->m_local_addr) == 1000 + PMD_MAPS &&
		  pm_port(&cm_id->m_remote_addr) == 2000 + PMD_PEER_MAPS;
}

/* The provider uses and reports mapped ports; the consumer sees the unmapped ones. */
static void a_connection_is_mapped(struct kunit *test)
{
	it.during[FAKE_IW_CONNECT] = ports_at_connect;
	iw_be(test, IWCM_CONN_SENT);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RQ");
	KUNIT_EXPECT_TRUE(test, it.seen);
	KUNIT_EXPECT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, NULL), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("P"));
	KUNIT_EXPECT_EQ(test, pm_port(&it.last.local_addr), 1000);
	KUNIT_EXPECT_EQ(test, pm_port(&it.last.remote_addr), 2000);
}

/*
 * The client registers with the daemon once; requests follow in the order of the calls.
 */
static void an_id_that_connects_anew_is_mapped_anew(struct kunit *test)
{
	int i;

	it.id = iw_id();
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
		KUNIT_EXPECT_TRUE(test, it.id->mapped);
		iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, -ECONNREFUSED, NULL);
		iw_quiesce();
		iw_let_go();
	}
	KUNIT_EXPECT_STREQ(test, pmd.log, "RQXQXQ");
}

static void a_failed_listen_gives_the_port_back(struct kunit *test)
{
	it.answer[FAKE_IW_LISTEN] = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), -EADDRINUSE);
	KUNIT_EXPECT_TRUE(test, pmd_hears("RAX"));
}

static void a_peer_without_mappings_is_reached_all_the_same(struct kunit *test)
{
	pmd.err[RDMA_NL_IWPM_QUERY_MAPPING] = IWPM_REMOTE_QUERY_REJECT;
	pmd.unmapped_peer = true;
	iw_be(test, IWCM_CONN_SENT);
	KUNIT_EXPECT_TRUE(test, it.id->mapped);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_local_addr), 1000 + PMD_MAPS);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2000);
}

static void providers_of_the_hosts_ports_say_so(struct kunit *test)
{
	it.hca->ibdev.iw_driver_flags = IW_F_NO_PORT_MAP;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, pmd.heard[RDMA_NL_IWPM_ADD_MAPPING].value,
			(u32)IWPM_FLAGS_NO_PORT_MAP);
	KUNIT_EXPECT_EQ(test, pm_port(&it.listener->m_local_addr), 1000);
	it.id = pm_id(1001);
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, pmd.heard[RDMA_NL_IWPM_QUERY_MAPPING].value,
			(u32)IWPM_FLAGS_NO_PORT_MAP);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2000 + PMD_PEER_MAPS);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RAQ");
}

/* A daemon without flags would map a port that must not be mapped: it gets no request. */
static void a_daemon_without_flags_is_spared_them(struct kunit *test)
{
	pmd.version = 3;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_TRUE(test, it.listener->mapped);
	KUNIT_EXPECT_FALSE(test, pmd.heard[RDMA_NL_IWPM_ADD_MAPPING].has_value);
	it.hca->ibdev.iw_driver_flags = IW_F_NO_PORT_MAP;
	it.id = pm_id(1001);
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RA");
}

static void an_ipv6_address_is_mapped_with_its_scope(struct kunit *test)
{
	struct sockaddr_in6 local = { .sin6_family = AF_INET6 };
	struct sockaddr_in6 *in6;

	in6_pton("fe80::1", -1, local.sin6_addr.s6_addr, -1, NULL);
	local.sin6_port = htons(1000);
	local.sin6_scope_id = 7;
	it.listener = iw_id();
	memcpy(&it.listener->local_addr, &local, sizeof(local));
	KUNIT_ASSERT_EQ(test, iw_cm_listen(it.listener, 0), 0);
	in6 = (struct sockaddr_in6 *)&pmd.heard[RDMA_NL_IWPM_ADD_MAPPING].addr[0];
	KUNIT_EXPECT_MEMEQ(test, in6, &local, sizeof(local));
	in6 = (struct sockaddr_in6 *)&it.listener->m_local_addr;
	local.sin6_port = htons(1000 + PMD_MAPS);
	KUNIT_EXPECT_MEMEQ(test, in6, &local, sizeof(local));
}

static void what_is_no_address_is_not_asked_for(struct kunit *test)
{
	it.listener = pm_id(0);
	KUNIT_EXPECT_EQ(test, iw_cm_listen(it.listener, 0), 0);
	it.id = iw_id();
	it.id->remote_addr.ss_family = AF_UNSPEC;
	KUNIT_EXPECT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_STREQ(test, pmd.log, "");
}

/* ---- requests ---- */

/* As iw_request(): 192.0.2.2, port 2001, to port 1001 */
static void request_from(struct kunit *test, u16 local, u16 remote)
{
	memset(it.events, 0, sizeof(it.events));
	atomic_set(&it.nr_events, 0);
	if (it.id)
		iw_destroy_cm_id(it.id);
	it.id = NULL;
	KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("Q"));
	KUNIT_EXPECT_EQ(test, pm_port(&it.last.local_addr), local);
	KUNIT_EXPECT_EQ(test, pm_port(&it.last.remote_addr), remote);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->local_addr), local);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->remote_addr), remote);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_local_addr), 1001);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2001);
}

static void a_request_shows_the_ports_of_before_the_mapping(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	request_from(test, 1000, 2001);		/* a peer that does not map */
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 2001, "192.0.2.2", 4321), 0);
	request_from(test, 1000, 4321);
	/* The daemon reports the port again, after it was used for another mapping. */
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 2001, "192.0.2.2", 4322), 0);
	request_from(test, 1000, 4322);
	/* This is of another peer. */
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.3", 2001, "192.0.2.3", 4323), 0);
	request_from(test, 1000, 4322);
	KUNIT_ASSERT_EQ(test, iw_accept_id(it.id), 0);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2001);
}

static void a_request_shows_where_it_came_in(struct kunit *test)
{
	it.listener = iw_id();
	((struct sockaddr_in *)&it.listener->local_addr)->sin_addr.s_addr = 0;
	KUNIT_ASSERT_EQ(test, iw_cm_listen(it.listener, 0), 0);
	KUNIT_ASSERT_TRUE(test, it.listener->mapped);
	/* The daemon's reports in earlier cases are remembered for a minute. */
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 2001, "192.0.2.2", 2001), 0);
	request_from(test, 1000, 2001);
	KUNIT_EXPECT_EQ(test, ((struct sockaddr_in *)&it.last.local_addr)->sin_addr.s_addr,
			in_aton("192.0.2.1"));
}

static void what_peers_mapped_is_forgotten(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 2001, "192.0.2.2", 4321), 0);
	msleep(61 * MSEC_PER_SEC);
	request_from(test, 1000, 2001);
}

static void peers_have_no_end_but_memory_has(struct kunit *test)
{
	int i;

	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 2001, "192.0.2.2", 4321), 0);
	for (i = 0; i < 5000; i++)
		if (pmd_remote_info("192.0.2.9", 3000 + i, "192.0.2.9", 1))
			KUNIT_FAIL(test, "refused: %d", pmd.verdict);
	request_from(test, 1000, 2001);
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 2001, "192.0.2.2", 4321), 0);
	request_from(test, 1000, 4321);
}

/* ---- refused and malformed ---- */
static void a_refusal_leaves_it_unmapped(struct kunit *test)
{
	pmd.refuse[RDMA_NL_IWPM_QUERY_MAPPING] = IWPM_CREATE_MAPPING_ERR;
	pmd.refuse[RDMA_NL_IWPM_ADD_MAPPING] = IWPM_DUPLICATE_MAPPING_ERR;
	KUNIT_EXPECT_LT(test, pm_connect_time(), 1000u);
	KUNIT_EXPECT_FALSE(test, it.id->mapped);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2000);
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, pm_port(&it.listener->m_local_addr), 1000);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RQA");
}

static void an_answer_may_be_a_refusal(struct kunit *test)
{
	pmd.err[RDMA_NL_IWPM_ADD_MAPPING] = IWPM_CREATE_MAPPING_ERR;
	KUNIT_EXPECT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_EQ(test, pm_port(&it.listener->m_local_addr), 1000);
	pmd.holds = 0;
}

static struct nlattr *spoil_attr(struct sk_buff *skb, int n)
{
	struct nlattr *nla = nlmsg_attrdata(nlmsg_hdr(skb), 0);

	while (--n)
		nla = (void *)nla + NLA_ALIGN(nla->nla_len);
	return nla;
}

static void spoil_missing(struct sk_buff *skb)
{
	skb_trim(skb, skb->len - NLA_ALIGN(nla_attr_size(sizeof(u16))));
}

static void spoil_unknown(struct sk_buff *skb)
{
	nla_put_u16(skb, 40, 0);
}

static void spoil_extra(struct sk_buff *skb)
{
	nla_put_u16(skb, IWPM_NLA_RQUERY_MAPPING_ERR + 1, 0);
}

static void spoil_long_err(struct sk_buff *skb)
{
	spoil_missing(skb);
	nla_put_u32(skb, IWPM_NLA_RQUERY_MAPPING_ERR, 0);
}

static void spoil_short_seq(struct sk_buff *skb)
{
	spoil_attr(skb, 1)->nla_len -= 2;
}

static void spoil_length(struct sk_buff *skb)
{
	spoil_attr(skb, 6)->nla_len = 200;
}

static void spoil_short_addr(struct sk_buff *skb)
{
	spoil_attr(skb, 4)->nla_len -= 4;
}

static void spoil_tail(struct sk_buff *skb)
{
	skb_put_zero(skb, 2);
}

static struct sockaddr_in *spoil_in(struct sk_buff *skb, int n)
{
	return nla_data(spoil_attr(skb, n));
}

static void spoil_port(struct sk_buff *skb)
{
	spoil_in(skb, 4)->sin_port = 0;
}

static void spoil_family(struct sk_buff *skb)
{
	spoil_in(skb, 5)->sin_family = AF_UNIX;
}

static void spoil_other_family(struct sk_buff *skb)
{
	spoil_in(skb, 4)->sin_family = AF_INET6;
}

static void spoil_peer_family(struct sk_buff *skb)
{
	spoil_in(skb, 5)->sin_family = AF_INET6;
}

static void spoil_local(struct sk_buff *skb)
{
	spoil_in(skb, 2)->sin_port = htons(999);
}

static void spoil_remote(struct sk_buff *skb)
{
	spoil_in(skb, 3)->sin_addr.s_addr = 0;
}

static void spoil_seq(struct sk_buff *skb)
{
	*(u32 *)nla_data(spoil_attr(skb, 1)) += 1000;
}

static void spoil_op(struct sk_buff *skb)
{
	nlmsg_hdr(skb)->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_IWCM,
						      RDMA_NL_IWPM_ADD_MAPPING);
}

static const struct {
	void (*how)(struct sk_buff *skb);
	int verdict;
} spoilt[] = {
	{ spoil_missing, -EINVAL },
	{ spoil_unknown, -EINVAL },
	{ spoil_extra, -EINVAL },
	{ spoil_long_err, -EINVAL },
	{ spoil_short_seq, -EINVAL },
	{ spoil_length, -EINVAL },
	{ spoil_short_addr, -EINVAL },
	{ spoil_tail, -EINVAL },
	{ spoil_port, -EINVAL },
	{ spoil_family, -EINVAL },
	{ spoil_other_family, -EPROTO },
	{ spoil_peer_family, -EPROTO },
	{ spoil_local, -EPROTO },
	{ spoil_remote, -EPROTO },
	{ spoil_seq, 0 },
	{ spoil_op, -EINVAL },
};

/* The daemon may hold a mapping after a malformed response: it is told to remove it. */
static void nonsense_leaves_it_unmapped(struct kunit *test)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(spoilt); i++) {
		struct pm_call *call;

		pmd.mute[RDMA_NL_IWPM_QUERY_MAPPING] = true;
		pmd.spoil = NULL;
		pmd.nr_log = 0;
		memset(pmd.log, 0, sizeof(pmd.log));
		it.id = iw_id();
		call = pm_call(test, it.id);
		KUNIT_EXPECT_TRUE(test, wait_within(strchr(pmd.log, 'Q'), 1000));
		pmd.spoil = spoilt[i].how;
		KUNIT_EXPECT_EQ_MSG(test, pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING),
				    spoilt[i].verdict, "spoilt %d", i);
		pmd.spoil = NULL;
		wait_for_completion(&call->done);
		KUNIT_EXPECT_EQ(test, call->ret, 0);
		KUNIT_EXPECT_FALSE_MSG(test, it.id->mapped, "spoilt %d", i);
		iw_destroy_cm_id(it.id);
		it.id = NULL;
		iw_let_go();
		KUNIT_EXPECT_TRUE_MSG(test, pmd_holds(0), "spoilt %d", i);
	}
}

static void what_is_no_answer_is_refused_too(struct kunit *test)
{
	struct sk_buff *skb = pmd_new(RDMA_NL_IWPM_MAPINFO);

	nla_put_string(skb, IWPM_NLA_MAPINFO_ULIB_NAME, "SomebodyElse");
	nla_put_u16(skb, IWPM_NLA_MAPINFO_ULIB_VER, 4);
	KUNIT_EXPECT_EQ(test, pmd_tell(skb), -EINVAL);
	KUNIT_EXPECT_EQ(test, pmd_tell(pmd_new(RDMA_NL_IWPM_HELLO)), -EINVAL);
	KUNIT_EXPECT_EQ(test, pmd_tell(pmd_new(RDMA_NL_IWPM_HANDLE_ERR)), -EINVAL);
	KUNIT_EXPECT_EQ(test, pmd_tell(pmd_new(RDMA_NL_IWPM_REMOTE_INFO)), -EINVAL);
	KUNIT_EXPECT_EQ(test, pmd_tell(pmd_new(RDMA_NL_IWPM_MAPINFO_NUM)), -EINVAL);
	KUNIT_EXPECT_EQ(test, pmd_tell(pmd_new(RDMA_NL_IWPM_REMOVE_MAPPING)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, pmd_remote_info("192.0.2.2", 0, "192.0.2.2", 1), -EINVAL);
	KUNIT_EXPECT_STREQ(test, pmd.log, "");
}

static void answers_may_come_twice_and_late(struct kunit *test)
{
	pmd.twice = 2;
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	it.id = pm_id(1001);
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	KUNIT_EXPECT_STREQ(test, pmd.log, "RAQ");
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_QUERY_MAPPING), 0);
	KUNIT_EXPECT_EQ(test, pmd_answer(RDMA_NL_IWPM_ADD_MAPPING), 0);
	KUNIT_EXPECT_EQ(test, pm_port(&it.id->m_remote_addr), 2000 + PMD_PEER_MAPS);
}

/* ---- faults ---- */
static int listen_and_stop(struct kunit *test)
{
	int ret = iw_listen_on(0);

	if (!ret)
		iw_destroy_cm_id(it.listener);
	it.listener = NULL;
	return ret;
}

static int connect_and_stop(struct kunit *test)
{
	struct iw_cm_id *cm_id = iw_id();
	int ret;

	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	ret = iw_connect_id(cm_id);
	iw_destroy_cm_id(cm_id);
	iw_let_go();
	return ret;
}

/* Without memory a port stays unmapped, or mapped for too long. */
static void without_memory_it_works_unmapped(struct kunit *test)
{
	ibex_each_allocation(test, listen_and_stop);
	ibex_each_allocation(test, connect_and_stop);
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_EXPECT_TRUE(test, it.listener->mapped);
	pmd.holds = 1;
}

static struct kunit_case iwpm_cases[] = {
	KUNIT_CASE(nobody_maps_without_a_daemon),
	KUNIT_CASE(a_listener_is_mapped),
	KUNIT_CASE(a_connection_is_mapped),
	KUNIT_CASE(an_id_that_connects_anew_is_mapped_anew),
	KUNIT_CASE(a_failed_listen_gives_the_port_back),
	KUNIT_CASE(a_peer_without_mappings_is_reached_all_the_same),
	KUNIT_CASE(providers_of_the_hosts_ports_say_so),
	KUNIT_CASE(a_daemon_without_flags_is_spared_them),
	KUNIT_CASE(an_ipv6_address_is_mapped_with_its_scope),
	KUNIT_CASE(what_is_no_address_is_not_asked_for),
	KUNIT_CASE(a_request_shows_the_ports_of_before_the_mapping),
	KUNIT_CASE(a_request_shows_where_it_came_in),
	KUNIT_CASE_SLOW(what_peers_mapped_is_forgotten),
	KUNIT_CASE_SLOW(peers_have_no_end_but_memory_has),
	KUNIT_CASE(a_refusal_leaves_it_unmapped),
	KUNIT_CASE(an_answer_may_be_a_refusal),
	KUNIT_CASE_SLOW(nonsense_leaves_it_unmapped),
	KUNIT_CASE(what_is_no_answer_is_refused_too),
	KUNIT_CASE(answers_may_come_twice_and_late),
	KUNIT_CASE(without_memory_it_works_unmapped),
	{}
};

static struct kunit_suite iwcm_iwpm_suite = {
	.name = "iw_cm_iwpm",
	.init = pm_init,
	.exit = pm_exit,
	.test_cases = iwpm_cases,
};

kunit_test_suite(iwcm_iwpm_suite);
