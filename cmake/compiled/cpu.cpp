// The cpu device's engine, compiled once.
#include <meshtensor/run/linked.hpp>

namespace meshtensor {

#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
template class engine<cpu_device>;
template class session<cpu_device>;
template class cpu::attention<float, float>;
template class cpu::attention<double, double>;
template class cpu::attention<float, bf16_t>;
template rates cpu::measure_rates<when_used>(cpu::thread_team&);
template <>
int compiled_for<max_nodes, cpu::width_of<float>>::check() {
  return 1;
}
#endif
template <>
int compiled_for<max_nodes, 0>::check() {
  return 1;
}

}  // namespace meshtensor
