// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What hosts tell one another, in files that somebody copies. */
#include <stdio.h>
#include "xrcmesh.h"

static FILE *open_file(int host, const char *what, const char *mode)
{
	char name[256];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%d.%s", mesh->dir, host, what);
	f = fopen(name, mode);
	if (!f)
		give_up("no file %s", name);
	return f;
}

static __u32 read_number(FILE *f)
{
	__u32 n;

	MUST(fscanf(f, "%u", &n) == 1);
	return n;
}

static void end_line(FILE *f)
{
	MUST(fputc('\n', f) != EOF);
}

/* A line for each process: its LID, its SRQ, its sender to each host. */
void write_senders(void)
{
	FILE *f = open_file(mesh->host, "senders", "w");
	const struct peer *own = mesh->peers[mesh->host];
	int i, h;

	for (i = 0; i < mesh->processes; i++) {
		fprintf(f, "%u %u", own[i].lid, own[i].srqn);
		for (h = 0; h < mesh->hosts; h++)
			fprintf(f, " %u", own[i].qpn[h]);
		end_line(f);
	}
	MUST(!fclose(f));
}

static void read_senders_of(int host)
{
	FILE *f = open_file(host, "senders", "r");
	struct peer *p;
	int i, h;

	for (i = 0; i < mesh->processes; i++) {
		p = &mesh->peers[host][i];
		p->lid = read_number(f);
		p->srqn = read_number(f);
		for (h = 0; h < mesh->hosts; h++)
			p->qpn[h] = read_number(f);
	}
	fclose(f);
}

void read_senders(void)
{
	int h;

	for (h = 0; h < mesh->hosts; h++)
		if (h != mesh->host)
			read_senders_of(h);
}

/* A line for each host: the receive QP for the sender of each process there. */
void write_targets(void)
{
	FILE *f = open_file(mesh->host, "targets", "w");
	int i, h;

	for (h = 0; h < mesh->hosts; h++) {
		for (i = 0; i < mesh->processes; i++)
			fprintf(f, "%u ", mesh->peers[h][i].target[mesh->host]);
		end_line(f);
	}
	MUST(!fclose(f));
}

static void read_targets_of(int host)
{
	FILE *f = open_file(host, "targets", "r");
	int i, h;

	for (h = 0; h < mesh->hosts; h++)
		for (i = 0; i < mesh->processes; i++)
			mesh->peers[h][i].target[host] = read_number(f);
	fclose(f);
}

void read_targets(void)
{
	int h;

	for (h = 0; h < mesh->hosts; h++)
		if (h != mesh->host)
			read_targets_of(h);
}
