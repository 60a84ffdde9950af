# SPDX-License-Identifier: Apache-2.0
# Lays the headers that are installed here out as their unpacked archives have them, each with one more header that tells
# them apart: TO/fmt/include/{fmt,fetched_fmt.hpp}, and so on.
#
#   cmake -DTO=FOLDER "-DFROM=fmt|/usr/include|xtl|/usr/include" -P unpacked.cmake
string(REPLACE "|" ";" FROM "${FROM}")
while(FROM)
  list(POP_FRONT FROM name folder)
  file(COPY "${folder}/${name}" DESTINATION "${TO}/${name}/include")
  file(WRITE "${TO}/${name}/include/fetched_${name}.hpp" "// ${name}\n")
  file(WRITE "${TO}/${name}/LICENSE" "${name}\n")
endwhile()
