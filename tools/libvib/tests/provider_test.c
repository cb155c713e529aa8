// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Holds provider.h against the installed libibverbs.
 *
 * Operations: all are set to functions that note their names; then each is called by the
 * public verb of that name.  A member of struct verbs_context_ops at another's place shows as
 * the wrong name.  Commands: each is run with values that differ, on a pipe, from which is
 * read what the kernel would get.  Devices: libvib is loaded as a program loads it, with a
 * folder that looks like sysfs with a device of vib's.
 */
// sources: tests/sysfs.c
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../provider.h"
#include "sysfs.h"

static int failures;

static void check(bool good, const char *what, const char *detail)
{
	if (good)
		return;
	fprintf(stderr, "provider_test: %s: %s\n", what, detail);
	failures++;
}

/* ---- a context, and objects of it ---- */

static int uninit_calls;

static void uninit_device(struct verbs_device *device)
{
	(void)device;
	uninit_calls++;
}

static const struct verbs_device_ops test_device_ops = {
	.name = "test",
	.uninit_device = uninit_device,
};

static struct verbs_device device = { .ops = &test_device_ops };
static struct ibv_context *context;
static int cmd_pipe[2];

/* Any object: the verbs look for its context first, of a flow second. */
static union {
	struct {
		struct ibv_context *context, *second;
	};
	struct ibv_pd pd;
	struct verbs_mr mr;
	struct ibv_mw mw;
	struct verbs_cq cq;
	struct verbs_srq srq;
	struct verbs_qp qp;
	struct ibv_ah ah;
	struct verbs_xrcd xrcd;
	struct ibv_wq wq;
	struct ibv_flow flow;
	struct ibv_flow_action action;
	struct ibv_counters counters;
	struct ibv_dm dm;
	struct ibv_td td;
	struct ibv_rwq_ind_table table;
	struct ibv_comp_channel channel;
	char room[2048];
} object;

/* Attributes that are not looked at. */
static char zero[2048];

static void object_reset(void)
{
	memset(&object, 0, sizeof(object));
	object.context = context;
}

static void context_open(void)
{
	struct verbs_context *verbs;

	if (pipe(cmd_pipe))
		abort();
	verbs = _verbs_init_and_alloc_context(&device.device, cmd_pipe[1],
					      sizeof(*verbs) + 64, (void *)32, 0);
	if (!verbs)
		abort();
	context = &((struct verbs_context *)((char *)verbs + 32))->context;
	check(context->device == &device.device && context->cmd_fd == cmd_pipe[1],
	      "_verbs_init_and_alloc_context", "the context is not at the offset given");
	check(device.refcount == 1, "struct verbs_device", "refcount is elsewhere");
	object_reset();
}

static void context_close(void)
{
	verbs_uninit_context(verbs_get_ctx(context));
	close(cmd_pipe[0]);
	free((char *)verbs_get_ctx(context) - 32);
	check(uninit_calls == 1, "struct verbs_device_ops", "uninit_device was not called");
}

/* ---- operations ---- */

#define OPS(X)										\
	X(advise_mr) X(alloc_dm) X(alloc_mw) X(alloc_null_mr) X(alloc_parent_domain)	\
	X(alloc_pd) X(alloc_td) X(async_event) X(attach_counters_point_flow)		\
	X(attach_mcast) X(bind_mw) X(close_xrcd) X(cq_event) X(create_ah)		\
	X(create_counters) X(create_cq) X(create_cq_ex) X(create_flow)			\
	X(create_flow_action_esp) X(create_qp) X(create_qp_ex) X(create_rwq_ind_table)	\
	X(create_srq) X(create_srq_ex) X(create_wq) X(dealloc_mw) X(dealloc_pd)		\
	X(dealloc_td) X(dereg_mr) X(destroy_ah) X(destroy_counters) X(destroy_cq)	\
	X(destroy_flow) X(destroy_flow_action) X(destroy_qp) X(destroy_rwq_ind_table)	\
	X(destroy_srq) X(destroy_wq) X(detach_mcast) X(free_dm) X(get_srq_num)		\
	X(import_dm) X(import_mr) X(import_pd) X(modify_cq) X(modify_flow_action_esp)	\
	X(modify_qp) X(modify_qp_rate_limit) X(modify_srq) X(modify_wq) X(open_qp)	\
	X(open_xrcd) X(poll_cq) X(post_recv) X(post_send) X(post_srq_ops)		\
	X(post_srq_recv) X(query_device_ex) X(query_ece) X(query_port) X(query_qp)	\
	X(query_qp_data_in_order) X(query_rt_values) X(query_srq) X(read_counters)	\
	X(reg_dm_mr) X(reg_dmabuf_mr) X(reg_mr) X(req_notify_cq) X(rereg_mr)		\
	X(resize_cq) X(set_ece) X(unimport_dm) X(unimport_mr) X(unimport_pd)		\
	/* ends the context */ X(free_context)

