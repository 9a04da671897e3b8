// A file to the kernel, piece by piece; every piece is answered before the next one goes.
const WAIT_MS = 15000;
const TRIES = 8;
let count = 0;
export default {
  render({ model, el }) {
    const id = `df-upload-${Date.now()}-${count++}`;
    const label = document.createElement("label");
    label.htmlFor = id;
    label.textContent = model.get("label");
    const input = document.createElement("input");
    input.type = "file";
    input.id = id;
    input.accept = model.get("accept");
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.value = 0;
    bar.hidden = true;
    bar.setAttribute("aria-label", "Upload");
    const box = document.createElement("div");
    box.className = "df-upload";
    box.append(label, input, bar);
    el.append(box);

    let file = null, timer = null, tries = 0, last = null;
    const send = (message, buffers) => {
      last = [message, buffers];
      clearTimeout(timer);
      timer = setTimeout(again, WAIT_MS);
      try {
        model.send(message, undefined, buffers);
      } catch {
        // The connection is down: the timer asks again.
      }
    };
    const again = () => {
      if (!file) return;
      if (++tries > TRIES) {
        end();
        model.send({ kind: "lost" });
        return;
      }
      send(...last);
    };
    const end = () => {
      file = null;
      clearTimeout(timer);
      input.value = "";
      bar.hidden = true;
    };
    const piece = async (number) => {
      const size = model.get("piece_bytes");
      const own = file;
      const data = await own.slice(number * size, (number + 1) * size).arrayBuffer();
      if (own === file) send({ kind: "piece", number }, [new DataView(data)]);
    };
    const heard = (message) => {
      if (!file) return;
      if (message.kind === "refused") return end();
      if (message.kind !== "taken") return;
      const sent = last[0].kind === "begin" ? -1 : last[0].number;
      if (message.number !== sent) return;
      tries = 0;
      const done = (message.number + 1) * model.get("piece_bytes");
      bar.value = file.size ? Math.min(1, done / file.size) : 1;
      if (done < file.size) piece(message.number + 1).catch(end);
      else end();
    };
    model.on("msg:custom", heard);
    input.addEventListener("change", () => {
      if (!input.files[0]) return;
      file = input.files[0];
      tries = 0;
      bar.hidden = false;
      bar.value = 0;
      send({ kind: "begin", name: file.name, size: file.size });
    });
    return () => { end(); model.off("msg:custom", heard); };
  },
};
