import { distance } from './geometry/points';
import type { Point } from './model';
import type { Session } from './session';
import type { Pointer } from './tools/tool';
import { panBy, zoomAt } from './view';

/** An event of a pointer, in CSS pixels of the canvas. */
export interface RawPointer {
  id: number;
  screen: Point;
  kind: 'mouse' | 'pen' | 'touch';
  button: number;
  shift: boolean;
  ctrl: boolean;
  alt: boolean;
  /** Milliseconds. */
  time: number;
}

const DOUBLE_MS = 350;
const DOUBLE_PX = 6;
const WHEEL_FACTOR = 0.0015;
/** A pinch on a touch pad comes as a wheel with Ctrl and small steps. */
const PINCH_FACTOR = 0.01;
/** After a pen has written, a finger is a resting hand. */
const PEN_REST_MS = 5000;

const middle = (a: Point, b: Point): Point => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];

/** Says which presses draw, which move the picture, and which two fingers zoom it. */
export class Gestures {
  /** Space is held. */
  pans = false;
  private readonly session: Session;
  private readonly touches = new Map<number, Point>();
  private panning: { id: number; last: Point } | null = null;
  private drawing: number | null = null;
  private last: { screen: Point; time: number; presses: number } | null = null;
  private penTime = Number.NEGATIVE_INFINITY;

  constructor(session: Session) {
    this.session = session;
  }

  get isPanning(): boolean {
    return this.panning !== null || this.touches.size > 1;
  }

  down(raw: RawPointer): void {
    if (raw.kind === 'pen') this.penTime = raw.time;
    if (raw.kind === 'touch') {
      this.touches.set(raw.id, raw.screen);
      if (this.touches.size > 1) {
        // The first finger had begun to draw: two of them only move the picture.
        if (this.drawing !== null) this.session.tool.cancel();
        this.drawing = null;
        this.panning = null;
        return;
      }
    }
    const isHand = raw.kind === 'touch' && raw.time - this.penTime < PEN_REST_MS;
    if (this.pans || raw.button === 1 || isHand) {
      this.panning = { id: raw.id, last: raw.screen };
      return;
    }
    if (this.drawing !== null || raw.button > 2) return;
    this.drawing = raw.id;
    this.session.pointerDown(this.pointer(raw, this.presses(raw)));
  }

  move(raw: RawPointer): void {
    if (this.touches.has(raw.id) && this.touches.size > 1) {
      this.pinch(raw);
      return;
    }
    if (this.touches.has(raw.id)) this.touches.set(raw.id, raw.screen);
    if (this.panning?.id === raw.id) {
      const [x, y] = this.panning.last;
      this.panning.last = raw.screen;
      this.session.setView(panBy(this.session.view, raw.screen[0] - x, raw.screen[1] - y));
      return;
    }
    if (this.drawing === null || this.drawing === raw.id) this.session.pointerMove(this.pointer(raw, 1));
  }

  up(raw: RawPointer): void {
    this.touches.delete(raw.id);
    if (this.panning?.id === raw.id) this.panning = null;
    if (this.drawing !== raw.id) return;
    this.drawing = null;
    this.session.pointerUp(this.pointer(raw, 1));
  }

  /** The system took the pointer away. */
  lost(id: number): void {
    this.touches.delete(id);
    if (this.panning?.id === id) this.panning = null;
    if (this.drawing !== id) return;
    this.drawing = null;
    this.session.tool.cancel();
  }

  wheel(screen: Point, delta: number, isPinch: boolean): void {
    this.session.setView(zoomAt(this.session.view, screen, Math.exp(-delta * (isPinch ? PINCH_FACTOR : WHEEL_FACTOR))));
  }

  private pinch(raw: RawPointer): void {
    const others = [...this.touches].filter(([id]) => id !== raw.id);
    const before = this.touches.get(raw.id);
    const other = others[0]?.[1];
    this.touches.set(raw.id, raw.screen);
    if (!before || !other) return;
    const [from, to] = [middle(before, other), middle(raw.screen, other)];
    const factor = distance(raw.screen, other) / Math.max(1, distance(before, other));
    const moved = panBy(this.session.view, to[0] - from[0], to[1] - from[1]);
    this.session.setView(zoomAt(moved, to, factor));
  }

  private presses({ screen, time }: RawPointer): number {
    const { last } = this;
    const again = last && time - last.time < DOUBLE_MS && distance(last.screen, screen) < DOUBLE_PX;
    // A third press starts anew.
    const presses = again && last.presses === 1 ? 2 : 1;
    this.last = { screen, time, presses };
    return presses;
  }

  private pointer(raw: RawPointer, presses: number): Pointer {
    const { kind, button, shift, ctrl, alt } = raw;
    return this.session.pointerAt(raw.screen, { kind, button, shift, ctrl, alt, presses });
  }
}
