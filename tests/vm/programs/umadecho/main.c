// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs between two programs, through libibumad:
 *
 *   umadecho serve DEVICE
 *   umadecho ask DEVICE GID COUNT WINDOW SIZE REPLY
 *
 * The second sends COUNT requests of SIZE bytes, at most WINDOW at a time, to the
 * first at GID, which answers each with the request's data, or with REPLY bytes.
 * The second fails unless each request is answered. Data longer than a MAD are sent
 * by RMPP.
 *
 *   umadecho segments DEVICE GID SIZE REPLY
 *
 * sends one request and does RMPP itself; both sizes must be more than one MAD.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

#include "echo.h"

void die(const char *what, int error)
{
	fprintf(stderr, "umadecho: %s%s%s\n", what, error ? ": " : "",
		error ? strerror(error) : "");
	exit(2);
}

static struct port port_open(char *device, bool serves, bool user_rmpp)
{
	struct umad_reg_attr attr = {
		.mgmt_class = ECHO_CLASS,
		.mgmt_class_version = 1,
		.method_mask = { serves ? 1 << METHOD_SET : 0, 0 },
		.oui = ECHO_OUI,
		.rmpp_version = UMAD_RMPP_VERSION,
		.flags = user_rmpp ? UMAD_USER_RMPP : 0,
	};
	__u32 agent;
	struct port port;
	int ret;

	if (umad_init())
		die("umad_init", 0);
	port.fd = umad_open_port(device, 1);
	if (port.fd < 0)
		die(device, -port.fd);
	ret = umad_register2(port.fd, &attr, &agent);
	if (ret)
		die("umad_register2", ret);
	port.agent = agent;
	return port;
}

static __u32 number(const char *word, __u32 min, __u32 max)
{
	char *end;
	unsigned long n = strtoul(word, &end, 0);

	if (*end || n < min || n > max)
		die(word, 0);
	return n;
}

/* Reads the words after COMMAND DEVICE GID. */
static struct order read_order(char **argv, bool once)
{
	struct order order = { .count = 1, .window = 1 };
	char **word = argv + 4;

	if (inet_pton(AF_INET6, argv[3], order.gid) != 1)
		die(argv[3], 0);
	if (!once) {
		order.count = number(*word++, 1, 1000000);
		order.window = number(*word++, 1, 100000);
	}
	order.size = number(*word++, once ? 220 : 12, MAX_DATA) & ~3U;
	order.reply = number(*word++, once ? 220 : 0, MAX_DATA) & ~3U;
	return order;
}

int main(int argc, char **argv)
{
	struct order order;
	struct port port;

	if (argc == 3 && !strcmp(argv[1], "serve")) {
		port = port_open(argv[2], true, false);
		return serve(&port);
	}
	if (argc == 8 && !strcmp(argv[1], "ask")) {
		order = read_order(argv, false);
		port = port_open(argv[2], false, false);
		return ask(&port, &order);
	}
	if (argc == 6 && !strcmp(argv[1], "segments")) {
		order = read_order(argv, true);
		port = port_open(argv[2], false, true);
		return ask_in_segments(&port, &order);
	}
	die("serve, ask or segments, and their words", 0);
}
