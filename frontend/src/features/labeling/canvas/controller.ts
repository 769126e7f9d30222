import { ActivePainter } from './activePainter';
import type { Action, Editor } from './editor';
import { Gestures, type RawPointer } from './gestures';
import type { DocumentV2, Ontology, Point } from './model';
import { StaticPainter, stylesOf } from './painter';
import { paintRelations } from './paintRelations';
import { Placing } from './placing';
import { type Look, type Picture, PLAIN_LOOK } from './scene';
import { Session, type SessionEvents } from './session';
import { TileLayer, type TileSource } from './tiles';
import { type KeyPress, labelOf, type Notice, type ToolName } from './tools/tool';
import { shownValues } from './valueWindow';
import type { View } from './view';

/** The view has stopped when it has not moved for this long. */
const STOP_MS = 120;
/** While the view goes on moving, what has come in at the borders is painted at most this often. */
const REFRESH_MS = 400;
/** The share of the screen that a blit must cover. */
const ENOUGH = 0.75;
/** A painting that takes long comes so seldom that it is one frame in this many times its cost. */
const REFRESH_COSTS = 30;
const WHEEL_LINE_PX = 16;
const WITHOUT_CROSSHAIR: ReadonlySet<ToolName> = new Set(['select', 'window']);

export interface Mark {
  at: Point;
  isOpen: boolean;
  /** Shown beside the place, such as the number of a remark. */
  name?: string;
}

export type ControllerEvents = Omit<SessionEvents, 'repaint' | 'repaintActive'>;

/** Binds a pair of canvases and the events of their host to a session. */
export class CanvasController {
  readonly session: Session;
  private readonly host: HTMLElement;
  private readonly gestures: Gestures;
  private readonly placing: Placing;
  private readonly base: StaticPainter;
  private readonly active: ActivePainter;
  private readonly ended = new AbortController();
  private readonly emitted = new WeakSet<DocumentV2>();
  private readonly window: Window;
  private restored: Editor | undefined;
  private picture: Picture | null = null;
  private tiles: TileLayer | null = null;
  private source: TileSource | null = null;
  private look: Look = PLAIN_LOOK;
  private marks: readonly Mark[] = [];
  private problem: Point | null = null;
  private frame = 0;
  private stop = 0;
  private isBaseStale = true;
  private isMoving = false;
  private editing = '';
  private paintedAt = 0;
  private paintCost = 0;
  private isMeasuring = false;
  private isFitted = false;
  private ratio = 0;

  constructor(host: HTMLElement, base: HTMLCanvasElement, active: HTMLCanvasElement, events: ControllerEvents = {}) {
    this.host = host;
    this.window = host.ownerDocument.defaultView ?? window;
    this.base = new StaticPainter(base);
    this.active = new ActivePainter(active);
    this.session = new Session({
      ...events,
      change: (document, patch) => {
        this.emitted.add(document);
        this.problem = null;
        events.change?.(document, patch);
      },
      notice: (notice: Notice) => {
        this.problem = notice.at ?? null;
        events.notice?.(notice);
      },
      view: (view: View) => {
        this.moved();
        events.view?.(view);
      },
      repaint: () => this.repaint(),
      repaintActive: () => this.schedule(),
    });
    this.gestures = new Gestures(this.session);
    this.placing = new Placing(this.session);
    this.listen();
    this.resize();
  }

  /** A document that came from here is already open: taking it again would lose the history. */
  open(document: DocumentV2, editor?: Editor): void {
    // An earlier history is restored once: later documents grow out of it.
    const history = editor === this.restored ? undefined : editor;
    if (!history && (document === this.session.editor.document || this.emitted.has(document))) return;
    this.restored = history ?? this.restored;
    this.problem = null;
    this.isFitted = this.session.size.width > 1;
    this.session.open(document, history);
    this.emitted.add(document);
  }

  setPicture(picture: Picture | null): void {
    this.picture = picture;
    this.repaint();
  }

