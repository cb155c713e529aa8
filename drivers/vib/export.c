// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the KUnit suites call.  Without KUnit vib exports nothing. */
#include <kunit/visibility.h>
#include "config/config.h"
#include "device/hca.h"
#include "fabric/fabric.h"
#include "fabric/fault.h"
#include "mgmt/mgmt.h"
#include "packet/packet.h"
#include "switch/switch.h"

/* config/config.h */
EXPORT_SYMBOL_IF_KUNIT(vib_config_ports_read);

/* device/hca.h */
EXPORT_SYMBOL_IF_KUNIT(vib_hca_create);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_destroy);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_receive);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_register);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_unregister);
EXPORT_SYMBOL_IF_KUNIT(vib_node_remove);
EXPORT_SYMBOL_IF_KUNIT(vib_port_xmit);

/* fabric/fabric.h */
EXPORT_SYMBOL_IF_KUNIT(vib_fabric_cleanup);
EXPORT_SYMBOL_IF_KUNIT(vib_fabric_find);
EXPORT_SYMBOL_IF_KUNIT(vib_fabric_init);
EXPORT_SYMBOL_IF_KUNIT(vib_free_wq);
EXPORT_SYMBOL_IF_KUNIT(vib_link_cut);
EXPORT_SYMBOL_IF_KUNIT(vib_link_init);
EXPORT_SYMBOL_IF_KUNIT(vib_link_plug);
EXPORT_SYMBOL_IF_KUNIT(vib_link_unplug);
EXPORT_SYMBOL_IF_KUNIT(vib_node_add);
EXPORT_SYMBOL_IF_KUNIT(vib_node_cleanup);
EXPORT_SYMBOL_IF_KUNIT(vib_node_init);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_finish);
EXPORT_SYMBOL_IF_KUNIT(vib_port_counter);
EXPORT_SYMBOL_IF_KUNIT(vib_port_find_pkey);
EXPORT_SYMBOL_IF_KUNIT(vib_port_forget);
EXPORT_SYMBOL_IF_KUNIT(vib_port_leave);
EXPORT_SYMBOL_IF_KUNIT(vib_port_ready);
EXPORT_SYMBOL_IF_KUNIT(vib_port_sent_smp);
EXPORT_SYMBOL_IF_KUNIT(vib_port_set_phys);
EXPORT_SYMBOL_IF_KUNIT(vib_port_set_state);
EXPORT_SYMBOL_IF_KUNIT(vib_tx_credit);
EXPORT_SYMBOL_IF_KUNIT(vib_wq);

/* fabric/fault.h */
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_delay);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_rate);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_seed);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_struck);

/* mgmt/mgmt.h */
EXPORT_SYMBOL_IF_KUNIT(vib_bad_pkey);
EXPORT_SYMBOL_IF_KUNIT(vib_bad_qkey);
EXPORT_SYMBOL_IF_KUNIT(vib_pma_handle);
EXPORT_SYMBOL_IF_KUNIT(vib_port_cap_mask);
EXPORT_SYMBOL_IF_KUNIT(vib_sma_handle);
EXPORT_SYMBOL_IF_KUNIT(vib_sma_receive);
EXPORT_SYMBOL_IF_KUNIT(vib_smp_hop);
EXPORT_SYMBOL_IF_KUNIT(vib_trap_link_error);
EXPORT_SYMBOL_IF_KUNIT(vib_trap_link_state);
EXPORT_SYMBOL_IF_KUNIT(vib_trap_local_change);

/* packet/packet.h */
EXPORT_SYMBOL_IF_KUNIT(vib_packet_alloc);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_attach);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_clone);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_free);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_iter);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_read);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_release);
EXPORT_SYMBOL_IF_KUNIT(vib_payload_alloc);
EXPORT_SYMBOL_IF_KUNIT(vib_payload_put);

/* switch/switch.h */
EXPORT_SYMBOL_IF_KUNIT(vib_switch_create);
EXPORT_SYMBOL_IF_KUNIT(vib_switch_destroy);
EXPORT_SYMBOL_IF_KUNIT(vib_switch_vl);
