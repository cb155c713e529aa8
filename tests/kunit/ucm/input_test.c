// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Input that no correct program sends, and the lengths that older and newer programs
 * use.
 */
#include <linux/cred.h>
#include "ucm_test.h"

#define NR_COMMANDS	(RDMA_USER_CM_CMD_JOIN_MCAST + 1)

struct form {
	const char *name;
	u16 size;		/* of the struct */
	u16 optional;		/* bytes at its end that older programs lack */
	u16 resp;		/* minimum of the response; 0: there is none */
	u16 id_at;		/* offset of the id; 0xffff: there is none */
};

#define FORM(type, resp, id) { #type, sizeof(struct rdma_ucm_##type), 0, resp, id }
#define ID_AT(type) offsetof(struct rdma_ucm_##type, id)

static const struct form forms[NR_COMMANDS] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = FORM(create_id, 4, 0xffff),
	[RDMA_USER_CM_CMD_DESTROY_ID] = {
		"destroy_id", sizeof(struct rdma_ucm_destroy_id), 4, 4,
		ID_AT(destroy_id)
	},
	[RDMA_USER_CM_CMD_BIND_IP] = FORM(bind_ip, 0, ID_AT(bind_ip)),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = FORM(resolve_ip, 0, ID_AT(resolve_ip)),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = FORM(resolve_route, 0, ID_AT(resolve_route)),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {
		"query_route", sizeof(struct rdma_ucm_query), 4, UCM_ROUTE_MIN,
		ID_AT(query)
	},
	[RDMA_USER_CM_CMD_CONNECT] = {
		"connect", sizeof(struct rdma_ucm_connect),
		sizeof(struct rdma_ucm_ece), 0, ID_AT(connect)
	},
	[RDMA_USER_CM_CMD_LISTEN] = FORM(listen, 0, ID_AT(listen)),
	[RDMA_USER_CM_CMD_ACCEPT] = {
		"accept", sizeof(struct rdma_ucm_accept),
		sizeof(struct rdma_ucm_ece), 0, ID_AT(accept)
	},
	[RDMA_USER_CM_CMD_REJECT] = FORM(reject, 0, ID_AT(reject)),
	[RDMA_USER_CM_CMD_DISCONNECT] = FORM(disconnect, 0, ID_AT(disconnect)),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		FORM(init_qp_attr, sizeof(struct ib_uverbs_qp_attr), ID_AT(init_qp_attr)),
	[RDMA_USER_CM_CMD_GET_EVENT] = FORM(get_event, UCM_EVENT_MIN, 0xffff),
	[RDMA_USER_CM_CMD_SET_OPTION] = FORM(set_option, 0, ID_AT(set_option)),
	[RDMA_USER_CM_CMD_NOTIFY] = FORM(notify, 0, ID_AT(notify)),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = FORM(join_ip_mcast, 4, ID_AT(join_ip_mcast)),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {
		"leave_mcast", sizeof(struct rdma_ucm_destroy_id), 4, 4,
		ID_AT(destroy_id)
	},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = FORM(migrate_id, 4, 0xffff),
	[RDMA_USER_CM_CMD_QUERY] = FORM(query, 0, ID_AT(query)),
	[RDMA_USER_CM_CMD_BIND] = FORM(bind, 0, ID_AT(bind)),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = FORM(resolve_addr, 0, ID_AT(resolve_addr)),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = FORM(join_mcast, 4, ID_AT(join_mcast)),
};

static void what_is_no_command(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_cmd_hdr hdr = { .cmd = RDMA_USER_CM_CMD_LISTEN, .in = 8 };
	u8 body[64] = {};
	loff_t pos = 0;

	KUNIT_EXPECT_EQ(test, chan_raw(&host->client, &hdr, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_raw(&host->client, &hdr, sizeof(hdr) - 1), -EINVAL);
	/* The header announces more than there is. */
	KUNIT_EXPECT_EQ(test, chan_raw(&host->client, &hdr, sizeof(hdr)), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_write(&host->client, NR_COMMANDS, body, 64, 64),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, chan_write(&host->client, U32_MAX, body, 64, 64), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_write(&host->client, RDMA_USER_CM_CMD_GET_OPTION, body,
					 64, 64), UCM_UNKNOWN);
	KUNIT_EXPECT_EQ(test, ucm_fops.write(host->client.filp, (void __user *)NO_MEMORY,
					     64, &pos), -EFAULT);
}

static void a_body_outside_of_memory(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	unsigned long end = host->client.mem + PAGE_SIZE - sizeof(struct rdma_ucm_cmd_hdr);
	struct rdma_ucm_cmd_hdr hdr = { .cmd = RDMA_USER_CM_CMD_LISTEN, .in = 8 };
	loff_t pos = 0;

	KUNIT_ASSERT_EQ(test, vm_munmap(host->client.mem + PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)end, &hdr, sizeof(hdr)), 0ul);
	KUNIT_EXPECT_EQ(test, ucm_fops.write(host->client.filp, (void __user *)end,
					     sizeof(hdr) + 8, &pos), -EFAULT);
}