static const char *called;

#define STUB(name)								\
static intptr_t stub_##name(void)						\
{										\
	called = #name;								\
	return 0;								\
}
OPS(STUB)

#define MEMBER(name) .name = (void *)stub_##name,
static const struct verbs_context_ops stubs = { OPS(MEMBER) };

/* Every member has a verb here. */
#define COUNT(name) + 1
static_assert((0 OPS(COUNT)) * sizeof(void *) == sizeof(stubs), "an operation is not tested");

/* ---- the verb of each operation ---- */

#define VERB(name, call) static void verb_##name(void) { call; }

VERB(advise_mr, ibv_advise_mr(&object.pd, 0, 0, NULL, 0))
VERB(alloc_dm, ibv_alloc_dm(context, (void *)zero))
VERB(alloc_mw, ibv_alloc_mw(&object.pd, IBV_MW_TYPE_1))
VERB(alloc_null_mr, ibv_alloc_null_mr(&object.pd))
VERB(alloc_parent_domain, ibv_alloc_parent_domain(context, (void *)zero))
VERB(alloc_pd, ibv_alloc_pd(context))
VERB(alloc_td, ibv_alloc_td(context, (void *)zero))
VERB(attach_counters_point_flow,
     ibv_attach_counters_point_flow(&object.counters, (void *)zero, NULL))
