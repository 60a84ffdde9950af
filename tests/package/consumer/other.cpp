// A second translation unit with the same headers: everything in them must be inline.
#include <meshtensor/base/dtype.hpp>
#include <meshtensor/base/name.hpp>
#if __has_include(<meshtensor/meshtensor.hpp>)
#  include <meshtensor/meshtensor.hpp>
#endif

int answer_of_the_other_file() { return static_cast<int>(meshtensor::name("batch").size()); }
