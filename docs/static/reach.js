// What scrolls sideways can be reached and scrolled with the keyboard.
"use strict";
const FRAMES = "pre, .table-wrapper, .cell_output .output";
function reach() {
  for (const frame of document.querySelectorAll(FRAMES)) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
    else frame.removeAttribute("tabindex");
  }
}
addEventListener("load", reach);
addEventListener("resize", reach);
