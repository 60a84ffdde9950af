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
      %arg14: tensor<f32>,  // learning_rate / (1 - power(0.9, step + 1))
      %arg15: tensor<f32>  // rsqrt(1 - power(0.999, step + 1))
  ) -> (tensor<12x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>) {
    // two_layers.hpp:26 first
    %0 = "stablehlo.dot_general"(%arg0, %arg2) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x12xf32>, tensor<12x16xf32>) -> tensor<8x16xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg3) {broadcast_dimensions = array<i64: 1>} : (tensor<16xf32>) -> tensor<8x16xf32>
    %2 = "stablehlo.add"(%0, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:26
    %3 = "stablehlo.tanh"(%2) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:27 last
    %4 = "stablehlo.dot_general"(%3, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x16xf32>, tensor<16x6xf32>) -> tensor<8x6xf32>
    %5 = "stablehlo.broadcast_in_dim"(%arg5) {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<8x6xf32>
    %6 = "stablehlo.add"(%4, %5) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:27
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
    %26 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %27 = "stablehlo.compare"(%16, %26) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %28 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    %29 = "stablehlo.broadcast_in_dim"(%28) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %30 = "stablehlo.maximum"(%16, %29) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %31 = "stablehlo.log"(%30) : (tensor<8xf32>) -> tensor<8xf32>
    %32 = "stablehlo.subtract"(%31, %25) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %33 = "stablehlo.broadcast_in_dim"(%21) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %34 = "stablehlo.select"(%27, %33, %32) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %35 = "stablehlo.log"(%16) : (tensor<8xf32>) -> tensor<8xf32>
    %36 = "stablehlo.add"(%35, %11) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %37 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %38 = "stablehlo.reduce"(%34, %37) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %39 = "stablehlo.constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
    %40 = "stablehlo.divide"(%38, %39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // two_layers.hpp:28 optimizer
    %41 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    // two_layers.hpp:27
    %42 = "stablehlo.divide"(%41, %39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %43 = "stablehlo.broadcast_in_dim"(%42) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %44 = "stablehlo.constant"() {value = dense<-3.4028234663852886e+38> : tensor<f32>} : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %46 = "stablehlo.maximum"(%36, %45) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %47 = "stablehlo.broadcast_in_dim"(%46) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %48 = "stablehlo.subtract"(%6, %47) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %49 = "stablehlo.exponential"(%48) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %50 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %51 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<8xi32>) -> tensor<8x6xi32>
    %52 = "stablehlo.broadcast_in_dim"(%50) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<8x6xi32>
    %53 = "stablehlo.compare"(%51, %52) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
    %54 = "stablehlo.convert"(%53) : (tensor<8x6xi1>) -> tensor<8x6xf32>
    %55 = "stablehlo.subtract"(%49, %54) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %56 = "stablehlo.broadcast_in_dim"(%44) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %57 = "stablehlo.compare"(%36, %56) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %58 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %59 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %60 = "stablehlo.select"(%57, %59, %43) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %62 = "stablehlo.multiply"(%55, %61) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:27 last
    %63 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %64 = "stablehlo.reduce"(%62, %63) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
    %65 = "stablehlo.dot_general"(%62, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x6xf32>, tensor<16x6xf32>) -> tensor<8x16xf32>
    %66 = "stablehlo.dot_general"(%62, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x6xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
    %67 = "stablehlo.transpose"(%66) {permutation = array<i64: 1, 0>} : (tensor<6x16xf32>) -> tensor<16x6xf32>
    // two_layers.hpp:26
    %68 = "stablehlo.multiply"(%3, %3) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %69 = "stablehlo.broadcast_in_dim"(%41) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x16xf32>
    %70 = "stablehlo.subtract"(%69, %68) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %71 = "stablehlo.multiply"(%65, %70) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:26 first
    %72 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %73 = "stablehlo.reduce"(%71, %72) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %74 = "stablehlo.dot_general"(%71, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x16xf32>, tensor<8x12xf32>) -> tensor<16x12xf32>
    %75 = "stablehlo.transpose"(%74) {permutation = array<i64: 1, 0>} : (tensor<16x12xf32>) -> tensor<12x16xf32>
    // two_layers.hpp:28 optimizer
    %76 = "stablehlo.constant"() {value = dense<0.8999999761581421> : tensor<f32>} : () -> tensor<f32>
    %77 = "stablehlo.constant"() {value = dense<0.10000000149011612> : tensor<f32>} : () -> tensor<f32>
    %78 = "stablehlo.constant"() {value = dense<0.9990000128746033> : tensor<f32>} : () -> tensor<f32>
    %79 = "stablehlo.constant"() {value = dense<0.0010000000474974513> : tensor<f32>} : () -> tensor<f32>
    %80 = "stablehlo.constant"() {value = dense<9.99999993922529e-09> : tensor<f32>} : () -> tensor<f32>
    %81 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %82 = "stablehlo.multiply"(%75, %81) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %83 = "stablehlo.broadcast_in_dim"(%76) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %84 = "stablehlo.multiply"(%arg6, %83) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %85 = "stablehlo.add"(%84, %82) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %86 = "stablehlo.multiply"(%75, %75) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %87 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %88 = "stablehlo.multiply"(%86, %87) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %89 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %90 = "stablehlo.multiply"(%arg7, %89) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %91 = "stablehlo.add"(%90, %88) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %92 = "stablehlo.sqrt"(%91) : (tensor<12x16xf32>) -> tensor<12x16xf32>
    %93 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %94 = "stablehlo.multiply"(%92, %93) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %95 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %96 = "stablehlo.add"(%94, %95) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %97 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %98 = "stablehlo.multiply"(%85, %97) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %99 = "stablehlo.divide"(%98, %96) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %100 = "stablehlo.subtract"(%arg2, %99) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %101 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %102 = "stablehlo.multiply"(%73, %101) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %103 = "stablehlo.broadcast_in_dim"(%76) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %104 = "stablehlo.multiply"(%arg8, %103) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %105 = "stablehlo.add"(%104, %102) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %106 = "stablehlo.multiply"(%73, %73) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %107 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %108 = "stablehlo.multiply"(%106, %107) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %109 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %110 = "stablehlo.multiply"(%arg9, %109) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %111 = "stablehlo.add"(%110, %108) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %112 = "stablehlo.sqrt"(%111) : (tensor<16xf32>) -> tensor<16xf32>
    %113 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %114 = "stablehlo.multiply"(%112, %113) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %115 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %116 = "stablehlo.add"(%114, %115) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %117 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %118 = "stablehlo.multiply"(%105, %117) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %119 = "stablehlo.divide"(%118, %116) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %120 = "stablehlo.subtract"(%arg3, %119) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %121 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %122 = "stablehlo.multiply"(%67, %121) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %123 = "stablehlo.broadcast_in_dim"(%76) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %124 = "stablehlo.multiply"(%arg10, %123) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %125 = "stablehlo.add"(%124, %122) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %126 = "stablehlo.multiply"(%67, %67) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %127 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %128 = "stablehlo.multiply"(%126, %127) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %129 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %130 = "stablehlo.multiply"(%arg11, %129) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %131 = "stablehlo.add"(%130, %128) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %132 = "stablehlo.sqrt"(%131) : (tensor<16x6xf32>) -> tensor<16x6xf32>
    %133 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %134 = "stablehlo.multiply"(%132, %133) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %135 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %136 = "stablehlo.add"(%134, %135) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %137 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %138 = "stablehlo.multiply"(%125, %137) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %139 = "stablehlo.divide"(%138, %136) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %140 = "stablehlo.subtract"(%arg4, %139) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %141 = "stablehlo.broadcast_in_dim"(%77) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %142 = "stablehlo.multiply"(%64, %141) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %143 = "stablehlo.broadcast_in_dim"(%76) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %144 = "stablehlo.multiply"(%arg12, %143) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %145 = "stablehlo.add"(%144, %142) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %146 = "stablehlo.multiply"(%64, %64) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %147 = "stablehlo.broadcast_in_dim"(%79) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %148 = "stablehlo.multiply"(%146, %147) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %149 = "stablehlo.broadcast_in_dim"(%78) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %150 = "stablehlo.multiply"(%arg13, %149) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %151 = "stablehlo.add"(%150, %148) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %152 = "stablehlo.sqrt"(%151) : (tensor<6xf32>) -> tensor<6xf32>
    %153 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %154 = "stablehlo.multiply"(%152, %153) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %155 = "stablehlo.broadcast_in_dim"(%80) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %156 = "stablehlo.add"(%154, %155) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %157 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %158 = "stablehlo.multiply"(%145, %157) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %159 = "stablehlo.divide"(%158, %156) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %160 = "stablehlo.subtract"(%arg5, %159) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    func.return %85, %91, %100, %105, %111, %120, %125, %131, %140, %145, %151, %160, %40 : tensor<12x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
  }
}
