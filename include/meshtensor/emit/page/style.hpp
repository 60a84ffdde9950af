// SPDX-License-Identifier: Apache-2.0
// The style sheet of a page. On narrow windows, plans stand below each other and wide tables scroll alone. The page is
// dark if the reader prefers dark pages.
#pragma once

#include <string>

#include "meshtensor/emit/canvas.hpp"

namespace meshtensor::detail {

inline std::string style_of_page() {
  return ":root{color-scheme:light dark;--ink:#1f2328;--quiet:#59636e;--paper:#ffffff;--rule:#d0d7de}"
         "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--quiet:#9198a1;--paper:#0d1117;--rule:#3d444d}}"
         "*{box-sizing:border-box}"
         "body{font:14px/1.5 system-ui,sans-serif;margin:24px;color:var(--ink);background:var(--paper)}"
         "@media(max-width:600px){body{margin:12px}}"
         ".plans{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,500px),1fr));gap:40px}"
         ".plan{min-width:0;max-width:1080px}.wide{overflow-x:auto}"
         "table{border-collapse:collapse;margin:8px 0}td,th{padding:2px 14px 2px 0;text-align:left;vertical-align:top}"
         "th{border-bottom:1px solid var(--rule)}"
         "td.whole{white-space:nowrap}td.number,th.number{text-align:right;white-space:nowrap;font-variant-numeric:"
         "tabular-nums}"
         "h1{font-size:20px;overflow-wrap:anywhere}h2{font-size:16px;margin:28px 0 4px}p{max-width:760px;margin:4px 0}"
         ".quiet{color:var(--quiet)}.legend{display:flex;flex-wrap:wrap;gap:2px 16px;list-style:none;padding:0}"
         ".colour{display:inline-block;width:12px;height:12px;margin-right:6px}"
         ".figures{display:flex;flex-wrap:wrap;gap:20px 28px}figure{margin:0;max-width:100%;min-width:0}"
         "figcaption{max-width:360px;margin-bottom:6px;overflow-wrap:anywhere}summary{cursor:pointer}"
         "svg{display:block;max-width:100%;height:auto}.curve svg{width:100%;max-width:760px}"
         ".ends{display:flex;justify-content:space-between;max-width:760px}" +
         canvas::style_sheet() + "@media(prefers-color-scheme:dark){" + canvas::dark_style_sheet() + "}";
}

}  // namespace meshtensor::detail
