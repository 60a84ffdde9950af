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
    %9 = "stablehlo.broadcast_in_dim"(%8) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %10 = "stablehlo.subtract"(%6, %9) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %11 = "stablehlo.exponential"(%10) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %12 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %13 = "stablehlo.reduce"(%11, %12) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %14 = "stablehlo.log"(%13) : (tensor<8xf32>) -> tensor<8xf32>
    %15 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %16 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<8xi32>) -> tensor<8x6xi32>
    %17 = "stablehlo.broadcast_in_dim"(%15) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<8x6xi32>
    %18 = "stablehlo.compare"(%16, %17) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
    %19 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x6xf32>
    %21 = "stablehlo.select"(%18, %10, %20) : (tensor<8x6xi1>, tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %22 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %23 = "stablehlo.reduce"(%21, %22) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 1>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
    %24 = "stablehlo.subtract"(%14, %23) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %25 = "stablehlo.add"(%14, %8) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %26 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %27 = "stablehlo.reduce"(%24, %26) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %28 = "stablehlo.constant"() {value = dense<8.0> : tensor<f32>} : () -> tensor<f32>
    %29 = "stablehlo.divide"(%27, %28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    // two_layers.hpp:28 optimizer
    %30 = "stablehlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
    // two_layers.hpp:27
    %31 = "stablehlo.divide"(%30, %28) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8xf32>
    %33 = "stablehlo.broadcast_in_dim"(%25) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %34 = "stablehlo.subtract"(%6, %33) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %35 = "stablehlo.exponential"(%34) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %36 = "stablehlo.iota"() {iota_dimension = 0 : i64} : () -> tensor<6xi32>
    %37 = "stablehlo.broadcast_in_dim"(%arg1) {broadcast_dimensions = array<i64: 0>} : (tensor<8xi32>) -> tensor<8x6xi32>
    %38 = "stablehlo.broadcast_in_dim"(%36) {broadcast_dimensions = array<i64: 1>} : (tensor<6xi32>) -> tensor<8x6xi32>
    %39 = "stablehlo.compare"(%37, %38) {comparison_direction = #stablehlo<comparison_direction EQ>} : (tensor<8x6xi32>, tensor<8x6xi32>) -> tensor<8x6xi1>
    %40 = "stablehlo.convert"(%39) : (tensor<8x6xi1>) -> tensor<8x6xf32>
    %41 = "stablehlo.subtract"(%35, %40) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    %42 = "stablehlo.broadcast_in_dim"(%32) {broadcast_dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x6xf32>
    %43 = "stablehlo.multiply"(%41, %42) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    // two_layers.hpp:27 last
    %44 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %45 = "stablehlo.reduce"(%43, %44) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8x6xf32>, tensor<f32>) -> tensor<6xf32>
    %46 = "stablehlo.dot_general"(%43, %arg4) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x6xf32>, tensor<16x6xf32>) -> tensor<8x16xf32>
    %47 = "stablehlo.dot_general"(%43, %3) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x6xf32>, tensor<8x16xf32>) -> tensor<6x16xf32>
    %48 = "stablehlo.transpose"(%47) {permutation = array<i64: 1, 0>} : (tensor<6x16xf32>) -> tensor<16x6xf32>
    // two_layers.hpp:26
    %49 = "stablehlo.multiply"(%3, %3) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %50 = "stablehlo.broadcast_in_dim"(%30) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<8x16xf32>
    %51 = "stablehlo.subtract"(%50, %49) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %52 = "stablehlo.multiply"(%46, %51) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    // two_layers.hpp:26 first
    %53 = "stablehlo.constant"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
    %54 = "stablehlo.reduce"(%52, %53) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32> "stablehlo.return"(%c) : (tensor<f32>) -> () }) {dimensions = array<i64: 0>} : (tensor<8x16xf32>, tensor<f32>) -> tensor<16xf32>
    %55 = "stablehlo.dot_general"(%52, %arg0) {dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<8x16xf32>, tensor<8x12xf32>) -> tensor<16x12xf32>
    %56 = "stablehlo.transpose"(%55) {permutation = array<i64: 1, 0>} : (tensor<16x12xf32>) -> tensor<12x16xf32>
    // two_layers.hpp:28 optimizer
    %57 = "stablehlo.constant"() {value = dense<0.8999999761581421> : tensor<f32>} : () -> tensor<f32>
    %58 = "stablehlo.constant"() {value = dense<0.10000000149011612> : tensor<f32>} : () -> tensor<f32>
    %59 = "stablehlo.constant"() {value = dense<0.9990000128746033> : tensor<f32>} : () -> tensor<f32>
    %60 = "stablehlo.constant"() {value = dense<0.0010000000474974513> : tensor<f32>} : () -> tensor<f32>
    %61 = "stablehlo.constant"() {value = dense<9.99999993922529e-09> : tensor<f32>} : () -> tensor<f32>
    %62 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %63 = "stablehlo.multiply"(%56, %62) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %64 = "stablehlo.broadcast_in_dim"(%57) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %65 = "stablehlo.multiply"(%arg6, %64) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %66 = "stablehlo.add"(%65, %63) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %67 = "stablehlo.multiply"(%56, %56) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %68 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %69 = "stablehlo.multiply"(%67, %68) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %70 = "stablehlo.broadcast_in_dim"(%59) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %71 = "stablehlo.multiply"(%arg7, %70) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %72 = "stablehlo.add"(%71, %69) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %73 = "stablehlo.sqrt"(%72) : (tensor<12x16xf32>) -> tensor<12x16xf32>
    %74 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %75 = "stablehlo.multiply"(%73, %74) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %76 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %77 = "stablehlo.add"(%75, %76) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %78 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<12x16xf32>
    %79 = "stablehlo.multiply"(%66, %78) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %80 = "stablehlo.divide"(%79, %77) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %81 = "stablehlo.subtract"(%arg2, %80) : (tensor<12x16xf32>, tensor<12x16xf32>) -> tensor<12x16xf32>
    %82 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %83 = "stablehlo.multiply"(%54, %82) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %84 = "stablehlo.broadcast_in_dim"(%57) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %85 = "stablehlo.multiply"(%arg8, %84) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %86 = "stablehlo.add"(%85, %83) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %87 = "stablehlo.multiply"(%54, %54) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %88 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %89 = "stablehlo.multiply"(%87, %88) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %90 = "stablehlo.broadcast_in_dim"(%59) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %91 = "stablehlo.multiply"(%arg9, %90) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %92 = "stablehlo.add"(%91, %89) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %93 = "stablehlo.sqrt"(%92) : (tensor<16xf32>) -> tensor<16xf32>
    %94 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %95 = "stablehlo.multiply"(%93, %94) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %96 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %97 = "stablehlo.add"(%95, %96) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %98 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16xf32>
    %99 = "stablehlo.multiply"(%86, %98) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %100 = "stablehlo.divide"(%99, %97) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %101 = "stablehlo.subtract"(%arg3, %100) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %102 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %103 = "stablehlo.multiply"(%48, %102) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %104 = "stablehlo.broadcast_in_dim"(%57) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %105 = "stablehlo.multiply"(%arg10, %104) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %106 = "stablehlo.add"(%105, %103) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %107 = "stablehlo.multiply"(%48, %48) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %108 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %109 = "stablehlo.multiply"(%107, %108) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %110 = "stablehlo.broadcast_in_dim"(%59) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %111 = "stablehlo.multiply"(%arg11, %110) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %112 = "stablehlo.add"(%111, %109) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %113 = "stablehlo.sqrt"(%112) : (tensor<16x6xf32>) -> tensor<16x6xf32>
    %114 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %115 = "stablehlo.multiply"(%113, %114) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %116 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %117 = "stablehlo.add"(%115, %116) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %118 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<16x6xf32>
    %119 = "stablehlo.multiply"(%106, %118) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %120 = "stablehlo.divide"(%119, %117) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %121 = "stablehlo.subtract"(%arg4, %120) : (tensor<16x6xf32>, tensor<16x6xf32>) -> tensor<16x6xf32>
    %122 = "stablehlo.broadcast_in_dim"(%58) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %123 = "stablehlo.multiply"(%45, %122) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %124 = "stablehlo.broadcast_in_dim"(%57) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %125 = "stablehlo.multiply"(%arg12, %124) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %126 = "stablehlo.add"(%125, %123) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %127 = "stablehlo.multiply"(%45, %45) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %128 = "stablehlo.broadcast_in_dim"(%60) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %129 = "stablehlo.multiply"(%127, %128) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %130 = "stablehlo.broadcast_in_dim"(%59) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %131 = "stablehlo.multiply"(%arg13, %130) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %132 = "stablehlo.add"(%131, %129) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %133 = "stablehlo.sqrt"(%132) : (tensor<6xf32>) -> tensor<6xf32>
    %134 = "stablehlo.broadcast_in_dim"(%arg15) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %135 = "stablehlo.multiply"(%133, %134) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %136 = "stablehlo.broadcast_in_dim"(%61) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %137 = "stablehlo.add"(%135, %136) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %138 = "stablehlo.broadcast_in_dim"(%arg14) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<6xf32>
    %139 = "stablehlo.multiply"(%126, %138) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %140 = "stablehlo.divide"(%139, %137) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %141 = "stablehlo.subtract"(%arg5, %140) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    func.return %66, %72, %81, %86, %92, %101, %106, %112, %121, %126, %132, %141, %29 : tensor<12x16xf32>, tensor<12x16xf32>, tensor<12x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<16x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<f32>
  }
}