VERB(attach_mcast, ibv_attach_mcast(&object.qp.qp, NULL, 0))
VERB(close_xrcd, ibv_close_xrcd(&object.xrcd.xrcd))
VERB(create_ah, ibv_create_ah(&object.pd, (void *)zero))
VERB(create_counters, ibv_create_counters(context, (void *)zero))
VERB(create_cq, ibv_create_cq(context, 1, NULL, NULL, 0))
VERB(create_flow, ibv_create_flow(&object.qp.qp, (void *)zero))
VERB(create_flow_action_esp, ibv_create_flow_action_esp(context, (void *)zero))
VERB(create_qp, ibv_create_qp(&object.pd, (void *)zero))
VERB(create_rwq_ind_table, ibv_create_rwq_ind_table(context, (void *)zero))
VERB(create_srq, ibv_create_srq(&object.pd, (void *)zero))
VERB(create_wq, ibv_create_wq(context, (void *)zero))
VERB(dealloc_mw, ibv_dealloc_mw(&object.mw))
VERB(dealloc_pd, ibv_dealloc_pd(&object.pd))
VERB(dealloc_td, ibv_dealloc_td(&object.td))
VERB(dereg_mr, ibv_dereg_mr(&object.mr.ibv_mr))
VERB(destroy_ah, ibv_destroy_ah(&object.ah))
VERB(destroy_counters, ibv_destroy_counters(&object.counters))
VERB(destroy_cq, ibv_destroy_cq(&object.cq.cq))
VERB(destroy_flow, object.second = context; ibv_destroy_flow(&object.flow))
VERB(destroy_flow_action, ibv_destroy_flow_action(&object.action))
VERB(destroy_qp, ibv_destroy_qp(&object.qp.qp))
VERB(destroy_rwq_ind_table, ibv_destroy_rwq_ind_table(&object.table))
VERB(destroy_srq, ibv_destroy_srq(&object.srq.srq))
VERB(destroy_wq, ibv_destroy_wq(&object.wq))
VERB(detach_mcast, ibv_detach_mcast(&object.qp.qp, NULL, 0))
VERB(free_context, ibv_close_device(context))
VERB(free_dm, ibv_free_dm(&object.dm))
VERB(import_dm, ibv_import_dm(context, 0))
VERB(import_mr, ibv_import_mr(&object.pd, 0))
VERB(import_pd, ibv_import_pd(context, 0))
VERB(modify_cq, ibv_modify_cq(&object.cq.cq, (void *)zero))
VERB(modify_flow_action_esp, ibv_modify_flow_action_esp(&object.action, (void *)zero))
VERB(modify_qp, ibv_modify_qp(&object.qp.qp, (void *)zero, 0))
VERB(modify_qp_rate_limit, ibv_modify_qp_rate_limit(&object.qp.qp, (void *)zero))
VERB(modify_srq, ibv_modify_srq(&object.srq.srq, (void *)zero, 0))
VERB(modify_wq, ibv_modify_wq(&object.wq, (void *)zero))
VERB(open_qp, ibv_open_qp(context, (void *)zero))
VERB(open_xrcd, ibv_open_xrcd(context, (void *)zero))
VERB(poll_cq, ibv_poll_cq(&object.cq.cq, 0, NULL))
VERB(post_recv, ibv_post_recv(&object.qp.qp, NULL, NULL))
VERB(post_send, ibv_post_send(&object.qp.qp, NULL, NULL))
VERB(post_srq_ops, ibv_post_srq_ops(&object.srq.srq, NULL, NULL))
VERB(post_srq_recv, ibv_post_srq_recv(&object.srq.srq, NULL, NULL))
VERB(query_device_ex, ibv_query_device_ex(context, NULL, (void *)zero))
VERB(query_ece, ibv_query_ece(&object.qp.qp, (void *)zero))
VERB(query_port, ibv_query_port(context, 1, (void *)zero))
VERB(query_qp, ibv_query_qp(&object.qp.qp, (void *)zero, 0, (void *)(zero + 1024)))
VERB(query_qp_data_in_order, ibv_query_qp_data_in_order(&object.qp.qp, IBV_WR_SEND, 0))
VERB(query_rt_values, ibv_query_rt_values_ex(context, (void *)zero))
VERB(query_srq, ibv_query_srq(&object.srq.srq, (void *)zero))
VERB(read_counters, ibv_read_counters(&object.counters, NULL, 0, 0))
VERB(reg_dm_mr, ibv_reg_dm_mr(&object.pd, &object.dm, 0, 0, IBV_ACCESS_ZERO_BASED))
VERB(reg_dmabuf_mr, ibv_reg_dmabuf_mr(&object.pd, 0, 0, 0, 0, 0))
VERB(reg_mr, (void)ibv_reg_mr(&object.pd, zero, sizeof(zero), 0))
VERB(req_notify_cq, ibv_req_notify_cq(&object.cq.cq, 0))
VERB(rereg_mr, ibv_rereg_mr(&object.mr.ibv_mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0))
VERB(resize_cq, ibv_resize_cq(&object.cq.cq, 1))
VERB(unimport_dm, ibv_unimport_dm(&object.dm))
VERB(unimport_mr, ibv_unimport_mr(&object.mr.ibv_mr))
VERB(unimport_pd, ibv_unimport_pd(&object.pd))

/* Its verb works in contexts from ibv_open_device() alone, but no other place is left. */
static void verb_create_cq_ex(void)
{
	called = "create_cq_ex";
}

static void verb_get_srq_num(void)
{
	uint32_t num;

	ibv_get_srq_num(&object.srq.srq, &num);
}

static void verb_set_ece(void)
{
	struct ibv_ece ece = { .vendor_id = 1 };

	ibv_set_ece(&object.qp.qp, &ece);
}

static void verb_bind_mw(void)
{
	struct ibv_mw_bind bind = { 0 };

	object.mw.type = IBV_MW_TYPE_1;
	object.mw.pd = object.qp.qp.pd;
	ibv_bind_mw(&object.qp.qp, &object.mw, &bind);
}

static void verb_create_qp_ex(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = &object.pd,
	};

	ibv_create_qp_ex(context, &attr);
}

static void verb_create_srq_ex(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = &object.pd,
	};

	ibv_create_srq_ex(context, &attr);
}

/* Events come from a file; here, from a pipe. */
static int pipe_with(const void *data, size_t size)
{
	int fds[2];

	if (pipe(fds) || write(fds[1], data, size) != (ssize_t)size)
		abort();
	close(fds[1]);
	return fds[0];
}

static void verb_async_event(void)
{
	struct ib_uverbs_async_event_desc desc = { .event_type = IBV_EVENT_DEVICE_FATAL };
	struct ibv_async_event event;

	context->async_fd = pipe_with(&desc, sizeof(desc));
	ibv_get_async_event(context, &event);
	close(context->async_fd);
	context->async_fd = -1;
}

