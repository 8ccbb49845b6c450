"""What Streamlit's shortcuts lack for a review by keyboard: E puts the cursor into the wording, Esc takes it out, and what
is typed there is sent on while one types; of two decisions at once only the first counts. Also the sheet of keys. The script
is ours alone and reads no text of the page but its heading.
"""

import streamlit as st

WORDING_BOX = "wording-box"  # key of the container that holds the wording's text area

KEYS = (
    ("A", "accept, and go on to the next to review"),
    ("X", "reject, and go on"),
    ("N", "needs work, and go on"),
    ("E", "edit the wording; Esc leaves it, the draft is kept"),
    ("W", "save the wording"),
    ("Right, Left", "next, previous"),
    ("M", "merge with others"),
    ("S", "split"),
    ("F", "find similar candidates"),
    ("Z, Shift+Z", "undo, redo"),
    ("Y, B", "in a merge or a split: do it, go back"),
    ("H", "this sheet"),
)

SCRIPT = """
export default function () {
  if (window.forethoughtKeyboard) return;
  window.forethoughtKeyboard = true;
  const box = () => document.querySelector(".st-key-wording-box textarea");
  const isTyping = (element) => element.matches("input, textarea, select, [contenteditable=true]");
  let timer, decided = "", at = 0;
  const heading = () => document.querySelector("[data-testid=stMain] h3")?.textContent ?? "";
  window.addEventListener("keydown", (event) => {  // a second decision before the next candidate is there is for nobody
    if (heading() !== decided) decided = "";
    if (!"axn".includes(event.key) || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (decided && Date.now() - at < 5000) return event.stopImmediatePropagation();
    decided = heading();
    at = Date.now();
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping(event.target)) event.target.blur();
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    if (event.key === "e" && plain && !isTyping(event.target) && box()) {
      event.preventDefault();
      box().focus();
      box().setSelectionRange(box().value.length, box().value.length);
    }
  });
  document.addEventListener("pointerup", () => setTimeout(() => {  // a box ticked by mouse holds no key back
    if (document.activeElement?.matches("input[type=checkbox]")) document.activeElement.blur();
  }, 50), true);
  document.addEventListener("input", (event) => {
    if (event.target !== box()) return;
    clearTimeout(timer);
    timer = setTimeout(() => {  // released, too: a key that is held keeps every shortcut from working
      for (const type of ["keydown", "keyup"])
        event.target.dispatchEvent(new KeyboardEvent(type, { key: "Enter", ctrlKey: true, bubbles: true }));
    }, 600);
  });
}
"""


def listen() -> None:
    """Once on a page that has a wording to edit."""
    st.components.v2.component("forethought_keyboard", js=SCRIPT)(key="keyboard")


def sheet() -> None:
    with st.container(border=True):
        st.caption("Keys, as long as you are not typing")
        st.table({key: what for key, what in KEYS}, border="horizontal")
