import type { Point } from '../model';
import { draggedWindow, type ShownValues } from '../valueWindow';
import { IDLE, type Tool, type ToolHost } from './tool';

/** A drag changes which values of a deep picture are black and white; a double click shows all. */
export function windowTool(host: ToolHost): Tool {
  let begun: { screen: Point; values: ShownValues } | null = null;
  return {
    ...IDLE,
    name: 'window',
    pointerDown({ screen, presses }) {
      if (!host.values) return;
      if (presses === 2) host.showValues(null);
      // A second press may go on as a drag, from the whole range.
      begun = host.values && { screen, values: host.values };
    },
    pointerMove({ screen }) {
      if (!begun) return;
      const [x, y] = begun.screen;
      host.showValues(draggedWindow(begun.values, screen[0] - x, screen[1] - y));
    },
    pointerUp() {
      begun = null;
    },
    cancel() {
      if (!begun) return false;
      host.showValues(begun.values.window);
      begun = null;
      return true;
    },
    cursor: () => (host.values ? 'move' : 'not-allowed'),
  };
}
