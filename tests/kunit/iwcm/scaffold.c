// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The adapter, its provider and the consumer of the iWARP CM's suites. */
#include <linux/fs.h>
#include <linux/inet.h>
#include "iwcm_test.h"

struct iw_test it;

static char iw_letter(const struct iw_cm_event *event)
{
	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REQUEST:
		return 'Q';
	case IW_CM_EVENT_CONNECT_REPLY:
		return event->status ? 'p' : 'P';
	case IW_CM_EVENT_ESTABLISHED:
		return 'U';
	case IW_CM_EVENT_DISCONNECT:
		return 'D';
	case IW_CM_EVENT_CLOSE:
		return 'C';
	default:
		return '?';
	}
}

static void iw_record(const struct iw_cm_event *event)
{
	int n = atomic_read(&it.nr_events);

	it.last = *event;
	memset(it.private_data, 0, sizeof(it.private_data));
	if (event->private_data)
		memcpy(it.private_data, event->private_data,
		       event->private_data_len);
	if (n < (int)sizeof(it.events) - 1)
		it.events[n] = iw_letter(event);
	atomic_inc(&it.nr_events);
}

static int iw_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	char letter = iw_letter(event);
	int ret = 0;

	if (letter == 'Q') {
		if (it.nr_requests < IW_MANY)
			it.requests[it.nr_requests++] = cm_id;
		it.id = cm_id;
		ret = it.on_request;
	}
	WRITE_ONCE(it.in_handler, true);
	if (it.slow)
		msleep(200);
	if (letter == it.destroy_on) {
		it.id = NULL;
		iw_destroy_cm_id(cm_id);
	}
	if (letter == it.fail_on) {
		it.id = NULL;
		ret = -ECANCELED;
	}
	iw_record(event);
	WRITE_ONCE(it.in_handler, false);
	return ret;
}

static int iw_verb(struct fake_hca *hca, enum fake_iw_verb verb,
		   struct iw_cm_id *cm_id, const struct iw_cm_conn_param *param,
		   void *arg)
{
	if (param) {
		it.qpn = param->qpn;
		it.ord = param->ord;
		it.ird = param->ird;
		it.sent_len = param->private_data_len;
		memset(it.sent, 0, sizeof(it.sent));
		if (param->private_data)
			memcpy(it.sent, param->private_data, it.sent_len);
	}
	if (verb == FAKE_IW_CONNECT || verb == FAKE_IW_ACCEPT) {
		cm_id->add_ref(cm_id);
		it.held = cm_id;
	}
	if (it.during[verb])
		it.during[verb](cm_id);
	if (it.answer[verb] &&
	    (verb == FAKE_IW_CONNECT || verb == FAKE_IW_ACCEPT))
		iw_let_go();
	return it.answer[verb];
}

void iw_let_go(void)
{
	struct iw_cm_id *cm_id = it.held;

	it.held = NULL;
	if (cm_id)
		cm_id->rem_ref(cm_id);
}

int iw_init(struct kunit *test)
{
	struct fake_hca_params params = {
		.link_layer = IB_LINK_LAYER_ETHERNET,
		.iwarp = true,
	};
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	memset(&it, 0, sizeof(it));
	it.ndev = fake_netdev_create("fnet%d");
	if (!it.ndev)
		return -ENOMEM;
	params.ndev = it.ndev;
	it.hca = fake_hca_create(&params);
	if (!it.hca)
		return -ENOMEM;
	it.hca->iw_verb = iw_verb;
	it.pd = ib_alloc_pd(&it.hca->ibdev, 0);
	if (IS_ERR(it.pd))
		return PTR_ERR(it.pd);
	it.cq = ib_alloc_cq(&it.hca->ibdev, NULL, 8, 0, IB_POLL_DIRECT);
	if (IS_ERR(it.cq))
		return PTR_ERR(it.cq);
	attr.send_cq = it.cq;
	attr.recv_cq = it.cq;
	it.qp = ib_create_qp(it.pd, &attr);
	return PTR_ERR_OR_ZERO(it.qp);
}

/* Destroys what a case left alive, in an order that consumers use. */
void iw_exit(struct kunit *test)
{
	if (IS_ERR_OR_NULL(it.qp))
		return;		/* iw_init() failed, and so has the suite */
	if (it.id)
		iw_destroy_cm_id(it.id);
	if (it.listener)
		iw_destroy_cm_id(it.listener);
	iw_let_go();
	KUNIT_EXPECT_EQ(test, iw_qp_refs(), 0);
	ib_destroy_qp(it.qp);
	ib_free_cq(it.cq);
	ib_dealloc_pd(it.pd);
	KUNIT_EXPECT_EQ(test, fake_hca_objects(it.hca), 0);
	fake_hca_destroy(it.hca);
	fake_netdev_destroy(it.ndev);
}

static void iw_addr(struct sockaddr_storage *addr, const char *ip, u16 port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = in_aton(ip);
	in->sin_port = htons(port);
}

