// Waits for jobs and uploads dropped files. Every page works without it but these.
"use strict";

const announce = (words) => { document.getElementById("announcer").textContent = words; };

// A job under way: its progress, then the page again with what it gave.
for (const box of document.querySelectorAll("[data-job]")) {
  const bar = box.querySelector("progress"), step = box.querySelector("[data-step]");
  const ask = async () => {
    let answer;
    try {
      answer = await fetch(`/jobs/${encodeURIComponent(box.dataset.job)}`, { headers: { accept: "application/json" } });
    } catch {
      // A machine that sleeps or is busy breaks off a request: the job goes on, and so does the page.
      setTimeout(ask, 2000);
      return;
    }
    if (!answer.ok) { location.reload(); return; }
    const job = await answer.json();
    if (job.state !== "running") { location.reload(); return; }
    if (job.total) { bar.max = job.total; bar.value = job.done; }
    step.textContent = job.step ? `${job.step}${job.total ? ` (${job.done.toLocaleString("en-US")} of ${job.total.toLocaleString("en-US")})` : ""}, ${Math.round(job.seconds)} s` : "";
    setTimeout(ask, 400);
  };
  setTimeout(ask, 150);
}

// A file that is dropped or chosen is sent as it is, and its page is opened.
for (const zone of document.querySelectorAll("[data-upload]")) {
  const input = zone.querySelector("input[type=file]"), said = zone.querySelector("[data-said]");
  const bar = zone.querySelector("progress");
  const send = (file) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `/lists/upload?name=${encodeURIComponent(file.name)}`);
    bar.hidden = false;
    request.upload.onprogress = (event) => {
      bar.value = event.loaded / Math.max(event.total, 1);
      said.textContent = `Uploading ${file.name}: ${Math.round(100 * event.loaded / Math.max(event.total, 1))} %`;
    };
    request.onload = () => {
      if (request.status === 201) { location.href = request.getResponseHeader("location"); return; }
      bar.hidden = true;
      said.textContent = request.responseText || "The upload failed.";
      announce(said.textContent);
    };
    request.onerror = () => { bar.hidden = true; said.textContent = "The upload broke off. Try again."; announce(said.textContent); };
    request.send(file);
  };
  input.addEventListener("change", () => input.files.length && send(input.files[0]));
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault(); zone.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
}

// A corrected cell is judged at once; the row says what came of it.
for (const form of document.querySelectorAll("[data-fix]")) {
  const cell = form.querySelector("[name=value]"), row = form.closest("tr"), why = row.querySelector("[data-why]");
  // As the page came: somebody may have typed before this ran.
  let sent = cell.defaultValue;
  const judge = async () => {
    if (cell.value === sent) return;
    sent = cell.value;
    why.textContent = "Judging …";
    const answer = await fetch(form.action, {
      method: "POST", body: new URLSearchParams(new FormData(form)), headers: { accept: "application/json" },
    });
    if (!answer.ok) { why.textContent = "That did not work. Load the page again."; announce(why.textContent); return; }
    const verdict = await answer.json();
    row.classList.toggle("fixed", !verdict.why);
    why.textContent = verdict.why ? verdict.why : "Clean now";
    document.querySelector("[data-left]").textContent = verdict.left.toLocaleString("en-US");
    document.querySelector("[data-edits]").textContent = verdict.edits.toLocaleString("en-US");
    announce(`Line ${form.elements.line.value}: ${why.textContent}`);
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); judge(); });
  cell.addEventListener("change", judge);
}
