// A file to the kernel, piece by piece; every piece is answered before the next one goes.
const WAIT_MS = 15000;
const TRIES = 8;
const CHANGED = "The upload broke off: the file was changed or taken away while it was sent.";
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
    const note = document.createElement("span");
    const box = document.createElement("div");
    box.className = "df-upload";
    box.append(label, input, bar, note);
    el.append(box);

    let file = null, upload = "", timer = null, tries = 0, last = null;
    const send = (message, buffers) => {
      last = [message, buffers];
      clearTimeout(timer);
      timer = setTimeout(again, WAIT_MS);
      try {
        model.send({ ...message, upload }, undefined, buffers);
      } catch {
        // The connection is down: the timer asks again.
      }
    };
    const again = () => {
      if (!file) return;
      if (++tries > TRIES) give_up();
      else send(...last);
    };
    const end = (words = "") => {
      file = null;
      clearTimeout(timer);
      input.value = "";
      bar.hidden = true;
      note.textContent = words;
    };
    const give_up = (why) => {
      end();
      try {
        model.send({ kind: "lost", upload, why });
      } catch {
        note.textContent = "The connection was lost; choose the file again.";
      }
    };
    const megabytes = (bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 });
    const piece = async (number) => {
      const size = model.get("piece_bytes");
      const own = file;
      const data = await own.slice(number * size, (number + 1) * size).arrayBuffer();
      if (own === file) send({ kind: "piece", number }, [new DataView(data)]);
    };
    const heard = (message) => {
      if (!file || message.upload !== upload) return;
      if (message.kind === "refused") return end(`The upload was refused: ${message.why}.`);
      if (message.kind !== "taken") return;
      const sent = last[0].kind === "begin" ? -1 : last[0].number;
      if (message.number !== sent) return;
      tries = 0;
      const done = (message.number + 1) * model.get("piece_bytes");
      bar.value = file.size ? Math.min(1, done / file.size) : 1;
      note.textContent = `${megabytes(Math.min(done, file.size))} of ${megabytes(file.size)} MB`;
      if (done < file.size) piece(message.number + 1).catch(() => give_up(CHANGED));
      else end();
    };
    const gone = () => {
      if (file) end("The upload broke off, because the kernel was started again.");
    };
    const connection = (_, found) => {
      // What was on its way when the connection broke may be lost: it goes again at once.
      if (found === "connected" && file) send(...last);
    };
    const kernel = model.widget_manager?.kernel;
    model.on("msg:custom", heard);
    model.on("comm_live_update", gone);
    kernel?.connectionStatusChanged?.connect(connection);
    input.addEventListener("change", () => {
      if (!input.files[0]) return;
      file = input.files[0];
      upload = `${id}-${count++}-${Math.random()}`;
      tries = 0;
      bar.hidden = false;
      bar.value = 0;
      note.textContent = "";
      send({ kind: "begin", name: file.name, size: file.size });
    });
    return () => {
      end();
      model.off("msg:custom", heard);
      model.off("comm_live_update", gone);
      kernel?.connectionStatusChanged?.disconnect(connection);
    };
  },
};
