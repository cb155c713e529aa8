// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* See nl.h. */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/net.h>
#include "netns.h"
#include "nl.h"

int nl_open(struct nl *nl, struct net *net)
{
	int ret;

	memset(nl, 0, sizeof(*nl));
	nl->store = kvmalloc(NL_STORE, GFP_KERNEL);
	if (!nl->store)
		return -ENOMEM;
	ret = sock_create_kern(net, AF_NETLINK, SOCK_RAW, NETLINK_RDMA, &nl->sock);
	if (ret)
		goto err;
	/* Permission checks also use the credentials of the socket's file. */
	nl->file = sock_alloc_file(nl->sock, 0, NULL);
	if (IS_ERR(nl->file)) {
		ret = PTR_ERR(nl->file);
		nl->file = NULL;
		goto err;
	}
	return 0;
err:
	kvfree(nl->store);
	nl->store = NULL;
	return ret;
}

void nl_close(struct nl *nl)
{
	if (nl->file)
		__fput_sync(nl->file);
	kvfree(nl->store);
	memset(nl, 0, sizeof(*nl));
}

struct sk_buff *nl_new(struct nl *nl, int type, u16 flags)
{
	struct sk_buff *skb = nlmsg_new(NL_BUFFER, GFP_KERNEL | __GFP_NOFAIL);

	nlmsg_put(skb, 0, ++nl->seq, type, 0, flags);
	return skb;
}

static struct sk_buff *dev_req(struct nl *nl, int cmd, struct fake_hca *hca,
			       u32 port, u16 flags)
{
	struct sk_buff *skb = nl_new(nl, RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, cmd),
				     NLM_F_REQUEST | NLM_F_ACK | flags);

	if (hca)
		nla_put_u32(skb, RDMA_NLDEV_ATTR_DEV_INDEX, hca->ibdev.index);
	if (port)
		nla_put_u32(skb, RDMA_NLDEV_ATTR_PORT_INDEX, port);
	return skb;
}

struct sk_buff *nl_dev_req(struct nl *nl, int cmd, struct fake_hca *hca, u32 port)
{
	return dev_req(nl, cmd, hca, port, 0);
}

struct sk_buff *nl_dev_dump(struct nl *nl, int cmd, struct fake_hca *hca, u32 port)
{
	return dev_req(nl, cmd, hca, port, NLM_F_DUMP);
}

int nl_send_raw(struct nl *nl, struct sk_buff *req)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct msghdr hdr = { .msg_name = &kernel, .msg_namelen = sizeof(kernel) };
	struct kvec vec = { .iov_base = req->data, .iov_len = req->len };
	int ret;

	nl->pages = 0;
	nl->n = 0;
	nl->used = 0;
	ret = kernel_sendmsg(nl->sock, &hdr, &vec, 1, req->len);
	kfree_skb(req);
	return min(ret, 0);
}

static void nl_take(struct nl *nl, u8 *data, int len, int *result, bool *ended)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)data;

	for (; nlmsg_ok(nlh, len); nlh = nlmsg_next(nlh, &len)) {
		if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE) {
			*result = *(int *)nlmsg_data(nlh);
			*ended = true;
		} else if (nl->n < NL_MSGS) {
			nl->msg[nl->n++] = nlh;
		}
	}
}

int nl_receive(struct nl *nl, int *result, bool *ended)
{
	u8 *at = nl->store + nl->used;
	struct kvec vec = { .iov_base = at, .iov_len = NL_BUFFER * 2 };
	struct msghdr hdr = {};
	int len;

	*ended = false;
	if (nl->used + vec.iov_len > NL_STORE)
		return -ENOBUFS;
	/* The kernel sizes the next page of a dump after the last receive buffer. */
	vec.iov_len = NL_BUFFER;
	len = kernel_recvmsg(nl->sock, &hdr, &vec, 1, vec.iov_len, MSG_DONTWAIT);
	if (len < 0)
		return len;
	nl->pages++;
	nl->used += NLMSG_ALIGN(len);
	nl_take(nl, at, len, result, ended);
	return len;
}