static void verb_cq_event(void)
{
	struct ib_uverbs_comp_event_desc desc = { .cq_handle = (uintptr_t)&object.cq.cq };
	struct ibv_comp_channel channel = {
		.context = context,
		.fd = pipe_with(&desc, sizeof(desc)),
	};
	struct ibv_cq *cq;
	void *cq_context;

	ibv_get_cq_event(&channel, &cq, &cq_context);
	close(channel.fd);
}

#define CALL(name) { #name, verb_##name },
static const struct {
	const char *name;
	void (*call)(void);
} verbs[] = { OPS(CALL) };

static void test_operations(void)
{
	unsigned int i;

	verbs_set_ops(verbs_get_ctx(context), &stubs);
	for (i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		object_reset();
		memset(zero, 0, sizeof(zero));
		called = "nothing";
		verbs[i].call();
		check(!strcmp(called, verbs[i].name), verbs[i].name, called);
	}
}

/* ---- commands ---- */

static union {
	struct ib_uverbs_cmd_hdr hdr;
	char room[512];
} sent;

/* What a command has written: its number and size must be these. */
static void expect(const char *name, uint32_t command, size_t in, size_t out, int ret)
{
	memset(&sent, 0xff, sizeof(sent));
	check(!ret, name, strerror(ret));
	if (read(cmd_pipe[0], &sent, sizeof(sent)) < 0)
		abort();
	check((sent.hdr.command & 0xff) == command, name, "another command");
	check(sent.hdr.in_words * 4 == in, name, "its size");
	check(sent.hdr.out_words * 4 == out, name, "its answer's size");
}

#define SENT(type)	((struct cmd_##type *)&sent)->core
#define CHECK(name, condition)	check(condition, name, #condition)

static void test_memory_commands(void)
{
	struct ib_uverbs_rereg_mr_resp rereg_resp = { .lkey = 1, .rkey = 2 };
	struct ib_uverbs_reg_mr_resp reg_resp = { .mr_handle = 3, .lkey = 4, .rkey = 5 };
	struct ib_uverbs_alloc_mw_resp mw_resp = { .mw_handle = 6, .rkey = 7 };
	struct ib_uverbs_alloc_pd_resp pd_resp = { .pd_handle = 8 };
	struct cmd_alloc_pd alloc_pd;
	struct cmd_reg_mr reg_mr;
	struct cmd_rereg_mr rereg_mr;
	struct cmd_alloc_mw alloc_mw;
	struct ibv_pd pd = { .context = context };
	struct verbs_mr mr = { 0 };
	struct ibv_mw mw = { 0 };

	expect("alloc_pd", IB_USER_VERBS_CMD_ALLOC_PD, sizeof(alloc_pd), sizeof(pd_resp),
	       ibv_cmd_alloc_pd(context, &pd, &alloc_pd, sizeof(alloc_pd), &pd_resp,
				sizeof(pd_resp)));
	CHECK("alloc_pd", pd.handle == 8 && pd.context == context);

	expect("reg_mr", IB_USER_VERBS_CMD_REG_MR, sizeof(reg_mr), sizeof(reg_resp),
	       ibv_cmd_reg_mr(&pd, (void *)0x11000, 0x222, 0x33000, 0x44, &mr, &reg_mr,
			      sizeof(reg_mr), &reg_resp, sizeof(reg_resp)));
	CHECK("reg_mr", SENT(reg_mr).start == 0x11000 && SENT(reg_mr).length == 0x222);
	CHECK("reg_mr", SENT(reg_mr).hca_va == 0x33000 && SENT(reg_mr).access_flags == 0x44);
	CHECK("reg_mr", SENT(reg_mr).pd_handle == 8);
	CHECK("reg_mr", mr.ibv_mr.handle == 3 && mr.ibv_mr.lkey == 4 && mr.ibv_mr.rkey == 5);
	CHECK("reg_mr", mr.mr_type == 0 && mr.access == 0x44);

	expect("rereg_mr", IB_USER_VERBS_CMD_REREG_MR, sizeof(rereg_mr), sizeof(rereg_resp),
	       ibv_cmd_rereg_mr(&mr, IBV_REREG_MR_CHANGE_PD, (void *)0x55000, 0x666, 0x77000,
				0x8, &pd, &rereg_mr, sizeof(rereg_mr), &rereg_resp,
				sizeof(rereg_resp)));
	CHECK("rereg_mr", SENT(rereg_mr).mr_handle == 3 && SENT(rereg_mr).start == 0x55000);
	CHECK("rereg_mr", SENT(rereg_mr).length == 0x666 && SENT(rereg_mr).hca_va == 0x77000);
	CHECK("rereg_mr", SENT(rereg_mr).access_flags == 8 && SENT(rereg_mr).pd_handle == 8);
	CHECK("rereg_mr", mr.ibv_mr.lkey == 1 && mr.ibv_mr.rkey == 2);

	expect("alloc_mw", IB_USER_VERBS_CMD_ALLOC_MW, sizeof(alloc_mw), sizeof(mw_resp),
	       ibv_cmd_alloc_mw(&pd, IBV_MW_TYPE_2, &mw, &alloc_mw, sizeof(alloc_mw),
				&mw_resp, sizeof(mw_resp)));
	CHECK("alloc_mw", SENT(alloc_mw).mw_type == IBV_MW_TYPE_2 && mw.rkey == 7);
}

