// SPDX-License-Identifier: Apache-2.0
// The declarations of PJRT's interface are those of the official header, where there is one.
#include "meshtensor/device/pjrt/api.hpp"

#include <doctest/doctest.h>

#if __has_include(<pjrt_c_api.h>)
#  include <pjrt_c_api.h>
#endif

#include "support/python.hpp"

#if __has_include(<pjrt_c_api.h>)
namespace {

namespace pjrt = meshtensor::pjrt;

/// Whether a member of ours lies where the official one does, and is as long.
template <class Ours, class Theirs, class A, class B>
bool same(A Ours::* ours, B Theirs::* theirs) {
  static Ours const a{};
  static Theirs const b{};
  auto const place = [](auto const& whole, auto const& member) {
    return reinterpret_cast<char const*>(&member) - reinterpret_cast<char const*>(&whole);
  };
  return sizeof(A) == sizeof(B) && place(a, a.*ours) == place(b, b.*theirs);
}
template <class F>
int slot_of(F PJRT_Api::* function) {
  static PJRT_Api const api{};
  auto const bytes = reinterpret_cast<char const*>(&(api.*function)) - reinterpret_cast<char const*>(&api);
  return static_cast<int>((static_cast<std::size_t>(bytes) - offsetof(pjrt::table, functions)) / sizeof(void*));
}
int number(pjrt::slot s) { return static_cast<int>(s); }

}  // namespace

TEST_CASE("functions stand where they are declared") {
  using pjrt::slot;
  CHECK(number(slot::failure_destroy) == slot_of(&PJRT_Api::PJRT_Error_Destroy));
  CHECK(number(slot::failure_message) == slot_of(&PJRT_Api::PJRT_Error_Message));
  CHECK(number(slot::plugin_initialize) == slot_of(&PJRT_Api::PJRT_Plugin_Initialize));
  CHECK(number(slot::event_destroy) == slot_of(&PJRT_Api::PJRT_Event_Destroy));
  CHECK(number(slot::event_await) == slot_of(&PJRT_Api::PJRT_Event_Await));
  CHECK(number(slot::client_create) == slot_of(&PJRT_Api::PJRT_Client_Create));
  CHECK(number(slot::client_platform_name) == slot_of(&PJRT_Api::PJRT_Client_PlatformName));
  CHECK(number(slot::client_addressable_devices) == slot_of(&PJRT_Api::PJRT_Client_AddressableDevices));
  CHECK(number(slot::client_compile) == slot_of(&PJRT_Api::PJRT_Client_Compile));
  CHECK(number(slot::buffer_from_host) == slot_of(&PJRT_Api::PJRT_Client_BufferFromHostBuffer));
  CHECK(number(slot::description_id) == slot_of(&PJRT_Api::PJRT_DeviceDescription_Id));
  CHECK(number(slot::description_kind) == slot_of(&PJRT_Api::PJRT_DeviceDescription_Kind));
  CHECK(number(slot::device_description) == slot_of(&PJRT_Api::PJRT_Device_GetDescription));
  CHECK(number(slot::client_platform_version) == slot_of(&PJRT_Api::PJRT_Client_PlatformVersion));
  CHECK(number(slot::device_memory) == slot_of(&PJRT_Api::PJRT_Device_MemoryStats));
  CHECK(number(slot::executable_destroy) == slot_of(&PJRT_Api::PJRT_Executable_Destroy));
  CHECK(number(slot::executable_cost) == slot_of(&PJRT_Api::PJRT_Executable_GetCostAnalysis));
  CHECK(number(slot::executable_program) == slot_of(&PJRT_Api::PJRT_Executable_OptimizedProgram));
  CHECK(number(slot::topology_create) == slot_of(&PJRT_Api::PJRT_TopologyDescription_Create));
  CHECK(number(slot::topology_destroy) == slot_of(&PJRT_Api::PJRT_TopologyDescription_Destroy));
  CHECK(number(slot::compile_for_topology) == slot_of(&PJRT_Api::PJRT_Compile));
  CHECK(number(slot::executable_serialize) == slot_of(&PJRT_Api::PJRT_Executable_Serialize));
  CHECK(number(slot::executable_memory) == slot_of(&PJRT_Api::PJRT_Executable_GetCompiledMemoryStats));
  CHECK(number(slot::loaded_executable) == slot_of(&PJRT_Api::PJRT_LoadedExecutable_GetExecutable));
  CHECK(number(slot::loaded_deserialize) == slot_of(&PJRT_Api::PJRT_Executable_DeserializeAndLoad));
  CHECK(number(slot::loaded_destroy) == slot_of(&PJRT_Api::PJRT_LoadedExecutable_Destroy));
  CHECK(number(slot::loaded_execute) == slot_of(&PJRT_Api::PJRT_LoadedExecutable_Execute));
  CHECK(number(slot::buffer_destroy) == slot_of(&PJRT_Api::PJRT_Buffer_Destroy));
  CHECK(number(slot::buffer_is_deleted) == slot_of(&PJRT_Api::PJRT_Buffer_IsDeleted));
  CHECK(number(slot::buffer_to_host) == slot_of(&PJRT_Api::PJRT_Buffer_ToHostBuffer));
}