static void each_command_too_short(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u8 body[512] = {};
	u32 cmd;

	for (cmd = 0; cmd < NR_COMMANDS; cmd++) {
		const struct form *form = &forms[cmd];

		if (!form->size)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, chan_write(&host->client, cmd, body, 0, 512),
				    -EINVAL, "%s", form->name);
		KUNIT_EXPECT_EQ_MSG(test, chan_write(&host->client, cmd, body,
						     form->size - form->optional - 1, 512),
				    -EINVAL, "%s", form->name);
	}
}

static void each_response_too_short(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u8 body[512] = {};
	u32 cmd;

	for (cmd = 0; cmd < NR_COMMANDS; cmd++) {
		const struct form *form = &forms[cmd];

		if (form->resp)
			KUNIT_EXPECT_EQ_MSG(test, chan_write(&host->client, cmd, body,
							     form->size, form->resp - 1),
					    -ENOSPC, "%s", form->name);
	}
}

/* Fills in each command so that it fails because of its id only. */
static void fill_rest(u8 *body, u32 cmd)
{
	struct sockaddr_storage addr;

	cma_sin(&addr, htonl(0xef010203), 1);
	switch (cmd) {
	case RDMA_USER_CM_CMD_BIND_IP:
		memcpy(&((struct rdma_ucm_bind_ip *)body)->addr, &addr, 28);
		break;
	case RDMA_USER_CM_CMD_BIND:
		((struct rdma_ucm_bind *)body)->addr_size = 16;
		memcpy(&((struct rdma_ucm_bind *)body)->addr, &addr, 128);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		memcpy(&((struct rdma_ucm_resolve_ip *)body)->dst_addr, &addr, 28);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		((struct rdma_ucm_resolve_addr *)body)->dst_size = 16;
		memcpy(&((struct rdma_ucm_resolve_addr *)body)->dst_addr, &addr, 128);
		break;
	case RDMA_USER_CM_CMD_CONNECT:
		((struct rdma_ucm_connect *)body)->conn_param.valid = 1;
		break;
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		memcpy(&((struct rdma_ucm_join_ip_mcast *)body)->addr, &addr, 28);
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		((struct rdma_ucm_join_mcast *)body)->addr_size = 16;
		memcpy(&((struct rdma_ucm_join_mcast *)body)->addr, &addr, 128);
		break;
	default:
		break;
	}
}

static void expect_for_id(struct kunit *test, struct chan *chan, u32 id, int want)
{
	struct rdma_ucm_set_option option = {
		.optval = chan->mem + RESP_AT, .id = id, .optlen = 1,
	};
	u32 cmd;

	for (cmd = 0; cmd < NR_COMMANDS; cmd++) {
		const struct form *form = &forms[cmd];
		u8 body[512] = {};

		if (!form->size || form->id_at == 0xffff ||
		    cmd == RDMA_USER_CM_CMD_LEAVE_MCAST)
			continue;
		fill_rest(body, cmd);
		if (cmd == RDMA_USER_CM_CMD_SET_OPTION)
			memcpy(body, &option, sizeof(option));
		memcpy(body + form->id_at, &id, sizeof(id));
		KUNIT_EXPECT_EQ_MSG(test, chan_write(chan, cmd, body, form->size, 512),
				    want, "%s", form->name);
	}
}

static void each_command_for_an_id_that_is_not(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;

	expect_for_id(test, &host->client, 123456, -ENOENT);
	expect_for_id(test, &host->client, U32_MAX, -ENOENT);
	KUNIT_EXPECT_EQ(test, chan_leave(&host->client, 123456, NULL), -ENOENT);
}

