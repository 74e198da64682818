// A picture of an IIIF image service, or what take() of a subclass gives, on a canvas, by tiles: drag, wheel, pinch, double click and keys.
//
// `zoom` is pixels of the screen for one of the picture; (x, y) is the picture's point at the canvas' top left corner. Tiles
// are asked for at the scale factor at or above the zoom; coarser ones that are there lie below until these come.

const MOST_TILES = 300; // in memory
const MOST_REQUESTS = 6;
const MOST_ZOOM = 32;

export class Viewer {
  constructor(canvas, service, info, { format = "jpg", place = null, moved = () => {}, failed = () => {} } = {}) {
    Object.assign(this, { canvas, service, format, moved, failed, width: info.width, height: info.height });
    const tiles = info.tiles[0];
    this.tile = { width: tiles.width, height: tiles.height ?? tiles.width };
    this.factors = [...tiles.scaleFactors].sort((a, b) => a - b);
    this.context = canvas.getContext("2d", { alpha: false });
    this.tiles = new Map(); // key: {bitmap, failed}, the last used at the end
    this.requests = new Map(); // key: AbortController
    this.pointers = new Map();
    this.zoom = 0;
    this.goal = null; // {zoom, and the point of the picture that stays at a pixel of the canvas}
    this.ended = new AbortController();
    this.listen();
    this.resized = new ResizeObserver(([entry]) => this.resize(entry, place));
    this.resized.observe(canvas);
  }

