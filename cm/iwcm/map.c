// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The addresses of an id: local_addr and remote_addr are those that its consumer knows,
 * m_local_addr and m_remote_addr the mapped ones that its provider uses.
 *
 * A mapping exists until its id is destroyed, or connects or listens again.
 */
#include "iwcm.h"
#include "iwpm/iwpm.h"

static void iwcm_map_none(struct iwcm_id *id)
{
	iwcm_unmap(id);
	id->id.m_local_addr = id->id.local_addr;
	id->id.m_remote_addr = id->id.remote_addr;
	id->id.mapped = false;
}

void iwcm_unmap(struct iwcm_id *id)
{
	struct iwpm_port *port = NULL;

	spin_lock_irq(&id->lock);
	swap(port, id->port);
	spin_unlock_irq(&id->lock);
	iwpm_port_put(port);
}

/* Stores @port in the id, or puts it if the id was destroyed meanwhile. */
static void iwcm_map_keep(struct iwcm_id *id, struct iwpm_port *port)
{
	spin_lock_irq(&id->lock);
	if (!id->dying)
		swap(port, id->port);
	spin_unlock_irq(&id->lock);
	iwpm_port_put(port);
}

void iwcm_map_listen(struct iwcm_id *id)
{
	struct iwpm_port *port;
	struct iwpm_map map;

	iwcm_map_none(id);
	if (!iwpm_addr_get(&map.local, &id->id.local_addr))
		return;
	port = iwpm_port_get(id->id.device, RDMA_NL_IWPM_ADD_MAPPING, &map);
	if (!port)
		return;
	iwpm_addr_set(&map.mapped_local, &id->id.m_local_addr);
	id->id.mapped = true;
	iwcm_map_keep(id, port);
}

/* Return: 0, mapped or not; -ECANCELED if the id was destroyed meanwhile. */
int iwcm_map_connect(struct iwcm_id *id)
{
	struct iwpm_port *port;
	struct iwpm_map map;

	iwcm_map_none(id);
	if (!iwpm_addr_get(&map.local, &id->id.local_addr) ||
	    !iwpm_addr_get(&map.remote, &id->id.remote_addr))
		return 0;
	port = iwpm_port_get(id->id.device, RDMA_NL_IWPM_QUERY_MAPPING, &map);
	if (port) {
		iwpm_addr_set(&map.mapped_local, &id->id.m_local_addr);
		iwpm_addr_set(&map.mapped_remote, &id->id.m_remote_addr);
		id->id.mapped = true;
		iwcm_map_keep(id, port);
	}
	return READ_ONCE(id->dying) ? -ECANCELED : 0;
}

/*
 * Replaces the provider's addresses, in @id and in @event of a request that is about to
 * be delivered, by those that @listener's consumer and the peer know.
 */
void iwcm_map_request(struct iwcm_id *listener, struct iwcm_id *id,
		      struct iw_cm_event *event)
{
	struct iwpm_addr own, local, remote;

	if (!listener->port)
		return;
	id->id.mapped = true;
	if (iwpm_addr_get(&own, &listener->id.local_addr) &&
	    iwpm_addr_get(&local, &id->id.m_local_addr) &&
	    own.family == local.family) {
		if (ipv6_addr_any(&own.ip))
			own.ip = local.ip;
		iwpm_addr_set(&own, &id->id.local_addr);
	}
	if (iwpm_addr_get(&remote, &id->id.m_remote_addr) &&
	    iwpm_peer_find(&remote, &remote))
		iwpm_addr_set(&remote, &id->id.remote_addr);
	event->local_addr = id->id.local_addr;
	event->remote_addr = id->id.remote_addr;
}