static void each_command_for_another_files_id(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	expect_for_id(test, &host->server, id, -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, NULL), 0);
	expect_for_id(test, &host->server, id, -ENOENT);
}

/* Commands in the wrong state fail and do not change the id. */
static void commands_in_the_wrong_state(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_notify notify = { .event = IB_EVENT_COMM_EST };
	struct rdma_ucm_connect connect = {};
	struct sockaddr_storage addr;
	u32 id, mc;

	KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_TCP, 'C', &id), 0);
	KUNIT_EXPECT_EQ(test, chan_route(chan, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_connect(chan, id, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_accept(chan, id, 'X'), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_confirm(chan, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_reject(chan, id, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_disconnect(chan, id), -EINVAL);
	notify.id = id;
	KUNIT_EXPECT_EQ(test, chan_do(chan, NOTIFY, notify, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_join(chan, id, cma_sin(&addr, htonl(0xef010203), 0), 0,
					'M', &mc), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_bind(chan, id, cma_sin(&addr, host->pair.client.ip4, 0)),
			0);
	KUNIT_EXPECT_EQ(test, chan_connect(chan, id, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_accept(chan, id, 'X'), -EINVAL);
	connect.id = id;
	KUNIT_EXPECT_EQ(test, chan_do(chan, CONNECT, connect, 0), -EINVAL);
	/* The uid of the failed accept has not become the id's. */
	KUNIT_EXPECT_EQ(test, chan_resolve(chan, id, NULL,
					   cma_sin(&addr, host->pair.server.ip4, 1)), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_ADDR_RESOLVED, NULL));
}

static void addresses_that_do_not_fit(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_bind bind = { .addr_size = 16 };
	struct rdma_ucm_resolve_addr resolve = { .dst_size = 16, .timeout_ms = 1000 };
	struct sockaddr_storage addr;
	u32 id;

	KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_TCP, 'C', &id), 0);
	cma_sin(&addr, host->pair.client.ip4, 0);
	bind.id = id;
	KUNIT_EXPECT_EQ(test, chan_do(chan, BIND, bind, 0), -EINVAL);
	memcpy(&bind.addr, &addr, sizeof(bind.addr));
	bind.addr_size = 15;
	KUNIT_EXPECT_EQ(test, chan_do(chan, BIND, bind, 0), -EINVAL);
	bind.addr_size = 16;
	bind.reserved = 1;
	KUNIT_EXPECT_EQ(test, chan_do(chan, BIND, bind, 0), -EINVAL);

	resolve.id = id;
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), -EINVAL);
	memcpy(&resolve.dst_addr, &addr, sizeof(resolve.dst_addr));
	resolve.src_size = 16;
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), -EINVAL);
	resolve.src_size = 0;
	resolve.reserved = 1;
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), -EINVAL);
	resolve.reserved = 0;
	resolve.dst_size = 0;
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), -EINVAL);
}

/* A source address counts by its family, whether or not its size is told. */
static void a_source_without_a_size(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct chan *chan = &host->client;
	struct rdma_ucm_resolve_addr resolve = { .dst_size = 16, .timeout_ms = 1000 };
	struct sockaddr_storage addr;

	KUNIT_ASSERT_EQ(test, chan_create(chan, RDMA_PS_TCP, 'C', &resolve.id), 0);
	cma_sin(&addr, host->pair.server.ip4, 1);
	memcpy(&resolve.dst_addr, &addr, sizeof(resolve.dst_addr));
	/* 203.0.113.9 is no address of this host. */
	cma_sin(&addr, htonl(0xcb007109), 0);
	memcpy(&resolve.src_addr, &addr, sizeof(resolve.src_addr));
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), -EADDRNOTAVAIL);
	resolve.src_addr.ss_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), -EINVAL);
	cma_sin(&addr, host->pair.client.ip4, 0);
	memcpy(&resolve.src_addr, &addr, sizeof(resolve.src_addr));
	KUNIT_EXPECT_EQ(test, chan_do(chan, RESOLVE_ADDR, resolve, 0), 0);
	KUNIT_EXPECT_TRUE(test, chan_expect(test, chan, RDMA_CM_EVENT_ADDR_RESOLVED, NULL));
}