  /** The tiles of a picture that is too large or too deep for a whole one; `setPicture` stands in for missing ones. */
  setTiles(source: TileSource | null): void {
    this.tiles?.dispose();
    this.tiles = source && new TileLayer(source, () => this.repaint());
    this.source = source;
    this.showWindow();
  }

  setOntology(ontology: Ontology): void {
    this.session.ontology = ontology;
    this.repaint();
  }

  setLook(look: Partial<Look>): void {
    this.look = { ...this.look, ...look };
    this.showWindow();
  }

  private showWindow(): void {
    const window = this.look.window ?? null;
    this.tiles?.setWindow(window);
    this.session.values = shownValues(this.source, window);
    this.repaint();
  }

  setMarks(marks: readonly Mark[]): void {
    this.marks = marks;
    this.schedule();
  }

  /** Have presses name places instead of drawing; null ends that. */
  setPlacing(onPlace: ((at: Point) => void) | null): void {
    this.placing.onPlace = onPlace;
  }

  chooseTool(name: ToolName): void {
    this.session.chooseTool(name);
  }

  dispatch(action: Action): void {
    this.session.dispatch(action);
  }

  /** For keys that the page has received; whether they meant something here. */
  key(press: KeyPress): boolean {
    return this.session.key(press);
  }

  /** Paint at once what waits for the next frame. */
  paintNow(): void {
    this.window.cancelAnimationFrame(this.frame);
    this.paint();
  }

  dispose(): void {
    this.ended.abort();
    this.tiles?.dispose();
    this.window.cancelAnimationFrame(this.frame);
    this.window.clearTimeout(this.stop);
  }