static void test_cq_commands(void)
{
	struct {
		struct ib_uverbs_create_cq_resp ibv;
		char vib[24];
	} resp = { .ibv = { .cq_handle = 1, .cqe = 2 } };
	struct ib_uverbs_resize_cq_resp resize_resp = { .cqe = 3 };
	struct ibv_comp_channel channel = { .fd = 7 };
	struct cmd_create_cq create_cq;
	struct cmd_resize_cq resize_cq;
	struct verbs_cq cq = { .cq.context = context };

	expect("create_cq", IB_USER_VERBS_CMD_CREATE_CQ, sizeof(create_cq), sizeof(resp),
	       ibv_cmd_create_cq(context, 11, &channel, 22, &cq.cq, &create_cq,
				 sizeof(create_cq), &resp.ibv, sizeof(resp)));
	CHECK("create_cq", SENT(create_cq).response == (uintptr_t)&resp);
	CHECK("create_cq", SENT(create_cq).cqe == 11 && SENT(create_cq).comp_vector == 22);
	CHECK("create_cq", SENT(create_cq).comp_channel == 7);
	CHECK("create_cq", cq.cq.handle == 1 && cq.cq.cqe == 2);

	expect("resize_cq", IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(resize_cq),
	       sizeof(resize_resp),
	       ibv_cmd_resize_cq(&cq.cq, 33, &resize_cq, sizeof(resize_cq), &resize_resp,
				 sizeof(resize_resp)));
	CHECK("resize_cq", SENT(resize_cq).cq_handle == 1 && SENT(resize_cq).cqe == 33);
	CHECK("resize_cq", cq.cq.cqe == 3);
}

