// Files from the kernel, piece by piece, put together in the browser and saved under their names.
export default {
  render({ model, el }) {
    const list = document.createElement("ul");
    list.className = "df-downloads";
    el.append(list);
    let open = null;
    const ask = () => model.send({ kind: "want", at: open.at, number: open.pieces.length });
    const save = () => {
      const url = URL.createObjectURL(new Blob(open.pieces, { type: "application/octet-stream" }));
      const link = document.createElement("a");
      link.href = url;
      link.download = open.name;
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(url), 60000);
      open = null;
    };
    const heard = (message, buffers) => {
      if (!open || message.at !== open.at) return;
      if (message.kind === "gone") { open.note.textContent = ` gone: ${message.why}`; open = null; return; }
      if (message.kind !== "piece" || message.number !== open.pieces.length) return;
      open.pieces.push(buffers[0]);
      if (open.pieces.length * model.get("piece_bytes") < open.size_bytes) ask();
      else save();
    };
    const show = () => {
      list.replaceChildren(...model.get("files").map((file) => {
        const item = document.createElement("li");
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = `Download ${file.name}`;
        const note = document.createElement("span");
        note.textContent = ` ${file.kind}, ${file.size_bytes.toLocaleString("en")} bytes, SHA-256 ${file.sha256.slice(0, 16)}\u2026`;
        button.addEventListener("click", () => {
          open = { ...file, pieces: [], note };
          if (file.size_bytes) ask(); else save();
        });
        item.append(button, note);
        return item;
      }));
    };
    model.on("msg:custom", heard);
    model.on("change:files", show);
    show();
    return () => { model.off("msg:custom", heard); model.off("change:files", show); };
  },
};
