// SPDX-License-Identifier: Apache-2.0
// Checkpoints and files shared with other libraries, compiled once.
#include <meshtensor/io/checkpoint/background_writer.hpp>
#include <meshtensor/io/exporting.hpp>
#include <meshtensor/io/importing.hpp>

namespace meshtensor {

template loaded load<lazy>(store&, std::filesystem::path const&, load_options const&);
template std::string save<lazy>(store&, std::filesystem::path const&, notes, checkpoint_options);
template loaded import_safetensors<lazy>(store&, std::filesystem::path const&, import_options const&);
template void export_safetensors<lazy>(store&, std::filesystem::path const&, export_options const&);
template std::unique_ptr<io::checkpoint_saver> io::saver_of<lazy>(store&, std::string, checkpoint_options const&);

}  // namespace meshtensor
