module @"train_step" attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(
      %arg0: tensor<8x12xf32>,  // image
      %arg1: tensor<8xi32>,  // label
      %arg2: tensor<12x16xf32> {tf.aliasing_output = 2 : i32},  // first/weight
      %arg3: tensor<16xf32> {tf.aliasing_output = 5 : i32},  // first/bias
      %arg4: tensor<16x6xf32> {tf.aliasing_output = 8 : i32},  // last/weight
      %arg5: tensor<6xf32> {tf.aliasing_output = 11 : i32},  // last/bias
      %arg6: tensor<12x16xf32> {tf.aliasing_output = 0 : i32},  // optimizer/first/weight/m
      %arg7: tensor<12x16xf32> {tf.aliasing_output = 1 : i32},  // optimizer/first/weight/v
      %arg8: tensor<16xf32> {tf.aliasing_output = 3 : i32},  // optimizer/first/bias/m
      %arg9: tensor<16xf32> {tf.aliasing_output = 4 : i32},  // optimizer/first/bias/v
      %arg10: tensor<16x6xf32> {tf.aliasing_output = 6 : i32},  // optimizer/last/weight/m
      %arg11: tensor<16x6xf32> {tf.aliasing_output = 7 : i32},  // optimizer/last/weight/v
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
  ) -> (tensor<12x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
    // two_layers.hpp:22 first
    %0 = "stablehlo.dot_general"(%arg0, %arg2) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x12xf32>, tensor<12x16xf32>) -> tensor<8x16xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg3) {broadcast_dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<8x16xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:22
    %3 = "stablehlo.tanh"(%2) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:23 last
    %4 = "stablehlo.dot_general"(%3, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x16xf32>, tensor<16x6xf32>) -> tensor<8x6xf32>
    %5 = "stablehlo.broadcast_in_dim"(%arg5) {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<8x6xf32>
    %6 = "stablehlo.add"(%4, %5) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:23
    %7 = "stablehlo.constant"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
    %8 = "stablehlo.reduce"(%6, %7) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %9 = "stablehlo.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %11 = "stablehlo.maximum"(%8, %10) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %13 = "stablehlo.subtract"(%6, %12) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %14 = "stablehlo.exponential"(%13) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %15 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%14, %15) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %17 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %18 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<8xi32>) -> tensor<8x6xi32>
    %19 = "stablehlo.broadcast_in_dim"(%17) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<8x6xi32>
    %20 = "stablehlo.compare"(%18, %19) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
    %21 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %23 = "stablehlo.select"(%20, %13, %22) : (tensor<8x6xi1>, tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %24 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %25 = "stablehlo.reduce"(%23, %24) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %26 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %28 = "stablehlo.maximum"(%16, %27) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %29 = "stablehlo.log"(%28) : (tensor<8xf32>) -> tensor<8xf32>
    %30 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %31 = "stablehlo.compare"(%16, %30) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %32 = "stablehlo.subtract"(%29, %25) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %33 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %34 = "stablehlo.select"(%31, %33, %32) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %35 = "stablehlo.log"(%16) : (tensor<8xf32>) -> tensor<8xf32>
    %36 = "stablehlo.add"(%29, %11) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %37 = "stablehlo.select"(%31, %35, %36) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %38 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %39 = "stablehlo.reduce"(%34, %38) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %40 = "stablehlo.constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
    %41 = "stablehlo.divide"(%39, %40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // two_layers.hpp:24 optimizer
    %42 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    // two_layers.hpp:23
    %43 = "stablehlo.divide"(%42, %40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %45 = "stablehlo.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %47 = "stablehlo.maximum"(%37, %46) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %48 = "stablehlo.broadcast_in_dim"(%47) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %49 = "stablehlo.subtract"(%6, %48) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %50 = "stablehlo.exponential"(%49) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %51 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %52 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<8xi32>) -> tensor<8x6xi32>
    %53 = "stablehlo.broadcast_in_dim"(%51) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<8x6xi32>
    %54 = "stablehlo.compare"(%52, %53) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
    %55 = "stablehlo.convert"(%54) : (tensor<8x6xi1>) -> tensor<8x6xf32>
    %56 = "stablehlo.subtract"(%50, %55) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %57 = "stablehlo.broadcast_in_dim"(%45) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %58 = "stablehlo.compare"(%37, %57) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %59 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %60 = "stablehlo.broadcast_in_dim"(%59) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %61 = "stablehlo.select"(%58, %60, %44) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %62 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %63 = "stablehlo.multiply"(%56, %62) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:23 last
    %64 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %65 = "stablehlo.reduce"(%63, %64) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
    %66 = "stablehlo.dot_general"(%63, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x6xf32>, tensor<16x6xf32>) -> tensor<8x16xf32>
    %67 = "stablehlo.dot_general"(%63, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x6xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
    %68 = "stablehlo.transpose"(%67) {permutation = array<i64: 1, 0>} : (tensor<6x16xf32>) -> tensor<16x6xf32>
    // two_layers.hpp:22
    %69 = "stablehlo.multiply"(%3, %3) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %70 = "stablehlo.broadcast_in_dim"(%42) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x16xf32>
    %71 = "stablehlo.subtract"(%70, %69) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %72 = "stablehlo.multiply"(%66, %71) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:22 first
    %73 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %74 = "stablehlo.reduce"(%72, %73) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %75 = "stablehlo.dot_general"(%72, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x16xf32>, tensor<8x12xf32>) -> tensor<16x12xf32>
    %76 = "stablehlo.transpose"(%75) {permutation = array<i64: 1, 0>} : (tensor<16x12xf32>) -> tensor<12x16xf32>
    // two_layers.hpp:24 optimizer
    %77 = "stablehlo.constant"() {value = dense<0.8999999761581421> : tensor<f32>} : () -> tensor<f32>
    %78 = "stablehlo.constant"() {value = dense<0.10000000149011612> : tensor<f32>} : () -> tensor<f32>
    %79 = "stablehlo.constant"() {value = dense<0.9990000128746033> : tensor<f32>} : () -> tensor<f32>
    %80 = "stablehlo.constant"() {value = dense<0.0010000000474974513> : tensor<f32>} : () -> tensor<f32>
    %81 = "stablehlo.constant"() {value = dense<9.99999993922529e-09> : tensor<f32>} : () -> tensor<f32>
    %82 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %83 = "stablehlo.multiply"(%76, %82) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %84 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %85 = "stablehlo.multiply"(%arg6, %84) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %86 = "stablehlo.add"(%85, %83) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %87 = "stablehlo.multiply"(%76, %76) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %88 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %89 = "stablehlo.multiply"(%87, %88) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %90 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %91 = "stablehlo.multiply"(%arg7, %90) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %92 = "stablehlo.add"(%91, %89) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %93 = "stablehlo.sqrt"(%92) : (tensor<12x16xf32>) -> tensor<12x16xf32>
    %94 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %95 = "stablehlo.multiply"(%93, %94) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %96 = "stablehlo.broadcast_in_dim"(%81) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %97 = "stablehlo.add"(%95, %96) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %98 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %99 = "stablehlo.multiply"(%86, %98) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %100 = "stablehlo.divide"(%99, %97) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %101 = "stablehlo.subtract"(%arg2, %100) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %102 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %103 = "stablehlo.multiply"(%74, %102) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %104 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %105 = "stablehlo.multiply"(%arg8, %104) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %106 = "stablehlo.add"(%105, %103) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %107 = "stablehlo.multiply"(%74, %74) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %108 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %109 = "stablehlo.multiply"(%107, %108) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %110 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %111 = "stablehlo.multiply"(%arg9, %110) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %112 = "stablehlo.add"(%111, %109) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %113 = "stablehlo.sqrt"(%112) : (tensor<16xf32>) -> tensor<16xf32>
    %114 = "stablehlo.broadcast_in_dim"(%arg17) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %115 = "stablehlo.multiply"(%113, %114) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %116 = "stablehlo.broadcast_in_dim"(%81) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %117 = "stablehlo.add"(%115, %116) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %118 = "stablehlo.broadcast_in_dim"(%arg16) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %119 = "stablehlo.multiply"(%106, %118) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %120 = "stablehlo.divide"(%119, %117) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %121 = "stablehlo.subtract"(%arg3, %120) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %122 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %123 = "stablehlo.multiply"(%68, %122) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %124 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %125 = "stablehlo.multiply"(%arg10, %124) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %126 = "stablehlo.add"(%125, %123) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %127 = "stablehlo.multiply"(%68, %68) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %128 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %129 = "stablehlo.multiply"(%127, %128) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %130 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %131 = "stablehlo.multiply"(%arg11, %130) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %132 = "stablehlo.add"(%131, %129) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %133 = "stablehlo.sqrt"(%132) : (tensor<16x6xf32>) -> tensor<16x6xf32>
    %134 = "stablehlo.broadcast_in_dim"(%arg19) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %135 = "stablehlo.multiply"(%133, %134) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %136 = "stablehlo.broadcast_in_dim"(%81) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %137 = "stablehlo.add"(%135, %136) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %138 = "stablehlo.broadcast_in_dim"(%arg18) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %139 = "stablehlo.multiply"(%126, %138) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %140 = "stablehlo.divide"(%139, %137) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %141 = "stablehlo.subtract"(%arg4, %140) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %142 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %143 = "stablehlo.multiply"(%65, %142) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %144 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %145 = "stablehlo.multiply"(%arg12, %144) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %146 = "stablehlo.add"(%145, %143) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %147 = "stablehlo.multiply"(%65, %65) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %148 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %149 = "stablehlo.multiply"(%147, %148) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %150 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %151 = "stablehlo.multiply"(%arg13, %150) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %152 = "stablehlo.add"(%151, %149) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %153 = "stablehlo.sqrt"(%152) : (tensor<6xf32>) -> tensor<6xf32>
    %154 = "stablehlo.broadcast_in_dim"(%arg21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %155 = "stablehlo.multiply"(%153, %154) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %156 = "stablehlo.broadcast_in_dim"(%81) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %157 = "stablehlo.add"(%155, %156) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %158 = "stablehlo.broadcast_in_dim"(%arg20) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %159 = "stablehlo.multiply"(%146, %158) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %160 = "stablehlo.divide"(%159, %157) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %161 = "stablehlo.subtract"(%arg5, %160) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    func.return %86, %92, %101, %106, %112, %121, %126, %132, %141, %146, %152, %161, %41 : tensor<12x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
  }
}
