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
    %27 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %28 = "stablehlo.compare"(%17, %27) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %29 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %31 = "stablehlo.maximum"(%17, %30) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %32 = "stablehlo.log"(%31) : (tensor<4xf32>) -> tensor<4xf32>
    %33 = "stablehlo.subtract"(%32, %26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %34 = "stablehlo.broadcast_in_dim"(%22) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %35 = "stablehlo.select"(%28, %34, %33) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %36 = "stablehlo.log"(%17) : (tensor<4xf32>) -> tensor<4xf32>
    %37 = "stablehlo.add"(%36, %12) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %38 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %39 = "stablehlo.reduce"(%35, %38) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %40 = "stablehlo.constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
    %41 = "stablehlo.divide"(%39, %40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // two_layers.hpp:29
    %42 = "stablehlo.all_reduce"(%41) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<f32>) -> tensor<f32>
    // two_layers.hpp:28 optimizer
    %43 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    // two_layers.hpp:27
    %44 = "stablehlo.divide"(%43, %40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %46 = "stablehlo.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %48 = "stablehlo.maximum"(%37, %47) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %50 = "stablehlo.subtract"(%7, %49) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %51 = "stablehlo.exponential"(%50) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %52 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %53 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4x6xi32>
    %54 = "stablehlo.broadcast_in_dim"(%52) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<4x6xi32>
    %55 = "stablehlo.compare"(%53, %54) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %56 = "stablehlo.convert"(%55) : (tensor<4x6xi1>) -> tensor<4x6xf32>
    %57 = "stablehlo.subtract"(%51, %56) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %58 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %59 = "stablehlo.compare"(%37, %58) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %60 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %61 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %62 = "stablehlo.select"(%59, %61, %45) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %63 = "stablehlo.broadcast_in_dim"(%62) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x6xf32>
    %64 = "stablehlo.multiply"(%57, %63) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    // two_layers.hpp:27 last
    %65 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %66 = "stablehlo.reduce"(%64, %65) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    // two_layers.hpp:28 optimizer
    %67 = "stablehlo.all_reduce"(%66) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<6xf32>) -> tensor<6xf32>
    // two_layers.hpp:27 last
    %68 = "stablehlo.dot_general"(%64, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x6xf32>, tensor<8x6xf32>) -> tensor<4x8xf32>
    %69 = "stablehlo.dot_general"(%64, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x6xf32>, tensor<4x8xf32>) -> tensor<6x8xf32>
    %70 = "stablehlo.transpose"(%69) {permutation = array<i64: 1, 0>} : (tensor<6x8xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:28 optimizer
    %71 = "stablehlo.all_reduce"(%70) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:26
    %72 = "stablehlo.multiply"(%3, %3) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %73 = "stablehlo.broadcast_in_dim"(%43) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4x8xf32>
    %74 = "stablehlo.subtract"(%73, %72) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %75 = "stablehlo.multiply"(%68, %74) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    // two_layers.hpp:26 first
    %76 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %77 = "stablehlo.reduce"(%75, %76) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
    // two_layers.hpp:28 optimizer
    %78 = "stablehlo.all_reduce"(%77) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<8xf32>) -> tensor<8xf32>
    // two_layers.hpp:26 first
    %79 = "stablehlo.dot_general"(%75, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<4x8xf32>, tensor<4x12xf32>) -> tensor<8x12xf32>
    %80 = "stablehlo.transpose"(%79) {permutation = array<i64: 1, 0>} : (tensor<8x12xf32>) -> tensor<12x8xf32>
    // two_layers.hpp:28 optimizer
    %81 = "stablehlo.all_reduce"(%80) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>} : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %82 = "stablehlo.constant"() {value = dense<0.8999999761581421> : tensor<f32>} : () -> tensor<f32>
    %83 = "stablehlo.constant"() {value = dense<0.10000000149011612> : tensor<f32>} : () -> tensor<f32>
    %84 = "stablehlo.constant"() {value = dense<0.9990000128746033> : tensor<f32>} : () -> tensor<f32>
    %85 = "stablehlo.constant"() {value = dense<0.0010000000474974513> : tensor<f32>} : () -> tensor<f32>
    %86 = "stablehlo.constant"() {value = dense<9.99999993922529e-09> : tensor<f32>} : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %88 = "stablehlo.multiply"(%81, %87) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %89 = "stablehlo.broadcast_in_dim"(%82) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %90 = "stablehlo.multiply"(%arg6, %89) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %91 = "stablehlo.add"(%90, %88) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %92 = "stablehlo.multiply"(%81, %81) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %93 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %94 = "stablehlo.multiply"(%92, %93) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %95 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %96 = "stablehlo.multiply"(%arg7, %95) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %97 = "stablehlo.add"(%96, %94) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %98 = "stablehlo.sqrt"(%97) : (tensor<12x8xf32>) -> tensor<12x8xf32>
    %99 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %100 = "stablehlo.multiply"(%98, %99) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %101 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %102 = "stablehlo.add"(%100, %101) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %103 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x8xf32>
    %104 = "stablehlo.multiply"(%91, %103) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %105 = "stablehlo.divide"(%104, %102) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %106 = "stablehlo.subtract"(%arg2, %105) : (tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x8xf32>
    %107 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %108 = "stablehlo.multiply"(%78, %107) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %109 = "stablehlo.broadcast_in_dim"(%82) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %110 = "stablehlo.multiply"(%arg8, %109) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %111 = "stablehlo.add"(%110, %108) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %112 = "stablehlo.multiply"(%78, %78) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %113 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %114 = "stablehlo.multiply"(%112, %113) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %115 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %116 = "stablehlo.multiply"(%arg9, %115) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %117 = "stablehlo.add"(%116, %114) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %118 = "stablehlo.sqrt"(%117) : (tensor<8xf32>) -> tensor<8xf32>
    %119 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %120 = "stablehlo.multiply"(%118, %119) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %121 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %122 = "stablehlo.add"(%120, %121) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %123 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %124 = "stablehlo.multiply"(%111, %123) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %125 = "stablehlo.divide"(%124, %122) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %126 = "stablehlo.subtract"(%arg3, %125) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %127 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %128 = "stablehlo.multiply"(%71, %127) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %129 = "stablehlo.broadcast_in_dim"(%82) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %130 = "stablehlo.multiply"(%arg10, %129) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %131 = "stablehlo.add"(%130, %128) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %132 = "stablehlo.multiply"(%71, %71) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %133 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %134 = "stablehlo.multiply"(%132, %133) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %135 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %136 = "stablehlo.multiply"(%arg11, %135) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %137 = "stablehlo.add"(%136, %134) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %138 = "stablehlo.sqrt"(%137) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %139 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %140 = "stablehlo.multiply"(%138, %139) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %141 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %142 = "stablehlo.add"(%140, %141) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %143 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %144 = "stablehlo.multiply"(%131, %143) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %145 = "stablehlo.divide"(%144, %142) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %146 = "stablehlo.subtract"(%arg4, %145) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %147 = "stablehlo.broadcast_in_dim"(%83) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %148 = "stablehlo.multiply"(%67, %147) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %149 = "stablehlo.broadcast_in_dim"(%82) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %150 = "stablehlo.multiply"(%arg12, %149) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %151 = "stablehlo.add"(%150, %148) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %152 = "stablehlo.multiply"(%67, %67) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %153 = "stablehlo.broadcast_in_dim"(%85) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %154 = "stablehlo.multiply"(%152, %153) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %155 = "stablehlo.broadcast_in_dim"(%84) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %156 = "stablehlo.multiply"(%arg13, %155) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %157 = "stablehlo.add"(%156, %154) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %158 = "stablehlo.sqrt"(%157) : (tensor<6xf32>) -> tensor<6xf32>
    %159 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %160 = "stablehlo.multiply"(%158, %159) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %161 = "stablehlo.broadcast_in_dim"(%86) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %162 = "stablehlo.add"(%160, %161) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %163 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %164 = "stablehlo.multiply"(%151, %163) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %165 = "stablehlo.divide"(%164, %162) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %166 = "stablehlo.subtract"(%arg5, %165) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    // two_layers.hpp:29
    func.return %91, %97, %106, %111, %117, %126, %131, %137, %146, %151, %157, %166, %42 : tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
  }
}
