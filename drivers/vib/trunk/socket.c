// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A trunk's UDP socket.  It is not connected: what comes from other addresses is dropped, and
 * counted, by vib_trunk_datagram().  Packets longer than the path's MTU are fragmented by IP;
 * the DF bit is not set, so routers may do it, too.
 */
#include <linux/in.h>
#include <linux/net.h>
#include <linux/uio.h>
#include <net/ip.h>
#include <net/sock.h>
#include <ibex/compat/net.h>
#include "trunk/trunk.h"

/*
 * Room for all that credits allow at one time, in the smallest packets: what is in the
 * socket's buffer must not be lost, as the sender has paid for it.
 */
#define RCVBUF		(VIB_VLS * VIB_VL_CREDITS * 512)
/* The longest that a send waits for the network to take what was sent before. */
#define SEND_TIME	(HZ / 10)

static bool same_in6(const struct sockaddr_in6 *a, const struct sockaddr_in6 *b)
{
	return a->sin6_port == b->sin6_port && ipv6_addr_equal(&a->sin6_addr, &b->sin6_addr) &&
	       a->sin6_scope_id == b->sin6_scope_id;
}

static bool same_in(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

bool vib_trunk_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return same_in((const void *)a, (const void *)b);
	return a->ss_family == AF_INET6 && same_in6((const void *)a, (const void *)b);
}

static int address_len(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) :
					       sizeof(struct sockaddr_in6);
}

/* Softirq, or who sends to this host. */
static void trunk_data_ready(struct sock *sk)
{
	struct vib_trunk *trunk;

	read_lock_bh(&sk->sk_callback_lock);
	trunk = sk->sk_user_data;
	if (trunk)
		queue_work(vib_trunk_wq, &trunk->receive);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* What was in the buffer before is found by the first run of the work. */
static void trunk_listen(struct vib_trunk *trunk)
{
	struct sock *sk = trunk->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = trunk;
	sk->sk_data_ready = trunk_data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	queue_work(vib_trunk_wq, &trunk->receive);
}

void vib_trunk_unlisten(struct vib_trunk *trunk)
{
	struct sock *sk = trunk->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
}

int vib_trunk_bind(struct vib_trunk *trunk, const struct sockaddr_storage *local)
{
	struct sock *sk;
	int ret;

	ret = sock_create_kern(trunk->net, local->ss_family, SOCK_DGRAM, IPPROTO_UDP,
			       &trunk->sock);
	if (ret)
		return ret;
	sk = trunk->sock->sk;
	/* File systems write by trunks when memory is short. */
	sk->sk_allocation = GFP_NOIO;
	ibex_use_sk_frag(sk);
	sk->sk_sndtimeo = SEND_TIME;
	sock_set_rcvbuf(sk, RCVBUF);
	if (local->ss_family == AF_INET)
		ip_sock_set_mtu_discover(sk, IP_PMTUDISC_DONT);
	ret = kernel_bind(trunk->sock, (struct sockaddr *)local, address_len(local));
	if (ret) {
		sock_release(trunk->sock);
		trunk->sock = NULL;
		return ret;
	}
	trunk_listen(trunk);
	return 0;
}

int vib_trunk_send_datagram(struct vib_trunk *trunk, void *buf, size_t len)
{
	struct kvec vec = { .iov_base = buf, .iov_len = len };
	struct sockaddr_storage to = trunk->peer;
	struct msghdr msg = {
		.msg_name = &to,
		.msg_namelen = address_len(&to),
		.msg_flags = MSG_NOSIGNAL,
	};
	int ret = kernel_sendmsg(trunk->sock, &msg, &vec, 1, len);

	return ret < 0 ? ret : 0;
}

int vib_trunk_next_datagram(struct vib_trunk *trunk, struct sockaddr_storage *from)
{
	struct kvec vec = { .iov_base = trunk->rx_buf, .iov_len = VIB_TRUNK_MAX_MSG + 1 };
	struct msghdr msg = { .msg_name = from };

	from->ss_family = AF_UNSPEC;
	return kernel_recvmsg(trunk->sock, &msg, &vec, 1, vec.iov_len, MSG_DONTWAIT);
}