static void port_spaces(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id;

	KUNIT_EXPECT_EQ(test, chan_create(&host->client, 0, 'C', &id), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_create(&host->client, 0x55, 'C', &id), -EINVAL);
	KUNIT_EXPECT_EQ(test, chan_create(&host->client, RDMA_PS_IB, 'C', &id), 0);
	KUNIT_EXPECT_EQ(test, chan_create(&host->client, RDMA_PS_IPOIB, 'C', &id), 0);
}

/* If the response cannot be written, there is no id. */
static void an_id_that_cannot_be_told(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	u32 id, next;

	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
	host->client.bad_resp = true;
	KUNIT_EXPECT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &next), -EFAULT);
	host->client.bad_resp = false;
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id + 1, NULL), -ENOENT);
	KUNIT_ASSERT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &next), 0);
	KUNIT_EXPECT_EQ(test, next, id + 1);
	/* A destruction takes effect even if its response cannot be written. */
	host->client.bad_resp = true;
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, NULL), -EFAULT);
	host->client.bad_resp = false;
	KUNIT_EXPECT_EQ(test, chan_destroy(&host->client, id, NULL), -ENOENT);
}

/* Programs newer than this ABI send more, older ones less. */
static void lengths_of_other_programs(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	struct rdma_ucm_event_resp event;
	struct {
		struct rdma_ucm_connect cmd;
		u8 more[32];
	} connect = { .cmd.conn_param = { .valid = 1, .retry_count = 7,
					    .qp_num = 0x123 },
		      .cmd.ece.vendor_id = 1 };
	struct rdma_ucm_get_event get = { .response = chan_resp_at(&host->server) };

	listen_up(test, RDMA_PS_TCP, 8);
	resolve_up(test, RDMA_PS_TCP);
	connect.cmd.id = host->id;
	KUNIT_ASSERT_EQ(test, chan_write(&host->client, RDMA_USER_CM_CMD_CONNECT, &connect,
					 offsetof(struct rdma_ucm_connect, ece), 0), 0);
	KUNIT_ASSERT_TRUE(test, chan_expect(test, &host->server,
					    RDMA_CM_EVENT_CONNECT_REQUEST, &event));
	KUNIT_EXPECT_EQ(test, event.ece.vendor_id, 0);

	connect.cmd.id = resolve_one(test, RDMA_PS_TCP, 'D');
	connect.cmd.conn_param.qp_num++;
	KUNIT_ASSERT_EQ(test, chan_write(&host->client, RDMA_USER_CM_CMD_CONNECT, &connect,
					 sizeof(connect), 0), 0);
	msleep(1000);
	/* The response is written only as far as there is room. */
	KUNIT_ASSERT_EQ(test, clear_user((void __user *)chan_resp_at(&host->server),
					 sizeof(event)), 0ul);
	KUNIT_ASSERT_EQ(test, chan_do(&host->server, GET_EVENT, get, UCM_EVENT_MIN), 0);
	chan_resp(&host->server, &event, sizeof(event));
	KUNIT_EXPECT_EQ(test, event.event, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, event.ece.vendor_id, 0);
}

static void who_did_not_open_it_does_not_write(struct kunit *test)
{
	struct ucm_hosts *host = test->priv;
	const struct cred *old = user_drop_ipc_lock(test);
	u32 id;

	KUNIT_EXPECT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), -EACCES);
	user_restore(old);
	KUNIT_EXPECT_EQ(test, chan_create(&host->client, RDMA_PS_TCP, 'C', &id), 0);
}

static struct kunit_case input_cases[] = {
	KUNIT_CASE(what_is_no_command),
	KUNIT_CASE(a_body_outside_of_memory),
	KUNIT_CASE(each_command_too_short),
	KUNIT_CASE(each_response_too_short),
	KUNIT_CASE(each_command_for_an_id_that_is_not),
	KUNIT_CASE(each_command_for_another_files_id),
	KUNIT_CASE(commands_in_the_wrong_state),
	KUNIT_CASE(addresses_that_do_not_fit),
	KUNIT_CASE(a_source_without_a_size),
	KUNIT_CASE(port_spaces),
	KUNIT_CASE(an_id_that_cannot_be_told),
	KUNIT_CASE(lengths_of_other_programs),
	KUNIT_CASE(who_did_not_open_it_does_not_write),
	{}
};

static struct kunit_suite ucm_input_suite = {
	.name = "ucm_input",
	.init = hosts_init,
	.exit = hosts_exit,
	.test_cases = input_cases,
};

kunit_test_suite(ucm_input_suite);
