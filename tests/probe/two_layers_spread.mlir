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
      %arg14: tensor<f32>,  // learning_rate / (1 - power(0.9, updates(optimizer/first/weight) + 1))
      %arg15: tensor<f32>,  // rsqrt(1 - power(0.999, updates(optimizer/first/weight) + 1))
      %arg16: tensor<f32>,  // learning_rate / (1 - power(0.9, updates(optimizer/first/bias) + 1))
      %arg17: tensor<f32>,  // rsqrt(1 - power(0.999, updates(optimizer/first/bias) + 1))
      %arg18: tensor<f32>,  // learning_rate / (1 - power(0.9, updates(optimizer/last/weight) + 1))
      %arg19: tensor<f32>,  // rsqrt(1 - power(0.999, updates(optimizer/last/weight) + 1))
      %arg20: tensor<f32>,  // learning_rate / (1 - power(0.9, updates(optimizer/last/bias) + 1))
      %arg21: tensor<f32>  // rsqrt(1 - power(0.999, updates(optimizer/last/bias) + 1))
  ) -> (tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
    // two_layers.hpp:22 first
    %0 = "stablehlo.dot_general"(%arg0, %arg2) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x12xf32>, tensor<12x8xf32>) -> tensor<4x8xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg3) {broadcast_dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:22
    %3 = "stablehlo.tanh"(%2) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:23 last
    %4 = "stablehlo.dot_general"(%3, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
    %5 = "stablehlo.all_reduce"(%4) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %6 = "stablehlo.broadcast_in_dim"(%arg5) {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6xf32>
    %7 = "stablehlo.add"(%5, %6) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    // two_layers.hpp:23
    %8 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %9 = "stablehlo.reduce"(%7, %8) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %10 = "stablehlo.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %12 = "stablehlo.maximum"(%9, %11) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %13 = "stablehlo.broadcast_in_dim"(%12) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %14 = "stablehlo.subtract"(%7, %13) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %15 = "stablehlo.exponential"(%14) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %16 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %17 = "stablehlo.reduce"(%15, %16) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %18 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %19 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4x6xi32>
    %20 = "stablehlo.broadcast_in_dim"(%18) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<4x6xi32>
    %21 = "stablehlo.compare"(%19, %20) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %22 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4x6xf32>
    %24 = "stablehlo.select"(%21, %14, %23) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %25 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %26 = "stablehlo.reduce"(%24, %25) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %27 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %29 = "stablehlo.maximum"(%17, %28) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %30 = "stablehlo.log"(%29) : (tensor<4xf32>) -> tensor<4xf32>
    %31 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %32 = "stablehlo.compare"(%17, %31) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %33 = "stablehlo.subtract"(%30, %26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %34 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %35 = "stablehlo.select"(%32, %34, %33) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %36 = "stablehlo.log"(%17) : (tensor<4xf32>) -> tensor<4xf32>
    %37 = "stablehlo.add"(%30, %12) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %38 = "stablehlo.select"(%32, %36, %37) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %39 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%35, %39) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %41 = "stablehlo.constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
    %42 = "stablehlo.divide"(%40, %41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // two_layers.hpp:25
    %43 = "stablehlo.all_reduce"(%42) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<f32>) -> tensor<f32>
    // two_layers.hpp:24 optimizer
    %44 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    // two_layers.hpp:23
    %45 = "stablehlo.divide"(%44, %41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %47 = "stablehlo.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %49 = "stablehlo.maximum"(%38, %48) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %51 = "stablehlo.subtract"(%7, %50) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %52 = "stablehlo.exponential"(%51) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %53 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %54 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4x6xi32>
    %55 = "stablehlo.broadcast_in_dim"(%53) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<4x6xi32>
    %56 = "stablehlo.compare"(%54, %55) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %57 = "stablehlo.convert"(%56) : (tensor<4x6xi1>) -> tensor<4x6xf32>
    %58 = "stablehlo.subtract"(%52, %57) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %59 = "stablehlo.broadcast_in_dim"(%47) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %60 = "stablehlo.compare"(%38, %59) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %61 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %63 = "stablehlo.select"(%60, %62, %46) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %64 = "stablehlo.broadcast_in_dim"(%63) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %65 = "stablehlo.multiply"(%58, %64) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    // two_layers.hpp:23 last
    %66 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %67 = "stablehlo.reduce"(%65, %66) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    // two_layers.hpp:24 optimizer
    %68 = "stablehlo.all_reduce"(%67) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<6xf32>) -> tensor<6xf32>
    // two_layers.hpp:23 last
    %69 = "stablehlo.dot_general"(%65, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>
    %70 = "stablehlo.dot_general"(%65, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
    %71 = "stablehlo.transpose"(%70) {permutation = array<i64: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:24 optimizer
    %72 = "stablehlo.all_reduce"(%71) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:22
    %73 = "stablehlo.multiply"(%3, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %74 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
    %75 = "stablehlo.subtract"(%74, %73) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %76 = "stablehlo.multiply"(%69, %75) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:22 first
    %77 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %78 = "stablehlo.reduce"(%76, %77) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    // two_layers.hpp:24 optimizer
    %79 = "stablehlo.all_reduce"(%78) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
    // two_layers.hpp:22 first
    %80 = "stablehlo.dot_general"(%76, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
    %81 = "stablehlo.transpose"(%80) {permutation = array<i64: 1, 0>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
    // two_layers.hpp:24 optimizer
    %82 = "stablehlo.all_reduce"(%81) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %83 = "stablehlo.constant"() {value = dense<0.8999999761581421> : tensor<f32>} : () -> tensor<f32>
    %84 = "stablehlo.constant"() {value = dense<0.10000000149011612> : tensor<f32>} : () -> tensor<f32>
    %85 = "stablehlo.constant"() {value = dense<0.9990000128746033> : tensor<f32>} : () -> tensor<f32>
    %86 = "stablehlo.constant"() {value = dense<0.0010000000474974513> : tensor<f32>} : () -> tensor<f32>
    %87 = "stablehlo.constant"() {value = dense<9.99999993922529e-09> : tensor<f32>} : () -> tensor<f32>
    %88 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %89 = "stablehlo.multiply"(%82, %88) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %90 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %91 = "stablehlo.multiply"(%arg6, %90) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %92 = "stablehlo.add"(%91, %89) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %93 = "stablehlo.multiply"(%82, %82) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %94 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %95 = "stablehlo.multiply"(%93, %94) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %96 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %97 = "stablehlo.multiply"(%arg7, %96) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %98 = "stablehlo.add"(%97, %95) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %99 = "stablehlo.sqrt"(%98) : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %100 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %101 = "stablehlo.multiply"(%99, %100) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %102 = "stablehlo.broadcast_in_dim"(%87) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %103 = "stablehlo.add"(%101, %102) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %104 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %105 = "stablehlo.multiply"(%92, %104) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %106 = "stablehlo.divide"(%105, %103) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %107 = "stablehlo.subtract"(%arg2, %106) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %108 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %109 = "stablehlo.multiply"(%79, %108) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %110 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %111 = "stablehlo.multiply"(%arg8, %110) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %112 = "stablehlo.add"(%111, %109) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %113 = "stablehlo.multiply"(%79, %79) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %114 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %115 = "stablehlo.multiply"(%113, %114) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %116 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %117 = "stablehlo.multiply"(%arg9, %116) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %118 = "stablehlo.add"(%117, %115) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %119 = "stablehlo.sqrt"(%118) : (tensor<8xf32>) -> tensor<8xf32>
    %120 = "stablehlo.broadcast_in_dim"(%arg17) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %121 = "stablehlo.multiply"(%119, %120) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %122 = "stablehlo.broadcast_in_dim"(%87) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %123 = "stablehlo.add"(%121, %122) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %124 = "stablehlo.broadcast_in_dim"(%arg16) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %125 = "stablehlo.multiply"(%112, %124) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %126 = "stablehlo.divide"(%125, %123) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %127 = "stablehlo.subtract"(%arg3, %126) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %128 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %129 = "stablehlo.multiply"(%72, %128) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %130 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %131 = "stablehlo.multiply"(%arg10, %130) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %132 = "stablehlo.add"(%131, %129) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %133 = "stablehlo.multiply"(%72, %72) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %134 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %135 = "stablehlo.multiply"(%133, %134) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %136 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %137 = "stablehlo.multiply"(%arg11, %136) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %138 = "stablehlo.add"(%137, %135) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %139 = "stablehlo.sqrt"(%138) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %140 = "stablehlo.broadcast_in_dim"(%arg19) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %141 = "stablehlo.multiply"(%139, %140) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %142 = "stablehlo.broadcast_in_dim"(%87) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %143 = "stablehlo.add"(%141, %142) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %144 = "stablehlo.broadcast_in_dim"(%arg18) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %145 = "stablehlo.multiply"(%132, %144) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %146 = "stablehlo.divide"(%145, %143) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %147 = "stablehlo.subtract"(%arg4, %146) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %148 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %149 = "stablehlo.multiply"(%68, %148) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %150 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %151 = "stablehlo.multiply"(%arg12, %150) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %152 = "stablehlo.add"(%151, %149) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %153 = "stablehlo.multiply"(%68, %68) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %154 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %155 = "stablehlo.multiply"(%153, %154) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %156 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %157 = "stablehlo.multiply"(%arg13, %156) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %158 = "stablehlo.add"(%157, %155) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %159 = "stablehlo.sqrt"(%158) : (tensor<6xf32>) -> tensor<6xf32>
    %160 = "stablehlo.broadcast_in_dim"(%arg21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %161 = "stablehlo.multiply"(%159, %160) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %162 = "stablehlo.broadcast_in_dim"(%87) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %163 = "stablehlo.add"(%161, %162) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %164 = "stablehlo.broadcast_in_dim"(%arg20) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %165 = "stablehlo.multiply"(%152, %164) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %166 = "stablehlo.divide"(%165, %163) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %167 = "stablehlo.subtract"(%arg5, %166) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    // two_layers.hpp:25
    func.return %92, %98, %107, %112, %118, %127, %132, %138, %147, %152, %158, %167, %43 : tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
  }
}
