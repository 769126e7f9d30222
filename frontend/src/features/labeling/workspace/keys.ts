import type { Label } from '@/api/contract/labeling';
import type { GridAction, Move } from './grid';

/** The commands of the workspace's keyboard. */
export type Command =
  | { do: 'grid'; action: GridAction }
  | { do: 'submit' }
  | { do: 'back' }
  | { do: 'skip' }
  | { do: 'toggle' }
  | { do: 'escape' }
  | { do: 'search' }
  | { do: 'larger' }
  | { do: 'smaller' };

export interface KeyPress {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
}

const MOVES: Record<string, Move> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
};

const grid = (action: GridAction): Command => ({ do: 'grid', action });

function withControl(press: KeyPress): Command | null {
  switch (press.key.toLowerCase()) {
    case 'z':
      return grid({ type: press.shiftKey ? 'redo' : 'undo' });
    case 'y':
      return grid({ type: 'redo' });
    case 'a':
      return grid({ type: 'selectAll' });
    default:
      return null;
  }
}

const PLAIN: Record<string, Command> = {
  ' ': { do: 'toggle' },
  Escape: { do: 'escape' },
  Backspace: grid({ type: 'clear' }),
  Delete: grid({ type: 'clear' }),
  s: { do: 'skip' },
  '/': { do: 'search' },
  '+': { do: 'larger' },
  '=': { do: 'larger' },
  '-': { do: 'smaller' },
};

/** The command of a key; null when the key means nothing here. Classes are looked up with `labelOfKey`. */
export function commandOf(press: KeyPress, columns: number): Command | null {
  if (press.ctrlKey || press.metaKey) return withControl(press);
  const to = MOVES[press.key];
  if (to) return grid({ type: 'move', to, columns, extend: press.shiftKey });
  if (press.key === 'Enter') return { do: press.shiftKey ? 'back' : 'submit' };
  return PLAIN[press.key.length === 1 ? press.key.toLowerCase() : press.key] ?? null;
}

export function labelOfKey(press: KeyPress, labels: readonly Label[]): Label | undefined {
  if (press.ctrlKey || press.metaKey) return undefined;
  const key = press.key.toLowerCase();
  return labels.find((label) => label.hotkey !== '' && label.hotkey.toLowerCase() === key);
}