  private listen(): void {
    const { host } = this;
    const options = { signal: this.ended.signal };
    host.addEventListener('pointerdown', (event) => this.pointerDown(event), options);
    host.addEventListener('pointermove', (event) => this.pointerMove(event), options);
    host.addEventListener('pointerup', (event) => this.pointerUp(event), options);
    host.addEventListener('pointercancel', (event) => this.gestures.lost(event.pointerId), options);
    host.addEventListener('pointerleave', () => this.session.pointerLeave(), options);
    host.addEventListener('contextmenu', (event) => event.preventDefault(), options);
    host.addEventListener('wheel', (event) => this.wheel(event), { ...options, passive: false });
    host.addEventListener('keydown', (event) => this.keyDown(event), options);
    host.addEventListener('keyup', (event) => this.keyUp(event), options);
    host.addEventListener('blur', () => this.setPanning(false), options);
    if (typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(host);
    this.ended.signal.addEventListener('abort', () => observer.disconnect());
  }

  private raw(event: PointerEvent): RawPointer {
    const { left, top } = this.host.getBoundingClientRect();
    const kind = event.pointerType === 'touch' || event.pointerType === 'pen' ? event.pointerType : 'mouse';
    return {
      id: event.pointerId,
      screen: [event.clientX - left, event.clientY - top],
      kind,
      button: event.button,
      shift: event.shiftKey,
      ctrl: event.ctrlKey || event.metaKey,
      alt: event.altKey,
      time: event.timeStamp,
    };
  }

  private pointerDown(event: PointerEvent): void {
    // A middle press would start the browser's own scrolling.
    if (event.button === 1) event.preventDefault();
    this.host.focus({ preventScroll: true });
    this.host.setPointerCapture?.(event.pointerId);
    const raw = this.raw(event);
    if (!this.gestures.pans && this.placing.press(raw.screen, raw.button)) return;
    this.gestures.down(raw);
    this.showCursor();
  }

  private pointerMove(event: PointerEvent): void {
    // A pen and a fast mouse report more places than there are frames.
    const events = event.getCoalescedEvents?.() ?? [];
    for (const each of events.length > 0 ? events : [event]) this.gestures.move(this.raw(each));
    this.showCursor();
  }

  private pointerUp(event: PointerEvent): void {
    this.gestures.up(this.raw(event));
    this.showCursor();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const { left, top } = this.host.getBoundingClientRect();
    const unit = event.deltaMode === 1 ? WHEEL_LINE_PX : event.deltaMode === 2 ? this.session.size.height : 1;
    this.gestures.wheel([event.clientX - left, event.clientY - top], event.deltaY * unit, event.ctrlKey);
  }

  private keyDown(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.key === ' ') {
      event.preventDefault();
      this.setPanning(true);
      return;
    }
    if (!this.placing.key(event.key) && !this.session.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  private keyUp(event: KeyboardEvent): void {
    if (event.key === ' ') this.setPanning(false);
  }

  private setPanning(pans: boolean): void {
    this.gestures.pans = pans;
    this.showCursor();
  }

  private showCursor(): void {
    const { gestures, session } = this;
    const resting = this.placing.onPlace ? 'crosshair' : session.tool.cursor();
    const cursor = gestures.isPanning ? 'grabbing' : gestures.pans ? 'grab' : resting;
    if (this.host.style.cursor !== cursor) this.host.style.cursor = cursor;
  }

  private resize(): void {
    const { width, height } = this.host.getBoundingClientRect();
    const ratio = this.window.devicePixelRatio || 1;
    const known = this.session.size;
    // An observer tells the first size once more; canvases are emptied and made anew by any.
    if (width === known.width && height === known.height && ratio === this.ratio) return;
    this.ratio = ratio;
    // A picture that fills the canvas goes on filling it; a place that somebody looks at stays.
    const wasWhole = this.session.showsWhole;
    this.session.size = { width, height };
    this.base.resize(this.session.size, ratio);
    this.active.resize(this.session.size, ratio);
    if (!this.isFitted || wasWhole) this.session.fit();
    // The first size that is one.
    this.isFitted = width > 1;
    this.repaint();
  }

  private moved(): void {
    this.isMoving = true;
    this.window.clearTimeout(this.stop);
    this.stop = this.window.setTimeout(() => {
      this.isMoving = false;
      this.repaint();
    }, STOP_MS);
    this.schedule();
  }

  private repaint(): void {
    this.isBaseStale = true;
    this.schedule();
  }

  private schedule(): void {
    if (this.frame === 0 && !this.ended.signal.aborted)
      this.frame = this.window.requestAnimationFrame(() => this.paint());
  }

  private paint(): void {
    this.frame = 0;
    const { session } = this;
    const editing = session.tool.editing();
    const key = editing.join();
    if (key !== this.editing) this.isBaseStale = true;
    this.editing = key;
    if (this.isMoving && !this.isBaseStale && this.base.isPainted && !this.isWorn()) this.base.blit(session.view);
    else if (this.isBaseStale || this.isMoving) this.paintBase(editing);
    this.paintActive();
  }

  /** Whether a blit would show too little: the browser rasters after this code, so the next frame tells the cost. */
  private isWorn(): boolean {
    const age = performance.now() - this.paintedAt;
    if (this.isMeasuring) this.paintCost = age;
    this.isMeasuring = false;
    return age > Math.max(REFRESH_MS, REFRESH_COSTS * this.paintCost) && this.base.coverage(this.session.view) < ENOUGH;
  }

  private paintBase(editing: readonly string[]): void {
    const { session, picture, tiles, look } = this;
    const { editor, ontology, view } = session;
    this.base.paint({ picture, tiles, tilesVersion: tiles?.version, look, editing, editor, ontology, view });
    this.paintedAt = performance.now();
    this.isMeasuring = true;
    this.isBaseStale = false;
  }

  private paintActive(): void {
    const { active, session } = this;
    const { editor, ontology } = session;
    active.begin(session.view, labelOf(ontology, session.activeLabel)?.color ?? null, stylesOf(ontology, editor));
    if (!this.look.hideAll) paintRelations(active, editor, ontology, session.tool.editing());
    session.tool.paint(active);
    for (const { at, name } of this.marks.filter(({ isOpen }) => isOpen)) {
      active.handles([at], '#f08c00');
      if (name) active.text(at, name);
    }
    if (this.problem) active.problem(this.problem);
    if (session.pointer?.kind === 'mouse' && !WITHOUT_CROSSHAIR.has(session.tool.name) && !this.gestures.isPanning)
      active.crosshair(session.pointer.screen);
  }
}