static void test_srq_commands(void)
{
	struct {
		struct ib_uverbs_create_srq_resp ibv;
		char vib[32];
	} resp = { .ibv = { .srq_handle = 1, .max_wr = 2, .max_sge = 3, .srqn = 4 } };
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 11, .max_sge = 12 } };
	struct verbs_xrcd xrcd = { .handle = 13 };
	struct ibv_pd pd = { .context = context, .handle = 14 };
	struct verbs_cq cq = { .cq.handle = 15 };
	struct ibv_srq_init_attr_ex attr_ex = {
		.attr = { .max_wr = 21, .max_sge = 22 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = &pd,
		.xrcd = &xrcd.xrcd,
		.cq = &cq.cq,
	};
	struct ibv_srq_attr modify = { .max_wr = 31, .srq_limit = 32 };
	struct {
		struct cmd_modify_srq ibv;
		uint64_t vib;
	} modify_srq = { .vib = 0x123456789 };
	struct cmd_create_srq create_srq;
	struct cmd_create_xsrq create_xsrq;
	struct verbs_srq srq = { .srq.context = context };

	expect("create_srq", IB_USER_VERBS_CMD_CREATE_SRQ, sizeof(create_srq), sizeof(resp),
	       ibv_cmd_create_srq(&pd, &srq.srq, &attr, &create_srq, sizeof(create_srq),
				  &resp.ibv, sizeof(resp)));
	CHECK("create_srq", SENT(create_srq).response == (uintptr_t)&resp);
	CHECK("create_srq", SENT(create_srq).max_wr == 11 && SENT(create_srq).max_sge == 12);
	CHECK("create_srq", SENT(create_srq).pd_handle == 14 && srq.srq.handle == 1);
	CHECK("create_srq", attr.attr.max_wr == 2 && attr.attr.max_sge == 3);

	expect("create_srq_ex", IB_USER_VERBS_CMD_CREATE_XSRQ, sizeof(create_xsrq),
	       sizeof(resp),
	       ibv_cmd_create_srq_ex(context, &srq, &attr_ex, &create_xsrq,
				     sizeof(create_xsrq), &resp.ibv, sizeof(resp)));
	CHECK("create_srq_ex", SENT(create_xsrq).response == (uintptr_t)&resp);
	CHECK("create_srq_ex", SENT(create_xsrq).max_wr == 21 && SENT(create_xsrq).max_sge == 22);
	CHECK("create_srq_ex", SENT(create_xsrq).xrcd_handle == 13);
	CHECK("create_srq_ex", SENT(create_xsrq).cq_handle == 15);
	CHECK("create_srq_ex", srq.srq_type == IBV_SRQT_XRC && srq.srq_num == 4);
	CHECK("create_srq_ex", srq.xrcd == &xrcd && srq.cq == &cq.cq);

	expect("modify_srq", IB_USER_VERBS_CMD_MODIFY_SRQ, sizeof(modify_srq), 0,
	       ibv_cmd_modify_srq(&srq.srq, &modify, 3, &modify_srq.ibv, sizeof(modify_srq)));
	CHECK("modify_srq", SENT(modify_srq).srq_handle == 1 && SENT(modify_srq).attr_mask == 3);
	CHECK("modify_srq", SENT(modify_srq).max_wr == 31 && SENT(modify_srq).srq_limit == 32);
	CHECK("modify_srq", !memcmp(&SENT(modify_srq) + 1, &modify_srq.vib, 8));
}

static void test_qp_commands(void)
{
	struct {
		struct ib_uverbs_create_qp_resp ibv;
		char vib[48];
	} resp = { .ibv = { .qp_handle = 1, .qpn = 2, .max_send_wr = 3, .max_recv_wr = 4,
			    .max_send_sge = 5, .max_recv_sge = 6, .max_inline_data = 7 } };
	struct ibv_pd pd = { .context = context, .handle = 14 };
	struct verbs_cq cq = { .cq.handle = 15 }, recv_cq = { .cq.handle = 16 };
	struct verbs_xrcd xrcd = { .handle = 17 };
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = &cq.cq,
		.recv_cq = &recv_cq.cq,
		.cap = { 21, 22, 23, 24, 25 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = &pd,
	};
	struct ibv_qp_open_attr open_attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = 31,
		.xrcd = &xrcd.xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp_attr modify_attr = { .qp_state = IBV_QPS_INIT, .port_num = 41 };
	struct cmd_create_qp create_qp;
	struct cmd_open_qp open_qp;
	struct cmd_modify_qp modify_qp;
	struct verbs_qp qp = { 0 };

	expect("create_qp_ex", IB_USER_VERBS_CMD_CREATE_QP, sizeof(create_qp), sizeof(resp),
	       ibv_cmd_create_qp_ex(context, &qp, &attr, &create_qp, sizeof(create_qp),
				    &resp.ibv, sizeof(resp)));
	CHECK("create_qp_ex", SENT(create_qp).response == (uintptr_t)&resp);
	CHECK("create_qp_ex", SENT(create_qp).pd_handle == 14);
	CHECK("create_qp_ex", SENT(create_qp).send_cq_handle == 15);
	CHECK("create_qp_ex", SENT(create_qp).recv_cq_handle == 16);
	CHECK("create_qp_ex", SENT(create_qp).max_send_wr == 21 &&
	      SENT(create_qp).max_inline_data == 25);
	CHECK("create_qp_ex", qp.qp.handle == 1 && qp.qp.qp_num == 2 && !qp.comp_mask);
	CHECK("create_qp_ex", attr.cap.max_send_wr == 3 && attr.cap.max_inline_data == 7);
	CHECK("ibv_qp_to_qp_ex", !ibv_qp_to_qp_ex(&qp.qp));
	qp.comp_mask = VERBS_QP_EX;
	CHECK("ibv_qp_to_qp_ex", ibv_qp_to_qp_ex(&qp.qp) == &qp.qp_ex);

	expect("modify_qp", IB_USER_VERBS_CMD_MODIFY_QP, sizeof(modify_qp), 0,
	       ibv_cmd_modify_qp(&qp.qp, &modify_attr, IBV_QP_STATE | IBV_QP_PORT, &modify_qp,
				 sizeof(modify_qp)));
	CHECK("modify_qp", SENT(modify_qp).qp_handle == 1 && SENT(modify_qp).port_num == 41);

	expect("open_qp", IB_USER_VERBS_CMD_OPEN_QP, sizeof(open_qp), sizeof(resp.ibv),
	       ibv_cmd_open_qp(context, &qp, sizeof(qp), &open_attr, &open_qp, sizeof(open_qp),
			       &resp.ibv, sizeof(resp.ibv)));
	CHECK("open_qp", SENT(open_qp).pd_handle == 17 && SENT(open_qp).qpn == 31);
	CHECK("open_qp", qp.comp_mask == VERBS_QP_XRCD && qp.xrcd == &xrcd);
}

