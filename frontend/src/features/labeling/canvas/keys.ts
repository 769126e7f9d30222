import type { Order } from './edits';
import type { KeyPress } from './tools/tool';

/** The commands of the canvas's keyboard; keys of tools come before them. */
export type Command =
  | { do: 'cancel' | 'undo' | 'redo' | 'fit' | 'turn' | 'repeat' | 'eraser' | 'selectAll' | 'paste' | 'showAll' }
  | { do: 'delete' | 'copy' | 'duplicate' | 'hide' | 'lock' | 'merge' }
  | { do: 'zoom'; factor: number }
  | { do: 'brush'; step: number; factor: number }
  | { do: 'next'; step: 1 | -1 }
  | { do: 'nudge'; dx: number; dy: number }
  | { do: 'order'; to: Order };

const ARROWS: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};
const FAR_STEP = 10;
const ZOOM_STEP = 1.25;
const BRUSH_STEP = 1.15;

const WITH_CONTROL: Record<string, Command> = {
  y: { do: 'redo' },
  a: { do: 'selectAll' },
  c: { do: 'copy' },
  v: { do: 'paste' },
  d: { do: 'duplicate' },
};

const PLAIN: Record<string, Command> = {
  Escape: { do: 'cancel' },
  Delete: { do: 'delete' },
  '0': { do: 'fit' },
  '+': { do: 'zoom', factor: ZOOM_STEP },
  '=': { do: 'zoom', factor: ZOOM_STEP },
  '-': { do: 'zoom', factor: 1 / ZOOM_STEP },
  n: { do: 'repeat' },
  x: { do: 'eraser' },
  h: { do: 'hide' },
  l: { do: 'lock' },
  m: { do: 'merge' },
  '[': { do: 'brush', step: -1000, factor: 1 / BRUSH_STEP },
  ']': { do: 'brush', step: 0.5, factor: BRUSH_STEP },
};

/** The command of a key; null when the key means nothing here. */
export function commandOf(press: KeyPress): Command | null {
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  if (press.altKey) return null;
  if (press.ctrlKey || press.metaKey) {
    if (key === 'z') return { do: press.shiftKey ? 'redo' : 'undo' };
    return WITH_CONTROL[key] ?? null;
  }
  const arrow = ARROWS[key];
  if (arrow) {
    const step = press.shiftKey ? FAR_STEP : 1;
    return { do: 'nudge', dx: arrow[0] * step, dy: arrow[1] * step };
  }
  if (key === 'Tab') return { do: 'next', step: press.shiftKey ? -1 : 1 };
  if (key === 'PageUp') return { do: 'order', to: press.shiftKey ? 'front' : 'forward' };
  if (key === 'PageDown') return { do: 'order', to: press.shiftKey ? 'back' : 'backward' };
  if (key === 'h' && press.shiftKey) return { do: 'showAll' };
  if (key === 'r' && press.shiftKey) return { do: 'turn' };
  return PLAIN[key] ?? null;
}
