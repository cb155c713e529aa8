// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Addresses of trunks as configfs has them, and the folder of a trunk. */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/umh.h>
#include <net/net_namespace.h>
#include "config/config.h"
#include "trunk/wire.h"

/* ---- addresses ---- */

static void addresses_of_both_families_are_read(struct kunit *test)
{
	static const struct {
		const char *text;
		u16 family, port;
	} cases[] = {
		{ "10.1.2.3", AF_INET, VIB_TRUNK_PORT },
		{ "10.1.2.3:5", AF_INET, 5 },
		{ "10.1.2.3:65535", AF_INET, 65535 },
		{ "2001:db8::1", AF_INET6, VIB_TRUNK_PORT },
		{ "[2001:db8::1]", AF_INET6, VIB_TRUNK_PORT },
		{ "[2001:db8::1]:77", AF_INET6, 77 },
		{ "[fe80::1%lo]:77", AF_INET6, 77 },
	};
	struct sockaddr_storage address;
	const struct sockaddr_in *in = (void *)&address;
	const struct sockaddr_in6 *in6 = (void *)&address;
	unsigned int i;
	__be16 port;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, vib_config_address(&init_net, cases[i].text, &address),
				    0, "%s", cases[i].text);
		KUNIT_EXPECT_EQ_MSG(test, address.ss_family, cases[i].family, "%s",
				    cases[i].text);
		port = in6->sin6_port;
		if (cases[i].family == AF_INET)
			port = in->sin_port;
		KUNIT_EXPECT_EQ_MSG(test, ntohs(port), cases[i].port, "%s", cases[i].text);
	}
	vib_config_address(&init_net, "10.1.2.3", &address);
	KUNIT_EXPECT_EQ(test, ntohl(in->sin_addr.s_addr), 0x0a010203);
}

static void other_addresses_are_refused(struct kunit *test)
{
	static const char * const texts[] = {
		"", "x", "10.1.2", "10.1.2.3:", "10.1.2.3:0", "10.1.2.3:65536",
		"10.1.2.3:x", "10.1.2.3:-1", "[2001:db8::1", "[2001:db8::1]x", "[2001:db8::1]:",
		"[2001:db8::1]:0", "[]", "[fe80::1%no-such-device]:77", NULL,
	};
	struct sockaddr_storage address;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		KUNIT_EXPECT_EQ_MSG(test, vib_config_address(&init_net, texts[i], &address),
				    -EINVAL, "%s", texts[i]);
}

/* ---- the folder ---- */

/*
 * As an administrator does, in a shell: its status.  In vib's folder of configfs, with $t as the
 * folder of a trunk.
 */
static __printf(2, 3) int admin(struct kunit *test, const char *format, ...)
{
	static const char begin[] = "cd /sys/kernel/config/vib; t=kunit/trunks/t0; exec 2>&-; ";
	char *argv[] = { "/bin/sh", "-c", NULL, NULL };
	char *envp[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL };
	int len = sizeof(begin) - 1, status;
	char text[400] = "";
	va_list args;

	memcpy(text, begin, len);
	va_start(args, format);
	vsnprintf(text + len, sizeof(text) - len, format, args);
	va_end(args);
	argv[2] = text;
	status = call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
	KUNIT_ASSERT_GE(test, status, 0);
	return status >> 8;
}

/* Writes an attribute of the trunk; 0, or the shell's status. */
static int set(struct kunit *test, const char *attr, const char *value)
{
	return admin(test, "echo '%s' > $t/%s", value, attr);
}

static void expect_attr(struct kunit *test, const char *attr, const char *value)
{
	KUNIT_EXPECT_EQ_MSG(test, admin(test, "[ \"$(cat $t/%s)\" = '%s' ]", attr, value), 0,
			    "%s is not %s", attr, value);
}

static void folder_undo(void *test)
{
	admin(test, "rmdir kunit/trunks/* kunit/nodes/*; rmdir kunit");
}

/* A fabric with a switch, which is live, and a trunk, which is not. */
static void folder_make(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, admin(test, "mkdir kunit kunit/nodes/sw $t"), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, folder_undo, test), 0);
	KUNIT_ASSERT_EQ(test, admin(test, "echo switch > kunit/nodes/sw/type"), 0);
	KUNIT_ASSERT_EQ(test, admin(test, "echo 2 > kunit/nodes/sw/ports"), 0);
	KUNIT_ASSERT_EQ(test, admin(test, "echo 1 > kunit/nodes/sw/live"), 0);
}

static void go_live(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, set(test, "port", "sw:2"), 0);
	KUNIT_ASSERT_EQ(test, set(test, "local", "127.0.0.1:18710"), 0);
	KUNIT_ASSERT_EQ(test, set(test, "peer", "127.0.0.1:18711"), 0);
	KUNIT_ASSERT_EQ(test, set(test, "interval", "50"), 0);
	KUNIT_ASSERT_EQ(test, set(test, "live", "1"), 0);
}