struct iw_cm_id *iw_id(void)
{
	struct iw_cm_id *cm_id = iw_create_cm_id(&it.hca->ibdev, iw_handler, &it);

	if (!IS_ERR(cm_id)) {
		iw_addr(&cm_id->local_addr, "192.0.2.1", 1000);
		iw_addr(&cm_id->remote_addr, "192.0.2.2", 2000);
	}
	return cm_id;
}

static struct iw_cm_conn_param iw_param(const char *data)
{
	return (struct iw_cm_conn_param){
		.private_data = data,
		.private_data_len = strlen(data) + 1,
		.ord = 3,
		.ird = 5,
		.qpn = it.qp->qp_num,
	};
}

int iw_connect_id(struct iw_cm_id *cm_id)
{
	struct iw_cm_conn_param param = iw_param("hello");

	return iw_cm_connect(cm_id, &param);
}

int iw_accept_id(struct iw_cm_id *cm_id)
{
	struct iw_cm_conn_param param = iw_param("welcome");

	return iw_cm_accept(cm_id, &param);
}

int iw_report(struct iw_cm_id *cm_id, enum iw_cm_event_type type, int status,
	      const char *data)
{
	struct iw_cm_event event = fake_iw_event(type, status, data, &it);

	iw_addr(&event.local_addr, "192.0.2.1", 1001);
	iw_addr(&event.remote_addr, "192.0.2.2", 2001);
	return cm_id->event_handler(cm_id, &event);
}

int iw_request(const char *data)
{
	return iw_report(it.listener, IW_CM_EVENT_CONNECT_REQUEST, 0, data);
}

int iw_listen_on(int backlog)
{
	struct iw_cm_id *cm_id = iw_id();
	int ret;

	if (IS_ERR(cm_id))
		return PTR_ERR(cm_id);
	ret = iw_cm_listen(cm_id, backlog);
	if (ret)
		iw_destroy_cm_id(cm_id);
	else
		it.listener = cm_id;
	return ret;
}

bool iw_wait(const char *events)
{
	int i, n = strlen(events);

	for (i = 0; i < 1000 && atomic_read(&it.nr_events) < n; i++)
		msleep(20);
	return !strcmp(it.events, events);
}

/* Waits for long enough for all queued work to run. */
void iw_quiesce(void)
{
	msleep(300);
}

int iw_calls(enum fake_iw_verb verb)
{
	return atomic_read(&it.hca->iw_calls[verb]);
}

/* Returns the module's reference count; each id has a reference. */
int iw_alive(void)
{
	struct file *file = filp_open("/sys/module/iw_cm/refcnt", O_RDONLY, 0);
	char text[16] = "";
	loff_t at = 0;
	int n;

	if (IS_ERR(file))
		return PTR_ERR(file);
	kernel_read(file, text, sizeof(text) - 1, &at);
	filp_close(file, NULL);
	return kstrtoint(strim(text), 10, &n) ?: n;
}

enum ib_qp_state iw_qp_state(void)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (ib_query_qp(it.qp, &attr, IB_QP_STATE, &init))
		return IB_QPS_SQE;
	return attr.qp_state;
}

int iw_qp_refs(void)
{
	return atomic_read(&it.hca->iw_qp_refs);
}

static void iw_be_passive(struct kunit *test, enum iwcm_state state)
{
	KUNIT_ASSERT_EQ(test, iw_listen_on(0), 0);
	KUNIT_ASSERT_EQ(test, iw_request("hi"), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("Q"));
	if (state == IWCM_ACCEPTING)
		KUNIT_ASSERT_EQ(test, iw_accept_id(it.id), 0);
}

static void iw_be_active(struct kunit *test, enum iwcm_state state)
{
	it.id = iw_id();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, it.id);
	if (state == IWCM_IDLE)
		return;
	if (state == IWCM_LISTEN) {
		KUNIT_ASSERT_EQ(test, iw_cm_listen(it.id, 0), 0);
		return;
	}
	KUNIT_ASSERT_EQ(test, iw_connect_id(it.id), 0);
	if (state == IWCM_CONN_SENT)
		return;
	KUNIT_ASSERT_EQ(test, iw_report(it.id, IW_CM_EVENT_CONNECT_REPLY, 0, "reply"), 0);
	KUNIT_ASSERT_TRUE(test, iw_wait("P"));
	if (state == IWCM_CLOSING)
		KUNIT_ASSERT_EQ(test, iw_report(it.id, IW_CM_EVENT_DISCONNECT, 0, NULL), 0);
}

void iw_forget(void)
{
	memset(it.events, 0, sizeof(it.events));
	atomic_set(&it.nr_events, 0);
}

void iw_be(struct kunit *test, enum iwcm_state state)
{
	iw_forget();
	if (state == IWCM_CONN_RECV || state == IWCM_ACCEPTING)
		iw_be_passive(test, state);
	else
		iw_be_active(test, state);
	KUNIT_ASSERT_EQ(test, (int)to_iwcm(it.id)->state, (int)state);
	iw_forget();
}
