import { type Clipboard, clipOf, idsNeeded, objectOf } from './edits';
import type { Command } from './keys';
import type { ToolHost } from './tools/tool';
import { turnOf } from './view';

/** Commands on the selected objects, and their copies. */

const COPY_SHIFT_PX = 12;

export function runOnSelection(session: ToolHost, command: Command, ids: readonly string[]): boolean {
  switch (command.do) {
    case 'delete':
      session.dispatch({ type: 'delete', ids });
      break;
    case 'copy':
      session.dispatch({ type: 'copy', ids });
      break;
    case 'duplicate':
      duplicate(session, ids);
      break;
    case 'nudge':
      session.dispatch({ type: 'move', ids, ...alongScreen(session, command.dx, command.dy) });
      break;
    case 'order':
      session.dispatch({ type: 'order', ids, to: command.to });
      break;
    case 'merge':
      merge(session, ids);
      break;
    case 'hide':
      session.dispatch({ type: 'hide', ids, hidden: true });
      session.dispatch({ type: 'select', ids: [] });
      break;
    case 'lock': {
      const locked = ids.some((id) => !session.editor.locked.includes(id));
      session.dispatch({ type: 'lock', ids, locked });
      break;
    }
    default:
      return false;
  }
  return true;
}

function merge(session: ToolHost, ids: readonly string[]): void {
  const polygons = ids.filter((id) => objectOf(session.editor.document, id)?.kind === 'polygon');
  if (polygons.length < 2) session.notify({ code: 'mergeTwo' });
  else session.dispatch({ type: 'merge', ids: polygons });
}

function copyShift(session: ToolHost): { dx: number; dy: number } {
  const shift = COPY_SHIFT_PX / session.view.scale;
  return alongScreen(session, shift, shift);
}

/** Right and down are those of the screen, also where the view is turned. */
function alongScreen(session: ToolHost, dx: number, dy: number): { dx: number; dy: number } {
  const [cos, sin] = turnOf(session.view.rotation ?? 0);
  return { dx: dx * cos + dy * sin, dy: dy * cos - dx * sin };
}

function idsFor(session: ToolHost, clip: Clipboard): string[] {
  return Array.from({ length: idsNeeded(clip) }, session.newId);
}

function duplicate(session: ToolHost, ids: readonly string[]): void {
  const newIds = idsFor(session, clipOf(session.editor.document, ids));
  session.dispatch({ type: 'duplicate', ids, newIds, ...copyShift(session) });
}

export function paste(session: ToolHost): boolean {
  const { clipboard } = session.editor;
  if (clipboard.objects.length === 0) return false;
  // On another picture a copy keeps its place; on its own it must not cover what it came from.
  const isHere = clipboard.objects.some(({ id }) => objectOf(session.editor.document, id));
  const shift = isHere ? copyShift(session) : { dx: 0, dy: 0 };
  session.dispatch({ type: 'paste', newIds: idsFor(session, clipboard), ...shift });
  return true;
}
