// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sysfs.h"

#define CLASSES		2

static const char * const classes[CLASSES] = { "infiniband", "infiniband_verbs" };
static char top[64];

/*
 * libibverbs calls these two.  Without netlink it looks into sysfs, and it wants to see the
 * file of a device in /dev.
 */
int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return syscall(SYS_socket, domain, type, protocol);
}

int stat(const char *path, struct stat *st)
{
	if (strncmp(path, "/dev/infiniband/", 16))
		return fstatat(AT_FDCWD, path, st, 0);
	memset(st, 0, sizeof(*st));
	return 0;
}

static void make_folder(const char *class, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/class/%s/%s", top, class, name);
	if (mkdir(path, 0755))
		abort();
}

static void put(const char *class, const char *name, const char *attribute, const char *text)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/class/%s/%s/%s", top, class, name, attribute);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
		abort();
}

void sysfs_make(const char *program)
{
	char path[PATH_MAX], driver[PATH_MAX + 8];
	int i;

	snprintf(top, sizeof(top), "/tmp/libvib-sysfs-XXXXXX");
	if (!mkdtemp(top) || !realpath(program, path))
		abort();
	snprintf(driver, sizeof(driver), "%s/libvib", dirname(path));
	setenv("SYSFS_PATH", top, 1);
	setenv("RDMAV_DRIVERS", driver, 1);
	snprintf(path, sizeof(path), "%s/class", top);
	if (mkdir(path, 0755))
		abort();
	for (i = 0; i < CLASSES; i++)
		make_folder(classes[i], "");
	put("infiniband_verbs", "", "abi_version", "6");
}

void sysfs_device(const char *name, int index, int abi_version)
{
	char node[16], number[16];

	make_folder("infiniband", name);
	put("infiniband", name, "node_type", "1: CA");
	put("infiniband", name, "node_guid", "0002:c903:0000:0001");

	snprintf(node, sizeof(node), "uverbs%d", index);
	make_folder("infiniband_verbs", node);
	put("infiniband_verbs", node, "ibdev", name);
	snprintf(number, sizeof(number), "%d", abi_version);
	put("infiniband_verbs", node, "abi_version", number);
	snprintf(number, sizeof(number), "231:%d", 192 + index);
	put("infiniband_verbs", node, "dev", number);
}

void sysfs_remove(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", top);
	if (system(command))
		abort();
}