static void a_trunk_is_made_live_and_closed(struct kunit *test)
{
	folder_make(test);
	expect_attr(test, "interval", "200");
	expect_attr(test, "live", "0");
	expect_attr(test, "state", "-");
	go_live(test);
	expect_attr(test, "live", "1");
	expect_attr(test, "state", "Polling");
	expect_attr(test, "far", "");
	expect_attr(test, "port", "sw:2");
	expect_attr(test, "peer", "127.0.0.1:18711");
	expect_attr(test, "interval", "50");
	KUNIT_EXPECT_EQ(test, set(test, "live", "0"), 0);
	expect_attr(test, "live", "0");
	KUNIT_EXPECT_EQ(test, set(test, "live", "1"), 0);
	expect_attr(test, "live", "1");
}

static void what_is_live_is_not_changed(struct kunit *test)
{
	folder_make(test);
	go_live(test);
	KUNIT_EXPECT_NE(test, set(test, "port", "sw:1"), 0);
	KUNIT_EXPECT_NE(test, set(test, "local", "127.0.0.1"), 0);
	KUNIT_EXPECT_NE(test, set(test, "peer", "127.0.0.1"), 0);
	KUNIT_EXPECT_NE(test, set(test, "interval", "100"), 0);
	KUNIT_EXPECT_NE(test, admin(test, "rmdir kunit"), 0);
	expect_attr(test, "cut", "0");
	KUNIT_EXPECT_EQ(test, set(test, "cut", "1"), 0);
	expect_attr(test, "cut", "1");
	KUNIT_EXPECT_EQ(test, set(test, "cut", "0"), 0);
}

/* It can be plugged in again once the node is back. */
static void a_node_takes_its_trunk_along(struct kunit *test)
{
	folder_make(test);
	go_live(test);
	KUNIT_EXPECT_EQ(test, admin(test, "echo 0 > kunit/nodes/sw/live"), 0);
	expect_attr(test, "live", "0");
	KUNIT_EXPECT_NE(test, set(test, "live", "1"), 0);
	KUNIT_EXPECT_EQ(test, admin(test, "echo 1 > kunit/nodes/sw/live"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "live", "1"), 0);
	expect_attr(test, "live", "1");
}

static void each_counter_has_a_line(struct kunit *test)
{
	folder_make(test);
	KUNIT_EXPECT_EQ(test, admin(test, "[ $(grep -c '^[a-z_]* 0$' $t/counters) = 13 ]"), 0);
	KUNIT_EXPECT_EQ(test, admin(test, "[ $(wc -l < $t/counters) = 13 ]"), 0);
}

static void bad_values_are_refused(struct kunit *test)
{
	folder_make(test);
	KUNIT_EXPECT_NE(test, set(test, "cut", "1"), 0);
	KUNIT_EXPECT_NE(test, set(test, "cut", "x"), 0);
	KUNIT_EXPECT_NE(test, set(test, "interval", "9"), 0);
	KUNIT_EXPECT_NE(test, set(test, "interval", "10001"), 0);
	KUNIT_EXPECT_NE(test, set(test, "interval", "x"), 0);
	KUNIT_EXPECT_NE(test, set(test, "live", "x"), 0);
	KUNIT_EXPECT_NE(test, set(test, "local", "x"), 0);
	KUNIT_EXPECT_NE(test, set(test, "peer", ""), 0);
	/* It has no addresses; then no port, then one that there is not. */
	KUNIT_EXPECT_NE(test, set(test, "live", "1"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "local", "127.0.0.1:18710"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "peer", "127.0.0.1:18711"), 0);
	KUNIT_EXPECT_NE(test, set(test, "live", "1"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "port", "sw:3"), 0);
	KUNIT_EXPECT_NE(test, set(test, "live", "1"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "port", "sw:0"), 0);
	KUNIT_EXPECT_NE(test, set(test, "live", "1"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "port", "ca:1"), 0);
	KUNIT_EXPECT_NE(test, set(test, "live", "1"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "port", "sw"), 0);
	KUNIT_EXPECT_EQ(test, set(test, "live", "1"), 0);
}

static struct kunit_case config_cases[] = {
	KUNIT_CASE(addresses_of_both_families_are_read),
	KUNIT_CASE(other_addresses_are_refused),
	KUNIT_CASE(a_trunk_is_made_live_and_closed),
	KUNIT_CASE(what_is_live_is_not_changed),
	KUNIT_CASE(a_node_takes_its_trunk_along),
	KUNIT_CASE(each_counter_has_a_line),
	KUNIT_CASE(bad_values_are_refused),
	{}
};

static struct kunit_suite config_suite = {
	.name = "vib_trunk_config",
	.test_cases = config_cases,
};

kunit_test_suite(config_suite);