TEST_CASE("arguments lie where they are declared") {
  CHECK(same(&pjrt::message_arguments::text, &PJRT_Error_Message_Args::message));
  CHECK(same(&pjrt::message_arguments::length, &PJRT_Error_Message_Args::message_size));
  CHECK(same(&pjrt::named_value::name_length, &PJRT_NamedValue::name_size));
  CHECK(same(&pjrt::named_value::kind, &PJRT_NamedValue::type));
  CHECK(same(&pjrt::named_value::length, &PJRT_NamedValue::value_size));
  CHECK(sizeof(pjrt::named_value) == sizeof(PJRT_NamedValue));  // they are handed over as an array
  CHECK(same(&pjrt::create_arguments::options, &PJRT_Client_Create_Args::create_options));
  CHECK(same(&pjrt::create_arguments::option_count, &PJRT_Client_Create_Args::num_options));
  CHECK(same(&pjrt::create_arguments::made, &PJRT_Client_Create_Args::client));
  CHECK(same(&pjrt::create_arguments::get, &PJRT_Client_Create_Args::kv_get_callback));
  CHECK(same(&pjrt::create_arguments::put_user, &PJRT_Client_Create_Args::kv_put_user_arg));
  CHECK(same(&pjrt::create_arguments::try_get_user, &PJRT_Client_Create_Args::kv_try_get_user_arg));
  CHECK(same(&pjrt::key_value_get_arguments::wait_ms, &PJRT_KeyValueGetCallback_Args::timeout_in_ms));
  CHECK(same(&pjrt::key_value_get_arguments::release, &PJRT_KeyValueGetCallback_Args::value_deleter_callback));
  CHECK(same(&pjrt::key_value_try_arguments::user, &PJRT_KeyValueTryGetCallback_Args::user_arg));
  CHECK(same(&pjrt::key_value_try_arguments::release, &PJRT_KeyValueTryGetCallback_Args::value_deleter_callback));
  CHECK(same(&pjrt::key_value_put_arguments::value_length, &PJRT_KeyValuePutCallback_Args::value_size));
  CHECK(same(&pjrt::key_value_put_arguments::user, &PJRT_KeyValuePutCallback_Args::user_arg));
  CHECK(same(&pjrt::name_arguments::length, &PJRT_Client_PlatformName_Args::platform_name_size));
  CHECK(same(&pjrt::devices_arguments::all, &PJRT_Client_AddressableDevices_Args::addressable_devices));
  CHECK(same(&pjrt::devices_arguments::count, &PJRT_Client_AddressableDevices_Args::num_addressable_devices));
  CHECK(same(&pjrt::program::code, &PJRT_Program::code));
  CHECK(same(&pjrt::program::format_length, &PJRT_Program::format_size));
  CHECK(same(&pjrt::compile_arguments::source, &PJRT_Client_Compile_Args::program));
  CHECK(same(&pjrt::compile_arguments::options_length, &PJRT_Client_Compile_Args::compile_options_size));
  CHECK(same(&pjrt::compile_arguments::made, &PJRT_Client_Compile_Args::executable));
  CHECK(same(&pjrt::from_host_arguments::type, &PJRT_Client_BufferFromHostBuffer_Args::type));
  CHECK(same(&pjrt::from_host_arguments::dim_count, &PJRT_Client_BufferFromHostBuffer_Args::num_dims));
  CHECK(same(&pjrt::from_host_arguments::semantics, &PJRT_Client_BufferFromHostBuffer_Args::host_buffer_semantics));
  CHECK(same(&pjrt::from_host_arguments::where, &PJRT_Client_BufferFromHostBuffer_Args::device));
  CHECK(same(&pjrt::from_host_arguments::is_read, &PJRT_Client_BufferFromHostBuffer_Args::done_with_host_buffer));
  CHECK(same(&pjrt::from_host_arguments::made, &PJRT_Client_BufferFromHostBuffer_Args::buffer));
  CHECK(same(&pjrt::description_arguments::found, &PJRT_Device_GetDescription_Args::device_description));
  CHECK(same(&pjrt::id_arguments::id, &PJRT_DeviceDescription_Id_Args::id));
  CHECK(same(&pjrt::kind_arguments::length, &PJRT_DeviceDescription_Kind_Args::device_kind_size));
  CHECK(same(&pjrt::device_memory_arguments::in_use, &PJRT_Device_MemoryStats_Args::bytes_in_use));
  pjrt::device_memory_arguments const memory{};
  PJRT_Device_MemoryStats_Args const official{};
  auto const place = [](auto const& whole, auto const& member) {
    return reinterpret_cast<char const*>(&member) - reinterpret_cast<char const*>(&whole);
  };
  CHECK(place(memory, memory.limit.bytes) == place(official, official.bytes_limit));
  CHECK(place(memory, memory.limit.is_set) == place(official, official.bytes_limit_is_set));
  CHECK(place(memory, memory.peak_pool.is_set) == place(official, official.peak_pool_bytes_is_set));
  CHECK(same(&pjrt::executable_of_arguments::found, &PJRT_LoadedExecutable_GetExecutable_Args::executable));
  using memory_of = PJRT_Executable_GetCompiledMemoryStats_Args;
  CHECK(same(&pjrt::executable_memory_arguments::arguments, &memory_of::argument_size_in_bytes));
  CHECK(same(&pjrt::executable_memory_arguments::temporary, &memory_of::temp_size_in_bytes));
  CHECK(same(&pjrt::executable_memory_arguments::peak, &memory_of::peak_memory_in_bytes));
  CHECK(same(&pjrt::cost_arguments::all, &PJRT_Executable_GetCostAnalysis_Args::properties));
  CHECK(same(&pjrt::executable_program_arguments::made, &PJRT_Executable_OptimizedProgram_Args::program));
  CHECK(same(&pjrt::topology_arguments::made, &PJRT_TopologyDescription_Create_Args::topology));
  CHECK(same(&pjrt::compile_for_topology_arguments::options_length, &PJRT_Compile_Args::compile_options_size));
  CHECK(same(&pjrt::compile_for_topology_arguments::made, &PJRT_Compile_Args::executable));
  CHECK(same(&pjrt::serialize_arguments::length, &PJRT_Executable_Serialize_Args::serialized_bytes_size));
  CHECK(same(&pjrt::serialize_arguments::release, &PJRT_Executable_Serialize_Args::serialized_executable_deleter));
  CHECK(same(&pjrt::deserialize_arguments::made, &PJRT_Executable_DeserializeAndLoad_Args::loaded_executable));
  CHECK(same(&pjrt::deserialize_arguments::options_length,
             &PJRT_Executable_DeserializeAndLoad_Args::overridden_serialized_compile_options_size));
  CHECK(same(&pjrt::execute_options::kept_count, &PJRT_ExecuteOptions::num_non_donatable_input_indices));
  CHECK(same(&pjrt::execute_arguments::options, &PJRT_LoadedExecutable_Execute_Args::options));
  CHECK(same(&pjrt::execute_arguments::arguments, &PJRT_LoadedExecutable_Execute_Args::argument_lists));
  CHECK(same(&pjrt::execute_arguments::argument_count, &PJRT_LoadedExecutable_Execute_Args::num_args));
  CHECK(same(&pjrt::execute_arguments::results, &PJRT_LoadedExecutable_Execute_Args::output_lists));
  CHECK(same(&pjrt::execute_arguments::done, &PJRT_LoadedExecutable_Execute_Args::device_complete_events));
  CHECK(same(&pjrt::execute_arguments::on, &PJRT_LoadedExecutable_Execute_Args::execute_device));
  CHECK(same(&pjrt::tiled_layout::tile_count, &PJRT_Buffer_MemoryLayout_Tiled::num_tiles));
  CHECK(same(&pjrt::memory_layout::tiled, &PJRT_Buffer_MemoryLayout::tiled));
  CHECK(same(&pjrt::memory_layout::kind, &PJRT_Buffer_MemoryLayout::type));
  CHECK(same(&pjrt::to_host_arguments::to, &PJRT_Buffer_ToHostBuffer_Args::dst));
  CHECK(same(&pjrt::to_host_arguments::is_written, &PJRT_Buffer_ToHostBuffer_Args::event));
}

