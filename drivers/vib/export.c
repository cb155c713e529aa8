// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* What the KUnit suites call.  Without KUnit vib exports nothing. */
#include <kunit/visibility.h>
#include "config/config.h"
#include "device/hca.h"
#include "device/qp.h"
#include "fabric/fabric.h"
#include "fabric/fault.h"
#include "memory/mr.h"
#include "memory/tuple.h"
#include "mgmt/mgmt.h"
#include "packet/packet.h"
#include "queue/queue.h"
#include "queue/srq.h"
#include "requester/requester.h"
#include "responder/responder.h"
#include "switch/switch.h"
#include "transport/rc.h"
#include "trunk/trunk.h"

/* capture/capture.h */
EXPORT_SYMBOL_IF_KUNIT(vib_capture_key);
EXPORT_SYMBOL_IF_KUNIT(vib_capture_show);
EXPORT_SYMBOL_IF_KUNIT(vib_capture_start);
EXPORT_SYMBOL_IF_KUNIT(vib_capture_stop);
EXPORT_SYMBOL_IF_KUNIT(vib_icrc);
EXPORT_SYMBOL_IF_KUNIT(vib_vcrc);

/* config/config.h */
EXPORT_SYMBOL_IF_KUNIT(vib_config_address);
EXPORT_SYMBOL_IF_KUNIT(vib_config_ports_read);

/* device/hca.h */
EXPORT_SYMBOL_IF_KUNIT(vib_hca_create);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_destroy);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_receive);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_register);
EXPORT_SYMBOL_IF_KUNIT(vib_hca_unregister);
EXPORT_SYMBOL_IF_KUNIT(vib_node_remove);
EXPORT_SYMBOL_IF_KUNIT(vib_port_xmit);

/* device/qp.h */
EXPORT_SYMBOL_IF_KUNIT(vib_qp_kick);

/* fabric/fabric.h */
EXPORT_SYMBOL_IF_KUNIT(vib_fabric_cleanup);
EXPORT_SYMBOL_IF_KUNIT(vib_fabric_find);
EXPORT_SYMBOL_IF_KUNIT(vib_fabric_init);
EXPORT_SYMBOL_IF_KUNIT(vib_free_wq);
EXPORT_SYMBOL_IF_KUNIT(vib_link_cut);
EXPORT_SYMBOL_IF_KUNIT(vib_link_init);
EXPORT_SYMBOL_IF_KUNIT(vib_link_is_plugged);
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
EXPORT_SYMBOL_IF_KUNIT(vib_port_link_up);
EXPORT_SYMBOL_IF_KUNIT(vib_port_ready);
EXPORT_SYMBOL_IF_KUNIT(vib_port_sent_smp);
EXPORT_SYMBOL_IF_KUNIT(vib_port_set_phys);
EXPORT_SYMBOL_IF_KUNIT(vib_port_set_state);
EXPORT_SYMBOL_IF_KUNIT(vib_tx_credit);
EXPORT_SYMBOL_IF_KUNIT(vib_wq);

/* fabric/fault.h */
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_delay);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_match);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_rate);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_set_seed);
EXPORT_SYMBOL_IF_KUNIT(vib_fault_struck);

/* memory/mr.h */
EXPORT_SYMBOL_IF_KUNIT(vib_integrity_register);
EXPORT_SYMBOL_IF_KUNIT(vib_key_invalidate);
EXPORT_SYMBOL_IF_KUNIT(vib_mem_walk);
EXPORT_SYMBOL_IF_KUNIT(vib_mr_register);
EXPORT_SYMBOL_IF_KUNIT(vib_mw_bind);
EXPORT_SYMBOL_IF_KUNIT(vib_remote_atomic);
EXPORT_SYMBOL_IF_KUNIT(vib_remote_walk);

/* memory/tuple.h */
EXPORT_SYMBOL_IF_KUNIT(vib_guard_add);
EXPORT_SYMBOL_IF_KUNIT(vib_guard_get);
EXPORT_SYMBOL_IF_KUNIT(vib_guard_init);
EXPORT_SYMBOL_IF_KUNIT(vib_tuple_convert);
EXPORT_SYMBOL_IF_KUNIT(vib_tuple_escapes);
EXPORT_SYMBOL_IF_KUNIT(vib_tuple_make);
EXPORT_SYMBOL_IF_KUNIT(vib_tuple_right);

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

/* queue/queue.h */
EXPORT_SYMBOL_IF_KUNIT(vib_queue_len);
EXPORT_SYMBOL_IF_KUNIT(vib_queue_peek);
EXPORT_SYMBOL_IF_KUNIT(vib_queue_push);
EXPORT_SYMBOL_IF_KUNIT(vib_queue_slot);

/* queue/rq.h */
EXPORT_SYMBOL_IF_KUNIT(vib_rq_take);

/* queue/srq.h */
EXPORT_SYMBOL_IF_KUNIT(vib_srq_find);
EXPORT_SYMBOL_IF_KUNIT(vib_srq_put);
EXPORT_SYMBOL_IF_KUNIT(vib_srq_take);

/* requester/requester.h */
EXPORT_SYMBOL_IF_KUNIT(vib_completer_act);
EXPORT_SYMBOL_IF_KUNIT(vib_requester_expired);
EXPORT_SYMBOL_IF_KUNIT(vib_rnr_ns);

/* responder/responder.h */
EXPORT_SYMBOL_IF_KUNIT(vib_op);
EXPORT_SYMBOL_IF_KUNIT(vib_resource_replying);
EXPORT_SYMBOL_IF_KUNIT(vib_resource_sent);
EXPORT_SYMBOL_IF_KUNIT(vib_responder_act);
EXPORT_SYMBOL_IF_KUNIT(vib_rx_op);

/* switch/switch.h */
EXPORT_SYMBOL_IF_KUNIT(vib_switch_create);
EXPORT_SYMBOL_IF_KUNIT(vib_switch_destroy);
EXPORT_SYMBOL_IF_KUNIT(vib_switch_vl);

/* transport/rc.h */
EXPORT_SYMBOL_IF_KUNIT(vib_op_ext);
EXPORT_SYMBOL_IF_KUNIT(vib_op_ext_len);
EXPORT_SYMBOL_IF_KUNIT(vib_packet_ext);
EXPORT_SYMBOL_IF_KUNIT(vib_rc_transport);

/* trunk/flow.h */
EXPORT_SYMBOL_IF_KUNIT(vib_flow_init);
EXPORT_SYMBOL_IF_KUNIT(vib_flow_limit);
EXPORT_SYMBOL_IF_KUNIT(vib_flow_receive);
EXPORT_SYMBOL_IF_KUNIT(vib_flow_recover);
EXPORT_SYMBOL_IF_KUNIT(vib_flow_send);
EXPORT_SYMBOL_IF_KUNIT(vib_flow_sequence);
EXPORT_SYMBOL_IF_KUNIT(vib_flow_tell);

/* trunk/session.h */
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_classify);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_is_of);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_session_init);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_step);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_take_step);

/* trunk/trunk.h */
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_close);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_datagram);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_open);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_plug);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_wq);

/* trunk/wire.h */
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_parse);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_put);
EXPORT_SYMBOL_IF_KUNIT(vib_trunk_put_packet);
