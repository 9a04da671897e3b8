// The page's own address says what is shown, so that it can be shared, and back and forward go through what was shown.
const mine = () => {
  const pairs = new URLSearchParams(location.search);
  pairs.delete("token");
  return pairs.toString();
};
export default {
  render({ model }) {
    // In a notebook the address is the notebook's.
    if (!getComputedStyle(document.body).getPropertyValue("--df-look").trim()) return;
    let first = true;
    const show = () => {
      const wanted = new URLSearchParams(model.get("query"));
      if (wanted.toString() === mine()) { first = false; return; }
      const token = new URLSearchParams(location.search).get("token");
      const whole = new URLSearchParams([...(token ? [["token", token]] : []), ...wanted]);
      history[first ? "replaceState" : "pushState"](null, "", `?${whole}`);
      first = false;
    };
    const went = () => model.send({ kind: "asked", query: mine() });
    model.on("change:query", show);
    addEventListener("popstate", went);
    show();
    return () => { model.off("change:query", show); removeEventListener("popstate", went); };
  },
};
