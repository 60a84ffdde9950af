// SPDX-License-Identifier: Apache-2.0
// The concept of a compressor, which makes a short message of a tensor and a nearby tensor of a message.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "meshtensor/regime/flat_parameter.hpp"

namespace meshtensor {
namespace detail {

/// A message. `sent` are the tensors that travel, and `shared` those that each replica computes for itself, because
/// they are the same in all.
template <class Sent, class Shared = std::tuple<>>
struct compressed_message {
  Sent sent;
  Shared shared;
};
template <class... Sent>
constexpr auto message_of(Sent const&... sent) {
  return compressed_message<std::tuple<Sent...>>{std::tuple(sent...), {}};
}

/// Whether a compressor leaves each dim of a tensor as it is, so that no axis gathers it.
template <class C>
inline constexpr bool keeps_layout = [] {
  if constexpr (requires { C::keeps_layout; }) return C::keeps_layout;
  else return false;
}();

}  // namespace detail

/// A compressor is an empty type. `encode` makes a message of a tensor with the dims `dims`, in the scope of one
/// replica. If the tensor has more dims, it makes a message for each of their indices. `decode` makes a tensor with the
/// dims `dims` of a message. It has more dims if each tensor in `sent` has the dims of `outer`. If `is_linear`, the
/// mean of messages is the message of the mean. `consensus_step` is the share of the way to their neighbours that
/// replicas take in a round of a topology, see `compressed`. A compressor may name another one, `of_means`, for the
/// mean of messages. If it has `keeps_layout = true`, parameters are cut among replicas along one dim, and otherwise as
/// one list of elements.
template <class C>
concept compressor = std::is_empty_v<C> && requires {
  { C::is_linear } -> std::same_as<bool const&>;
  { C::consensus_step } -> std::same_as<double const&>;
};

}  // namespace meshtensor
