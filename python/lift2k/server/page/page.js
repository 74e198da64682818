// The folder's pictures, and one of them in the viewer. The part of the address behind # says which: folder=..., or
// picture=... with x, y (the middle, in pixels of the picture), zoom (pixels of the screen for one of these) and exact.
import { Viewer } from "./viewer.js";

const at = (id) => document.getElementById(id);
const make = (kind, fields) => Object.assign(document.createElement(kind), fields);
let viewer = null;

const address = (fields) => "#" + new URLSearchParams(fields);
const service = (name) => "iiif/3/" + encodeURIComponent(name);

function say(text) {
  at("message").textContent = text;
  at("message").hidden = !text;
}

function showPath(name, isFolder) {
  const parts = name.split("/").filter(Boolean);
  const links = [["pictures", ""], ...parts.map((part, i) => [part, parts.slice(0, i + 1).join("/")])];
  at("path").replaceChildren(...links.flatMap(([text, path], i) => {
    const isLast = i === links.length - 1;
    const element = isLast ? make("strong", { textContent: text }) : make("a", { textContent: text, href: address({ folder: path }) });
    return i ? [" / ", element] : [element];
  }));
  document.title = parts.length ? parts.at(-1) : "Pictures";
  at("tools").hidden = at("view").hidden = isFolder;
  at("pictures").hidden = !isFolder;
}

// The server's reason, in the place of an image that did not come.
async function explain(image) {
  const note = make("div", { className: "bad", textContent: "cannot be shown" });
  image.replaceWith(note);
  const answer = await fetch(image.src);
  if (!answer.ok) note.textContent = await answer.text();
}

function entry(path, isFolder) {
  const item = make("li"), link = make("a", { href: address(isFolder ? { folder: path } : { picture: path }) });
  const shown = isFolder ? make("div", { className: "folder" }) : make("img", {
    loading: "lazy", alt: "", onerror: () => explain(shown), src: service(path) + "/full/^!320,320/0/default.jpg" });
  link.append(shown, make("span", { textContent: path.split("/").at(-1) }));
  item.append(link);
  return item;
}

async function showFolder(name) {
  showPath(name, true);
  at("pictures").replaceChildren();
  const answer = await fetch("pictures.json?" + new URLSearchParams({ folder: name }));
  if (!answer.ok) return say(await answer.text());
  const { folders, pictures } = await answer.json();
  if (!folders.length && !pictures.length) say("There are no pictures in this folder.");
  at("pictures").replaceChildren(...folders.map((f) => entry(f, true)), ...pictures.map((p) => entry(p, false)));
}

async function showPicture(name, fields) {
  showPath(name, false);
  const answer = await fetch(service(name) + "/info.json", { headers: { Accept: "application/json" } });
  if (!answer.ok) return say(await answer.text());
  const info = await answer.json();
  at("facts").textContent = `${info.width} \u00d7 ${info.height}`;
  at("view").setAttribute("aria-label", name);
  at("exact").checked = fields.get("exact") === "1";
  let timer = 0;
  viewer = new Viewer(at("view"), service(name), info, {
    format: at("exact").checked ? "png" : "jpg",
    place: fields.has("zoom") ? ["x", "y", "zoom"].map((key) => Number(fields.get(key))) : null,
    failed: say,
    moved: ({ x, y, zoom }) => {
      at("zoom").textContent = zoom >= 0.1 ? Math.round(100 * zoom) + " %" : (100 * zoom).toPrecision(2) + " %";
      clearTimeout(timer);
      const own = viewer;
      timer = setTimeout(() => own === viewer && history.replaceState(null, "", address({
        picture: name, x: Math.round(x * 10) / 10, y: Math.round(y * 10) / 10, zoom: Number(zoom.toPrecision(6)),
        ...(at("exact").checked ? { exact: 1 } : {}) })), 250);
    },
  });
  at("view").focus({ preventScroll: true });
}

async function route() {
  viewer?.close();
  viewer = null;
  say("");
  const fields = new URLSearchParams(location.hash.slice(1));
  try {
    await (fields.has("picture") ? showPicture(fields.get("picture"), fields) : showFolder(fields.get("folder") ?? ""));
  } catch (failure) {
    say(String(failure));
  }
}

at("in").onclick = () => viewer?.zoomBy(2);
at("out").onclick = () => viewer?.zoomBy(0.5);
at("one").onclick = () => viewer?.zoomTo(1);
at("all").onclick = () => viewer?.showAll();
at("exact").onchange = () => viewer?.setFormat(at("exact").checked ? "png" : "jpg");
addEventListener("hashchange", route);
route();
