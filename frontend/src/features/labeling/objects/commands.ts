import type { CanvasController } from '../canvas/controller';
import type { Command } from '../canvas/keys';
import type { ToolName } from '../canvas/tools/tool';
import type { CommandName } from './keymap';

const ZOOM_STEP = 1.25;

/** Commands that the canvas carries out. */
const ON_CANVAS: Partial<Record<CommandName, Command>> = {
  undo: { do: 'undo' },
  redo: { do: 'redo' },
  delete: { do: 'delete' },
  selectAll: { do: 'selectAll' },
  copy: { do: 'copy' },
  paste: { do: 'paste' },
  duplicate: { do: 'duplicate' },
  hide: { do: 'hide' },
  showAll: { do: 'showAll' },
  lock: { do: 'lock' },
  forward: { do: 'order', to: 'forward' },
  backward: { do: 'order', to: 'backward' },
  fit: { do: 'fit' },
  zoomIn: { do: 'zoom', factor: ZOOM_STEP },
  zoomOut: { do: 'zoom', factor: 1 / ZOOM_STEP },
  turn: { do: 'turn' },
  nextObject: { do: 'next', step: 1 },
  previousObject: { do: 'next', step: -1 },
  repeat: { do: 'repeat' },
  eraser: { do: 'eraser' },
};

const TOOLS: ReadonlySet<string> = new Set<ToolName>([
  'select',
  'box',
  'extreme-box',
  'rotated-box',
  'polygon',
  'hole',
  'split',
  'polyline',
  'point',
  'keypoints',
  'brush',
  'relation',
  'ruler',
  'window',
]);

export const toolOfCommand = (command: CommandName): ToolName | null =>
  TOOLS.has(command) ? (command as ToolName) : null;

/** Whether the canvas has carried the command out; null where it is no command of the canvas. */
export function runOnCanvas(controller: CanvasController, command: CommandName): boolean | null {
  const { session } = controller;
  if (command === 'ignore') {
    const ids = session.editor.selected;
    const chosen = (session.editor.document.objects ?? []).filter(({ id }) => ids.includes(id));
    if (ids.length > 0) controller.dispatch({ type: 'setIgnore', ids, ignore: !chosen.every(({ ignore }) => ignore) });
    return ids.length > 0;
  }
  const known = ON_CANVAS[command];
  return known ? session.run(known) : null;
}
