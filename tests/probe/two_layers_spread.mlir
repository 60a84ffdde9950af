module @"train_step" attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 4 : i32} {
  func.func public @main(
      %arg0: tensor<4x12xf32>,  // image
      %arg1: tensor<4xi32>,  // label
      %arg2: tensor<12x8xf32> {tf.aliasing_output = 2 : i32},  // first/weight
      %arg3: tensor<8xf32> {tf.aliasing_output = 5 : i32},  // first/bias
      %arg4: tensor<8x6xf32> {tf.aliasing_output = 8 : i32},  // last/weight
      %arg5: tensor<6xf32> {tf.aliasing_output = 11 : i32},  // last/bias
      %arg6: tensor<12x8xf32> {tf.aliasing_output = 0 : i32},  // optimizer/first/weight/m
      %arg7: tensor<12x8xf32> {tf.aliasing_output = 1 : i32},  // optimizer/first/weight/v
      %arg8: tensor<8xf32> {tf.aliasing_output = 3 : i32},  // optimizer/first/bias/m
      %arg9: tensor<8xf32> {tf.aliasing_output = 4 : i32},  // optimizer/first/bias/v
      %arg10: tensor<8x6xf32> {tf.aliasing_output = 6 : i32},  // optimizer/last/weight/m
      %arg11: tensor<8x6xf32> {tf.aliasing_output = 7 : i32},  // optimizer/last/weight/v
      %arg12: tensor<6xf32> {tf.aliasing_output = 9 : i32},  // optimizer/last/bias/m
      %arg13: tensor<6xf32> {tf.aliasing_output = 10 : i32},  // optimizer/last/bias/v
      %arg14: tensor<f32>,  // learning_rate / (1 - power(0.9, step + 1))
      %arg15: tensor<f32>  // rsqrt(1 - power(0.999, step + 1))
  ) -> (tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
    // two_layers.hpp:26 first
    %0 = "stablehlo.dot_general"(%arg0, %arg2) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x12xf32>, tensor<12x8xf32>) -> tensor<4x8xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg3) {broadcast_dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:26
    %3 = "stablehlo.tanh"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:27 last
    %4 = "stablehlo.dot_general"(%3, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %5 = "stablehlo.all_reduce"(%4) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %6 = "stablehlo.broadcast_in_dim"(%arg5) {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
    %7 = "stablehlo.add"(%5, %6) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    // two_layers.hpp:27
    %8 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %9 = "stablehlo.reduce"(%7, %8) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %10 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %11 = "stablehlo.subtract"(%7, %10) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %12 = "stablehlo.exponential"(%11) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %13 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %14 = "stablehlo.reduce"(%12, %13) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %15 = "stablehlo.log"(%14) : (tensor<4xf32>) -> tensor<4xf32>
    %16 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %17 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4x6xi32>
    %18 = "stablehlo.broadcast_in_dim"(%16) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<4x6xi32>
    %19 = "stablehlo.compare"(%17, %18) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %20 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4x6xf32>
    %22 = "stablehlo.select"(%19, %11, %21) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %23 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%22, %23) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %25 = "stablehlo.subtract"(%15, %24) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %26 = "stablehlo.add"(%15, %9) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %27 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %28 = "stablehlo.reduce"(%25, %27) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %29 = "stablehlo.constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
    %30 = "stablehlo.divide"(%28, %29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // two_layers.hpp:29
    %31 = "stablehlo.all_reduce"(%30) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<f32>) -> tensor<f32>
    // two_layers.hpp:28 optimizer
    %32 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    // two_layers.hpp:27
    %33 = "stablehlo.divide"(%32, %29) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %35 = "stablehlo.broadcast_in_dim"(%26) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %36 = "stablehlo.subtract"(%7, %35) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %37 = "stablehlo.exponential"(%36) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %38 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %39 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4x6xi32>
    %40 = "stablehlo.broadcast_in_dim"(%38) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<4x6xi32>
    %41 = "stablehlo.compare"(%39, %40) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %42 = "stablehlo.convert"(%41) : (tensor<4x6xi1>) -> tensor<4x6xf32>
    %43 = "stablehlo.subtract"(%37, %42) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %44 = "stablehlo.broadcast_in_dim"(%34) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %45 = "stablehlo.multiply"(%43, %44) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    // two_layers.hpp:27 last
    %46 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %47 = "stablehlo.reduce"(%45, %46) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    // two_layers.hpp:28 optimizer
    %48 = "stablehlo.all_reduce"(%47) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<6xf32>) -> tensor<6xf32>
    // two_layers.hpp:27 last
    %49 = "stablehlo.dot_general"(%45, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>
    %50 = "stablehlo.dot_general"(%45, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
    %51 = "stablehlo.transpose"(%50) {permutation = array<i64: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:28 optimizer
    %52 = "stablehlo.all_reduce"(%51) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:26
    %53 = "stablehlo.multiply"(%3, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %54 = "stablehlo.broadcast_in_dim"(%32) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
    %55 = "stablehlo.subtract"(%54, %53) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %56 = "stablehlo.multiply"(%49, %55) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:26 first
    %57 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %58 = "stablehlo.reduce"(%56, %57) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    // two_layers.hpp:28 optimizer
    %59 = "stablehlo.all_reduce"(%58) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
    // two_layers.hpp:26 first
    %60 = "stablehlo.dot_general"(%56, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
    %61 = "stablehlo.transpose"(%60) {permutation = array<i64: 1, 0>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
    // two_layers.hpp:28 optimizer
    %62 = "stablehlo.all_reduce"(%61) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %63 = "stablehlo.constant"() {value = dense<0.8999999761581421> : tensor<f32>} : () -> tensor<f32>
    %64 = "stablehlo.constant"() {value = dense<0.10000000149011612> : tensor<f32>} : () -> tensor<f32>
    %65 = "stablehlo.constant"() {value = dense<0.9990000128746033> : tensor<f32>} : () -> tensor<f32>
    %66 = "stablehlo.constant"() {value = dense<0.0010000000474974513> : tensor<f32>} : () -> tensor<f32>
    %67 = "stablehlo.constant"() {value = dense<9.99999993922529e-09> : tensor<f32>} : () -> tensor<f32>
    %68 = "stablehlo.broadcast_in_dim"(%64) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %69 = "stablehlo.multiply"(%62, %68) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %70 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %71 = "stablehlo.multiply"(%arg6, %70) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %72 = "stablehlo.add"(%71, %69) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %73 = "stablehlo.multiply"(%62, %62) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %74 = "stablehlo.broadcast_in_dim"(%66) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %75 = "stablehlo.multiply"(%73, %74) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %76 = "stablehlo.broadcast_in_dim"(%65) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %77 = "stablehlo.multiply"(%arg7, %76) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %78 = "stablehlo.add"(%77, %75) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %79 = "stablehlo.sqrt"(%78) : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %80 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %81 = "stablehlo.multiply"(%79, %80) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %82 = "stablehlo.broadcast_in_dim"(%67) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %83 = "stablehlo.add"(%81, %82) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %84 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %85 = "stablehlo.multiply"(%72, %84) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %86 = "stablehlo.divide"(%85, %83) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %87 = "stablehlo.subtract"(%arg2, %86) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %88 = "stablehlo.broadcast_in_dim"(%64) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %89 = "stablehlo.multiply"(%59, %88) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %90 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %91 = "stablehlo.multiply"(%arg8, %90) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %92 = "stablehlo.add"(%91, %89) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %93 = "stablehlo.multiply"(%59, %59) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %94 = "stablehlo.broadcast_in_dim"(%66) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %95 = "stablehlo.multiply"(%93, %94) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %96 = "stablehlo.broadcast_in_dim"(%65) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %97 = "stablehlo.multiply"(%arg9, %96) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %98 = "stablehlo.add"(%97, %95) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %99 = "stablehlo.sqrt"(%98) : (tensor<8xf32>) -> tensor<8xf32>
    %100 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %101 = "stablehlo.multiply"(%99, %100) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %102 = "stablehlo.broadcast_in_dim"(%67) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %103 = "stablehlo.add"(%101, %102) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %104 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %105 = "stablehlo.multiply"(%92, %104) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %106 = "stablehlo.divide"(%105, %103) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %107 = "stablehlo.subtract"(%arg3, %106) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %108 = "stablehlo.broadcast_in_dim"(%64) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %109 = "stablehlo.multiply"(%52, %108) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %110 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %111 = "stablehlo.multiply"(%arg10, %110) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %112 = "stablehlo.add"(%111, %109) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %113 = "stablehlo.multiply"(%52, %52) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %114 = "stablehlo.broadcast_in_dim"(%66) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %115 = "stablehlo.multiply"(%113, %114) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %116 = "stablehlo.broadcast_in_dim"(%65) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %117 = "stablehlo.multiply"(%arg11, %116) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %118 = "stablehlo.add"(%117, %115) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %119 = "stablehlo.sqrt"(%118) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %120 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %121 = "stablehlo.multiply"(%119, %120) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %122 = "stablehlo.broadcast_in_dim"(%67) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %123 = "stablehlo.add"(%121, %122) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %124 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %125 = "stablehlo.multiply"(%112, %124) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %126 = "stablehlo.divide"(%125, %123) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %127 = "stablehlo.subtract"(%arg4, %126) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %128 = "stablehlo.broadcast_in_dim"(%64) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %129 = "stablehlo.multiply"(%48, %128) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %130 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %131 = "stablehlo.multiply"(%arg12, %130) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %132 = "stablehlo.add"(%131, %129) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %133 = "stablehlo.multiply"(%48, %48) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %134 = "stablehlo.broadcast_in_dim"(%66) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %135 = "stablehlo.multiply"(%133, %134) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %136 = "stablehlo.broadcast_in_dim"(%65) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %137 = "stablehlo.multiply"(%arg13, %136) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %138 = "stablehlo.add"(%137, %135) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %139 = "stablehlo.sqrt"(%138) : (tensor<6xf32>) -> tensor<6xf32>
    %140 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %141 = "stablehlo.multiply"(%139, %140) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %142 = "stablehlo.broadcast_in_dim"(%67) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %143 = "stablehlo.add"(%141, %142) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %144 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %145 = "stablehlo.multiply"(%132, %144) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %146 = "stablehlo.divide"(%145, %143) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %147 = "stablehlo.subtract"(%arg5, %146) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    // two_layers.hpp:29
    func.return %72, %78, %87, %92, %98, %107, %112, %118, %127, %132, %138, %147, %31 : tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
  }
}