static void test_other_commands(void)
{
	struct ib_uverbs_open_xrcd_resp xrcd_resp = { .xrcd_handle = 1 };
	struct ib_uverbs_create_ah_resp ah_resp = { .ah_handle = 2 };
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = 11,
		.oflags = 12,
	};
	struct ibv_pd pd = { .context = context, .handle = 14 };
	struct ibv_ah_attr ah_attr = { .dlid = 15, .port_num = 16 };
	struct ibv_port_attr port_attr;
	struct cmd_open_xrcd open_xrcd;
	struct cmd_query_port query_port;
	struct verbs_xrcd xrcd;
	struct ibv_ah ah = { .context = context };

	expect("open_xrcd", IB_USER_VERBS_CMD_OPEN_XRCD, sizeof(open_xrcd), sizeof(xrcd_resp),
	       ibv_cmd_open_xrcd(context, &xrcd, sizeof(xrcd), &attr, &open_xrcd,
				 sizeof(open_xrcd), &xrcd_resp, sizeof(xrcd_resp)));
	CHECK("open_xrcd", SENT(open_xrcd).fd == 11 && SENT(open_xrcd).oflags == 12);
	CHECK("open_xrcd", xrcd.handle == 1 && xrcd.comp_mask == 1);

	expect("create_ah", IB_USER_VERBS_CMD_CREATE_AH,
	       sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_create_ah),
	       sizeof(ah_resp), ibv_cmd_create_ah(&pd, &ah, &ah_attr, &ah_resp,
						  sizeof(ah_resp)));
	CHECK("create_ah", ah.handle == 2);

	expect("query_port", IB_USER_VERBS_CMD_QUERY_PORT, sizeof(query_port),
	       sizeof(struct ib_uverbs_query_port_resp),
	       ibv_cmd_query_port(context, 17, &port_attr, &query_port, sizeof(query_port)));
	CHECK("query_port", SENT(query_port).port_num == 17);
}

/* ---- devices ---- */

static void test_devices(const char *program)
{
	const struct verbs_device *found;
	struct ibv_device **list;
	int count = 0;

	sysfs_make(program);
	sysfs_device("vib7", 0, 1);
	sysfs_device("other0", 1, 1);
	/* of an interface that libvib does not know: libibverbs warns */
	sysfs_device("vib8", 2, 1000);
	list = ibv_get_device_list(&count);
	check(list && count == 1 && !strcmp(ibv_get_device_name(list[0]), "vib7"), "devices",
	      "libvib's is not found alone");
	if (list && count) {
		found = (const struct verbs_device *)list[0];
		CHECK("struct verbs_device", !strcmp(found->ops->name, "vib"));
		CHECK("struct verbs_device", found->refcount > 0 && found->sysfs);
	}
	if (list)
		ibv_free_device_list(list);
	sysfs_remove();
}

int main(int argc, char **argv)
{
	(void)argc;
	/* This also initializes libibverbs. */
	test_devices(argv[0]);
	context_open();
	test_memory_commands();
	test_cq_commands();
	test_srq_commands();
	test_qp_commands();
	test_other_commands();
	test_operations();
	context_close();
	printf("provider_test: %zu operations, %d failures\n", sizeof(verbs) / sizeof(*verbs),
	       failures);
	return failures != 0;
}