TEST_CASE("dtypes have the numbers of the interface") {
  CHECK(static_cast<int>(pjrt::element::boolean) == PJRT_Buffer_Type_PRED);
  CHECK(static_cast<int>(pjrt::element::i32) == PJRT_Buffer_Type_S32);
  CHECK(static_cast<int>(pjrt::element::i64) == PJRT_Buffer_Type_S64);
  CHECK(static_cast<int>(pjrt::element::u8) == PJRT_Buffer_Type_U8);
  CHECK(static_cast<int>(pjrt::element::u64) == PJRT_Buffer_Type_U64);
  CHECK(static_cast<int>(pjrt::element::f32) == PJRT_Buffer_Type_F32);
  CHECK(static_cast<int>(pjrt::element::f64) == PJRT_Buffer_Type_F64);
  CHECK(static_cast<int>(pjrt::element::bf16) == PJRT_Buffer_Type_BF16);
  CHECK(static_cast<int>(pjrt::named_value::text) == PJRT_NamedValue_kString);
  CHECK(static_cast<int>(pjrt::named_value::integer) == PJRT_NamedValue_kInt64);
  CHECK(static_cast<int>(pjrt::named_value::integers) == PJRT_NamedValue_kInt64List);
  CHECK(static_cast<int>(pjrt::named_value::real) == PJRT_NamedValue_kFloat);
  CHECK(static_cast<int>(pjrt::named_value::boolean) == PJRT_NamedValue_kBool);
}
#else
TEST_CASE("functions stand where they are declared") {
  meshtensor_test::skip_without_package("PJRT's header is not here: pip install xla-cpu-pjrt");
}
#endif
