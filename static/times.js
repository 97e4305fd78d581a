// Times in the reader's own zone. The server writes UTC, which is right for everybody and nobody's own.

export function localise(root = document) {
  const lang = document.documentElement.lang;
  const form = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" });
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = form.format(at);
    time.title = time.dateTime;
  }
}

localise();
const zone = document.getElementById("zone");
if (zone) {
  zone.textContent = `${zone.dataset.text} ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
}
