// One sentence in an element that stays, so that it is announced when its text changes.
const dark = () => {
  const lab = document.body.dataset.jpThemeLight;
  const own = getComputedStyle(document.body).getPropertyValue("--df-look").trim();
  return own ? own === "dark" : lab === "false";
};
export default {
  render({ model, el }) {
    const line = document.createElement("div");
    line.className = "df-status";
    line.setAttribute("role", "status");
    line.setAttribute("aria-live", "polite");
    const say = () => {
      line.textContent = (model.get("failed") ? "\u26a0 " : "") + model.get("text");
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
    return () => media.removeEventListener("change", tell);
  },
};