int nl_call(struct nl *nl, struct sk_buff *req)
{
	int ret, result = 0;
	bool ended = false;

	nlmsg_end(req, nlmsg_hdr(req));
	ret = nl_send_raw(nl, req);
	if (ret)
		return ret;
	while (!ended) {
		ret = nl_receive(nl, &result, &ended);
		if (ret < 0)
			return ret == -EAGAIN ? -ENODATA : ret;
		if (!ended && nl->between)
			nl->between(nl);
	}
	return result;
}

void nl_attrs(struct nl *nl, int i, struct nlattr **tb)
{
	memset(tb, 0, sizeof(*tb) * RDMA_NLDEV_ATTR_MAX);
	if (i < nl->n)
		nlmsg_parse_deprecated(nl->msg[i], 0, tb, RDMA_NLDEV_ATTR_MAX - 1,
				       NULL, NULL);
}

void nl_nested(const struct nlattr *nest, struct nlattr **tb)
{
	memset(tb, 0, sizeof(*tb) * RDMA_NLDEV_ATTR_MAX);
	if (nest)
		nla_parse_nested_deprecated(tb, RDMA_NLDEV_ATTR_MAX - 1, nest, NULL,
					    NULL);
}

bool nl_join(struct nl *nl, int group)
{
	struct sockaddr_nl me = {
		.nl_family = AF_NETLINK,
		.nl_groups = BIT(group - 1),
	};

	return !kernel_bind(nl->sock, (struct sockaddr *)&me, sizeof(me));
}

const struct cred *nl_drop_caps(void)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;

	if (WARN_ON(!cred))
		return NULL;
	cap_clear(cred->cap_effective);
	old = override_creds(cred);
	put_cred(cred);
	return old;
}

void nl_regain_caps(const struct cred *old)
{
	revert_creds(old);
}

/* ---- namespaces ---- */

static int ns_open_fd(pid_t pid)
{
	char path[32];
	struct file *file;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		fput(file);
	else
		fd_install(fd, file);
	return fd;
}

int test_ns_create(struct test_ns *ns)
{
	int ret;

	ns->fd = -1;
	ret = test_net_begin(&ns->pid, &ns->net);
	if (ret)
		return ret;
	ns->fd = ns_open_fd(ns->pid);
	return min(ns->fd, 0);
}

void test_ns_end(struct test_ns *ns)
{
	if (ns->fd >= 0)
		close_fd(ns->fd);
	flush_delayed_fput();
	test_net_end(ns->pid, ns->net);
	memset(ns, 0, sizeof(*ns));
}

/* ---- sysfs ---- */

static struct file *sys_open(int flags, const char *format, va_list args)
{
	char path[160] = "/sys/class/infiniband/";
	size_t at = strlen(path);

	vsnprintf(path + at, sizeof(path) - at, format, args);
	return filp_open(path, flags, 0);
}

int sys_read(char *buf, size_t size, const char *format, ...)
{
	struct file *file;
	loff_t pos = 0;
	va_list args;
	ssize_t n;

	va_start(args, format);
	file = sys_open(O_RDONLY, format, args);
	va_end(args);
	buf[0] = '\0';
	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_read(file, buf, size - 1, &pos);
	__fput_sync(file);
	if (n < 0)
		return n;
	buf[n] = '\0';
	return 0;
}

int sys_write(const char *value, const char *format, ...)
{
	struct file *file;
	loff_t pos = 0;
	va_list args;
	ssize_t n;

	va_start(args, format);
	file = sys_open(O_WRONLY, format, args);
	va_end(args);
	if (IS_ERR(file))
		return PTR_ERR(file);
	n = kernel_write(file, value, strlen(value), &pos);
	__fput_sync(file);
	return min(n, 0);
}

/* ---- memory ---- */

/* Through a shell: the kernel cannot write files of debugfs. */
static int failslab_set(const char *probability)
{
	static char *envp[] = { "PATH=/usr/bin:/bin", NULL };
	char script[128];
	char *argv[] = { "/bin/sh", "-c", script, NULL };

	snprintf(script, sizeof(script),
		 "cd %s && echo Y > task-filter && echo 1000000 > times && echo %s > probability",
		 "/sys/kernel/debug/failslab", probability);
	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
}

int no_memory_begin(void)
{
	int ret = failslab_set("100");

	current->make_it_fail = !ret;
	return ret;
}

void no_memory_end(void)
{
	current->make_it_fail = 0;
	failslab_set("0");
}