  close() {
    this.ended.abort();
    this.resized.disconnect();
    this.forget();
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  forget() {
    for (const request of this.requests.values()) request.abort();
    for (const { bitmap } of this.tiles.values()) bitmap?.close();
    this.requests.clear();
    this.tiles.clear();
  }

  setFormat(format) {
    this.format = format;
    this.forget();
    this.draw();
  }

  // ---- Where we are

  resize(entry, place) {
    const box = entry.devicePixelContentBoxSize?.[0];
    const ratio = this.ratio = devicePixelRatio;
    const middle = this.zoom ? this.middle() : null;
    this.canvas.width = box ? box.inlineSize : Math.round(entry.contentRect.width * ratio);
    this.canvas.height = box ? box.blockSize : Math.round(entry.contentRect.height * ratio);
    if (!this.canvas.width || !this.canvas.height) return;
    if (middle) this.look(middle.x, middle.y, this.zoom);
    else if (place && place.every(Number.isFinite) && place[2] > 0) this.look(...place);
    else this.look(this.width / 2, this.height / 2, this.fitting());
  }

  fitting() {
    return Math.min(this.canvas.width / this.width, this.canvas.height / this.height, 1);
  }

  middle() {
    return { x: this.x + this.canvas.width / 2 / this.zoom, y: this.y + this.canvas.height / 2 / this.zoom, zoom: this.zoom };
  }

  look(x, y, zoom) {
    this.goal = null;
    this.zoom = this.allowed(zoom);
    this.put(x - this.canvas.width / 2 / this.zoom, y - this.canvas.height / 2 / this.zoom);
  }

  allowed(zoom) {
    return Math.min(Math.max(zoom, this.fitting() / 2), MOST_ZOOM);
  }

  // Moves the corner to (x, y), as far as the picture goes, on whole pixels of the screen.
  put(x, y) {
    const clamp = (start, length, room) => {
      if (length * this.zoom <= room) return -(room / this.zoom - length) / 2;
      return Math.min(Math.max(start, 0), length - room / this.zoom);
    };
    this.x = Math.round(clamp(x, this.width, this.canvas.width) * this.zoom) / this.zoom;
    this.y = Math.round(clamp(y, this.height, this.canvas.height) * this.zoom) / this.zoom;
    this.draw();
  }

  // px, py: the pixel of the canvas that keeps its place
  zoomTo(zoom, px = this.canvas.width / 2, py = this.canvas.height / 2) {
    const ix = this.x + px / this.zoom, iy = this.y + py / this.zoom;
    this.goal = { zoom: this.allowed(zoom), px, py, ix, iy };
    this.draw();
  }

  zoomBy(factor, px, py) {
    this.zoomTo((this.goal?.zoom ?? this.zoom) * factor, px, py);
  }

  showAll() {
    this.look(this.width / 2, this.height / 2, this.fitting());
  }

  step() { // a part of the way to the goal
    const { zoom, px, py, ix, iy } = this.goal;
    const far = Math.log(zoom / this.zoom);
    const still = Math.abs(far) < 0.01 || matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.zoom = still ? zoom : this.zoom * Math.exp(far * 0.3);
    if (still) this.goal = null;
    this.put(ix - px / this.zoom, iy - py / this.zoom);
  }

  // ---- What the user does

  listen() {
    const { canvas, pointers } = this;
    const on = (name, act) => canvas.addEventListener(name, act, { signal: this.ended.signal, passive: false });
    const pixel = (event) => [event.offsetX * this.ratio, event.offsetY * this.ratio];
    on("pointerdown", (event) => {
      if (event.button > 0) return;
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, pixel(event));
    });
    on("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (before) this.drag(event.pointerId, before, pixel(event));
    });
    for (const name of ["pointerup", "pointercancel"]) on(name, (event) => pointers.delete(event.pointerId));
    on("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaY * [1, 33, 400][event.deltaMode];
      this.zoomBy(2 ** (-lines / (event.ctrlKey ? 60 : 240)), ...pixel(event));
    });
    on("dblclick", (event) => this.zoomBy(event.shiftKey ? 0.5 : 2, ...pixel(event)));
    on("keydown", (event) => this.key(event));
  }

  drag(id, before, now) {
    const other = [...this.pointers].find(([key]) => key !== id)?.[1];
    this.goal = null;
    this.pointers.set(id, now);
    if (!other) return this.put(this.x + (before[0] - now[0]) / this.zoom, this.y + (before[1] - now[1]) / this.zoom);
    // Two fingers: the point of the picture between them stays there.
    const between = (a, i) => (a[i] + other[i]) / 2;
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
    const ix = this.x + between(before, 0) / this.zoom, iy = this.y + between(before, 1) / this.zoom;
    this.zoom = this.allowed(this.zoom * apart(now) / apart(before));
    this.put(ix - between(now, 0) / this.zoom, iy - between(now, 1) / this.zoom);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const act = { "+": () => this.zoomBy(2), "=": () => this.zoomBy(2), "-": () => this.zoomBy(0.5),
      0: () => this.showAll(), 1: () => this.zoomTo(1) }[event.key];
    if (!by && !act) return;
    event.preventDefault();
    if (act) return act();
    this.goal = null;
    const far = Math.min(this.canvas.width, this.canvas.height) / 4 / this.zoom;
    this.put(this.x + by[0] * far, this.y + by[1] * far);
  }

  // ---- Tiles

  // Those of a scale factor that the canvas shows, the middle first.
  visible(factor) {
    const w = this.tile.width * factor, h = this.tile.height * factor, found = [];
    const x1 = Math.min(this.width, this.x + this.canvas.width / this.zoom);
    const y1 = Math.min(this.height, this.y + this.canvas.height / this.zoom);
    const { x: mx, y: my } = this.middle();
    for (let y = Math.floor(Math.max(this.y, 0) / h) * h; y < y1; y += h)
      for (let x = Math.floor(Math.max(this.x, 0) / w) * w; x < x1; x += w)
        found.push({ key: `${factor}/${x},${y}`, x, y, factor, far: Math.hypot(x + w / 2 - mx, y + h / 2 - my),
          width: Math.min(w, this.width - x), height: Math.min(h, this.height - y) });
    return found.sort((a, b) => a.far - b.far);
  }

  draw() {
    this.canvas.dataset.state = "loading"; // until paint() finds that nothing is missing
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.ended.signal.aborted || !this.zoom) return;
      if (this.goal) this.step();
      this.paint();
      this.moved(this.middle());
    });
  }

  paint() {
    const { context, canvas, zoom } = this;
    const fine = this.factors.findLast((factor) => factor * zoom <= 1) ?? this.factors[0];
    const coarse = this.factors.at(-1);
    context.fillStyle = "#16181b";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = zoom < 1 || (zoom < 3 && zoom % 1 !== 0);
    context.imageSmoothingQuality = "high";
    const wanted = this.visible(fine);
    if (coarse !== fine) wanted.push(...this.visible(coarse));
    for (const factor of this.factors.filter((f) => f >= fine).reverse()) {
      const here = factor === fine ? wanted.filter((tile) => tile.factor === fine) : this.visible(factor);
      for (const tile of here) this.paintTile(tile);
    }
    this.ask(wanted);
    const missing = wanted.filter((tile) => !this.tiles.has(tile.key)).length;
    canvas.dataset.state = missing || this.goal ? "loading" : "complete";
  }

  paintTile(tile) {
    const kept = this.tiles.get(tile.key);
    if (!kept?.bitmap) return;
    this.tiles.delete(tile.key);
    this.tiles.set(tile.key, kept);
    // Edges on whole pixels: no seams.
    const x0 = Math.round((tile.x - this.x) * this.zoom), x1 = Math.round((tile.x + tile.width - this.x) * this.zoom);
    const y0 = Math.round((tile.y - this.y) * this.zoom), y1 = Math.round((tile.y + tile.height - this.y) * this.zoom);
    this.context.drawImage(kept.bitmap, x0, y0, x1 - x0, y1 - y0);
  }

  ask(wanted) {
    const keys = new Set(wanted.map((tile) => tile.key));
    for (const [key, request] of this.requests) {
      if (!keys.has(key)) {
        request.abort();
        this.requests.delete(key);
      }
    }
    for (const tile of wanted) {
      if (this.requests.size >= MOST_REQUESTS) break;
      if (!this.tiles.has(tile.key) && !this.requests.has(tile.key)) this.load(tile);
    }
    for (const [key, { bitmap }] of this.tiles) {
      if (this.tiles.size <= MOST_TILES) break;
      if (!keys.has(key)) {
        bitmap?.close();
        this.tiles.delete(key);
      }
    }
  }

  // A tile as {bitmap} or {failed}; null: it is asked for again with the next frames.
  async take(tile, signal) {
    const size = `${Math.ceil(tile.width / tile.factor)},${Math.ceil(tile.height / tile.factor)}`;
    const region = `${tile.x},${tile.y},${tile.width},${tile.height}`;
    const answer = await fetch(`${this.service}/${region}/${size}/0/default.${this.format}`, { signal });
    if (answer.ok) return { bitmap: await createImageBitmap(await answer.blob()) };
    if (answer.status === 503) return null; // busy
    this.failed(await answer.text());
    return { failed: true };
  }

  async load(tile) {
    const request = new AbortController();
    this.requests.set(tile.key, request);
    let kept = { failed: true };
    try {
      kept = await this.take(tile, request.signal);
    } catch (failure) {
      if (failure.name === "AbortError") kept = null;
    }
    if (request.signal.aborted) return kept?.bitmap?.close();
    this.requests.delete(tile.key);
    if (kept) this.tiles.set(tile.key, kept);
    else await new Promise((done) => setTimeout(done, 1000));
    this.draw();
  }
}
