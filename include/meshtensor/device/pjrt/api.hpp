// SPDX-License-Identifier: Apache-2.0
// The part of PJRT's C interface that meshtensor uses: a table of functions, each with one struct of arguments.
//
// source  openxla/xla, xla/pjrt/c/pjrt_c_api.h, versions 0.57 to 0.117. If that header is installed,
//         tests/unit/device/pjrt_api.cpp compares these declarations with it
#pragma once

#include <cstddef>
#include <cstdint>

namespace meshtensor::pjrt {

// Objects that a plugin owns. Their contents are never read here.
struct failure;
struct event;
struct client;
struct device;
struct device_description;
struct executable;
struct loaded_executable;
struct serialized_executable;
struct topology;
struct buffer;

/// The beginning of every struct.
struct head {
  std::size_t size;
  void* extensions;
};

/// Indices in the table of functions. Since version 0.57, new functions are only added at the end.
enum class slot : int {
  failure_destroy = 0,
  failure_message = 1,
  plugin_initialize = 3,
  event_destroy = 5,
  event_await = 8,
  client_create = 10,
  client_platform_name = 12,
  client_platform_version = 14,
  client_addressable_devices = 16,
  client_compile = 20,
  buffer_from_host = 22,
  description_id = 23,
  description_kind = 26,
  device_description = 29,
  device_memory = 34,
  executable_destroy = 40,
  executable_cost = 46,
  executable_program = 48,
  executable_serialize = 49,
  loaded_destroy = 50,
  loaded_executable = 51,
  loaded_execute = 55,
  loaded_deserialize = 56,
  buffer_destroy = 58,
  buffer_is_deleted = 68,
  buffer_to_host = 70,
  topology_create = 82,
  topology_destroy = 83,
  compile_for_topology = 89,
  executable_memory = 96,
};

struct table {
  struct head head;
  struct {
    struct head head;
    int major, minor;
  } version;
  void* functions[1];  // as many as fit in `head.size` bytes
};

enum class element : std::int32_t { boolean = 1, i32 = 4, i64 = 5, u8 = 6, u64 = 9, f32 = 11, f64 = 12, bf16 = 13 };

struct failure_arguments {
  struct head head;
  failure* which;
};
struct message_arguments {
  struct head head;
  failure const* which;
  char const* text;
  std::size_t length;
};
struct initialize_arguments {
  struct head head;
};
struct event_arguments {
  struct head head;
  event* which;
};
struct named_value {
  enum kind_t : std::int32_t { text, integer, integers, real, boolean };
  struct head head;
  char const* name;
  std::size_t name_length;
  kind_t kind;
  union {
    char const* text;
    std::int64_t integer;
    std::int64_t const* integers;
    float real;
    bool boolean;
  } content;
  std::size_t length;  // of a text or a list, otherwise 1
};
/// The arguments by which a plugin's client gets values that other processes have put, and puts its own.
struct key_value_get_arguments {
  struct head head;
  char const* key;
  std::size_t key_length;
  int wait_ms;
  failure* (**fail)(int code, char const* text, std::size_t length);
  void* user;
  char* value;
  std::size_t value_length;
  void (*release)(char*);
};
struct key_value_try_arguments {
  struct head head;
  char const* key;
  std::size_t key_length;
  failure* (**fail)(int code, char const* text, std::size_t length);
  void* user;
  char* value;
  std::size_t value_length;
  void (*release)(char*);
};
struct key_value_put_arguments {
  struct head head;
  char const* key;
  std::size_t key_length;
  char const* value;
  std::size_t value_length;
  failure* (**fail)(int code, char const* text, std::size_t length);
  void* user;
};
struct create_arguments {
  struct head head;
  named_value const* options;
  std::size_t option_count;
  failure* (*get)(key_value_get_arguments*);
  void* get_user;
  failure* (*put)(key_value_put_arguments*);
  void* put_user;
  client* made;
  failure* (*try_get)(key_value_try_arguments*);
  void* try_get_user;
};
struct name_arguments {
  struct head head;
  client* which;
  char const* text;
  std::size_t length;
};
struct devices_arguments {
  struct head head;
  client* which;
  device* const* all;
  std::size_t count;
};
struct program {
  struct head head;
  char* code;
  std::size_t length;
  char const* format;
  std::size_t format_length;
};
struct compile_arguments {
  struct head head;
  client* which;
  program const* source;
  char const* options;
  std::size_t options_length;
  loaded_executable* made;
};
struct from_host_arguments {
  struct head head;
  client* which;
  void const* data;
  element type;
  std::int64_t const* dims;
  std::size_t dim_count;
  std::int64_t const* strides;
  std::size_t stride_count;
  std::int32_t semantics;  // 0 if `data` is read during the call
  device* where;
  void *memory, *layout;
  event* is_read;
  buffer* made;
};
struct description_arguments {
  struct head head;
  device* which;
  device_description* found;
};
struct id_arguments {
  struct head head;
  device_description* which;
  int id;
};
struct kind_arguments {
  struct head head;
  device_description* which;
  char const* text;
  std::size_t length;
};
/// A number that a plugin may leave out.
struct optional_bytes {
  std::int64_t bytes;
  bool is_set;
};
struct device_memory_arguments {
  struct head head;
  device* which;
  std::int64_t in_use;
  optional_bytes peak, allocations, largest_allocation, limit, reserved, peak_reserved, reservable, largest_free, pool,
      peak_pool;
};
struct loaded_arguments {
  struct head head;
  loaded_executable* which;
};
struct executable_of_arguments {
  struct head head;
  loaded_executable* which;
  executable* found;
};
struct executable_arguments {
  struct head head;
  executable* which;
};
/// The bytes of a program on each device, followed by those on the host. `peak` is 0 before version 0.72.
struct executable_memory_arguments {
  struct head head;
  executable* which;
  std::int64_t code, arguments, results, aliased, temporary, host[5], peak;
};
struct cost_arguments {
  struct head head;
  executable* which;
  std::size_t count;
  named_value const* all;
};
/// The program as it was compiled. The first call gives its length. If `made->code` has room, a call gives its bytes.
struct executable_program_arguments {
  struct head head;
  executable* which;
  program* made;
};
/// Hardware that need not be on this machine, by its name, for example `v5e:2x2`.
struct topology_arguments {
  struct head head;
  char const* name;
  std::size_t name_length;
  named_value const* options;
  std::size_t option_count;
  topology* made;
};
struct topology_destroy_arguments {
  struct head head;
  topology* which;
};
struct compile_for_topology_arguments {
  struct head head;
  topology const* which;
  program const* source;
  char const* options;
  std::size_t options_length;
  client* none;
  executable* made;
};
struct serialize_arguments {
  struct head head;
  executable const* which;
  char const* bytes;
  std::size_t length;
  serialized_executable* kept;
  void (*release)(serialized_executable*);
};
struct deserialize_arguments {
  struct head head;
  client* which;
  char const* bytes;
  std::size_t length;
  loaded_executable* made;
  char const* options;
  std::size_t options_length;
};
struct execute_options {
  struct head head;
  void *send, *receive;
  std::size_t send_count, receive_count;
  int launch;
  std::int64_t const* kept;  // arguments that are not donated in this run
  std::size_t kept_count;
};
struct execute_arguments {
  struct head head;
  loaded_executable* which;
  execute_options* options;
  buffer* const* const* arguments;
  std::size_t device_count, argument_count;
  buffer** const* results;
  event** done;
  device* on;
};
struct buffer_arguments {
  struct head head;
  buffer* which;
};
struct is_deleted_arguments {
  struct head head;
  buffer* which;
  bool is_deleted;
};
struct tiled_layout {
  struct head head;
  std::int64_t const* minor_to_major;
  std::size_t dim_count;
  std::int64_t const* tiles;
  std::size_t const* tile_sizes;
  std::size_t tile_count;
};
struct memory_layout {
  struct head head;
  tiled_layout tiled;
  std::int32_t kind;  // 0 if tiled
};
struct to_host_arguments {
  struct head head;
  buffer* which;
  memory_layout* layout;
  void* to;
  std::size_t bytes;
  event* is_written;
};

}  // namespace meshtensor::pjrt
