/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBMAD_SMI_H
#define IBMAD_SMI_H

/* Subnet management packets, and the provider's own agents. */
#include "port/port.h"

/* ---- smi.c: subnet management interface (IBA 14.2) ---- */
enum ibmad_smi_verdict {
	IBMAD_SMI_DISCARD,
	IBMAD_SMI_LOCAL,	/* for this node's SMA or SM */
	IBMAD_SMI_SEND,		/* must be sent out of *@out_port */
};

struct ibmad_smi_node {
	bool is_switch;
	u32 port_num;		/* the port it arrived on, or is sent from */
	u32 num_ports;
};

enum ibmad_smi_verdict ibmad_smi_receive(void *smp, bool opa,
					 const struct ibmad_smi_node *node,
					 u32 *out_port);
enum ibmad_smi_verdict ibmad_smi_originate(void *smp, bool opa,
					   const struct ibmad_smi_node *node,
					   u32 *out_port);
bool ibmad_smi_is_opa(const struct ibmad_port *port,
		      const struct ib_mad_hdr *hdr);

/* ---- local.c: the provider's own agents behind process_mad ---- */
/* True if @recv was consumed (answered, forwarded, dropped). */
bool ibmad_local_receive(struct ibmad_qp *mqp, struct ibmad_recv *recv,
			 size_t len);
/* Answers a Get or Set that no agent takes; consumes @recv. */
void ibmad_local_unmatched(struct ibmad_qp *mqp, struct ibmad_recv *recv);
/* Decides the route of an SMP that is being posted. */
int ibmad_local_route(struct ibmad_send *send);
void ibmad_local_queue(struct ibmad_send *send);
void ibmad_local_work(struct work_struct *work);
int ibmad_local_init(struct ibmad_qp *mqp);
void ibmad_local_exit(struct ibmad_qp *mqp);

#endif
