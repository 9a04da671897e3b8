// One sentence in an element that stays, so that it is announced when its text changes. It tells of the way to the kernel too.
const dark = () => {
  const lab = document.body.dataset.jpThemeLight;
  const own = getComputedStyle(document.body).getPropertyValue("--df-look").trim();
  return own ? own === "dark" : lab === "false";
};
const LOST = "The connection is lost and is being made again. What is under way goes on.";
const AGAIN = "The kernel was started again, and has forgotten what was open here. "
  + "Run the cell again, or load the page again. What was written is kept, and an import goes on where it was.";
const GONE = "The kernel has ended. Load the page again. "
  + "What was written is kept, and an import goes on where it was.";
const ENDED = new Set(["restarting", "autorestarting"]);
export default {
  render({ model, el }) {
    const line = document.createElement("div");
    line.className = "df-status";
    line.setAttribute("role", "status");
    line.setAttribute("aria-live", "polite");
    let trouble = "";
    const say = () => {
      const words = trouble || model.get("text");
      line.textContent = (trouble || model.get("failed") ? "\u26a0 " : "") + words;
    };
    const now = (words) => {
      // What has ended stays ended, whatever the connection does.
      if (trouble === AGAIN || trouble === GONE) return;
      trouble = words;
      say();
    };
    el.append(line);
    say();
    model.on("change:text change:failed", say);
    const tell = () => {
      model.set("look", dark() ? "dark" : "light");
      model.save_changes();
    };
    tell();
    const media = matchMedia("(prefers-color-scheme: dark)");
    media.addEventListener("change", tell);
    const live = () => queueMicrotask(() => {
      if (el.closest(".jupyter-widgets-disconnected")) now(AGAIN);
    });
    const status = (_, found) => {
      if (ENDED.has(found)) now(AGAIN);
      if (found === "dead") now(GONE);
    };
    const connection = (_, found) => now(found === "connected" ? "" : LOST);
    const kernel = model.widget_manager?.kernel;
    model.on("comm_live_update", live);
    kernel?.statusChanged?.connect(status);
    kernel?.connectionStatusChanged?.connect(connection);
    return () => {
      media.removeEventListener("change", tell);
      model.off("comm_live_update", live);
      kernel?.statusChanged?.disconnect(status);
      kernel?.connectionStatusChanged?.disconnect(connection);
    };
  },
};
