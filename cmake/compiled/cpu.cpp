// The cpu device's engine, compiled once; and for what this library was compiled.
#include <meshtensor/run/linked.hpp>

namespace meshtensor {

#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
template class engine<cpu_device>;
template class session<cpu_device>;
template class cpu::attention<float, float>;
template class cpu::attention<double, double>;
template class cpu::attention<float, bf16_t>;
template void cpu::interpret<when_used>(cpu::fused_kernel&);
template std::unique_ptr<cpu::composite_kernel> cpu::detail::make_any_attention<when_used>(module const&, node const&,
                                                                                           view const*, int);
template rates cpu::measure_rates<when_used>(cpu::thread_team&);
#endif

template <int MostNodes, int LanesOfFloat>
int compiled_for<MostNodes, LanesOfFloat>::check() {
  return 1;
}
template struct compiled_for<max_nodes, 0>;
#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
template struct compiled_for<max_nodes, cpu::width_of<float>>;
#endif

}  // namespace meshtensor
