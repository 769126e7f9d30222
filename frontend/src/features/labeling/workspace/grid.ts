/** One batch of images on the screen: the classes of each, what is selected, and how it came to be. Pure. */
export interface GridItem {
  /** The slot's id. */
  id: string;
}

/** Classes by the slot's id, in the order in which they were chosen. An empty list: somebody took the preset away. */
export type Labels = Readonly<Record<string, readonly number[]>>;

export interface Grid {
  items: readonly GridItem[];
  /** Classes that somebody chose; the rest have the preset one. */
  labels: Labels;
  /** Class of every image that has none of its own; null: each must be chosen. */
  preset: number | null;
  /** Whether an image can have several classes: a class is added or taken away then, and else it replaces. */
  multiple: boolean;
  cursor: number;
  selected: ReadonlySet<number>;
  /** Where a Shift selection starts. */
  anchor: number;
  past: readonly Snapshot[];
  future: readonly Snapshot[];
}

interface Snapshot {
  labels: Labels;
  preset: number | null;
  cursor: number;
}

export type Move = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

export type GridAction =
  | { type: 'assign'; label: number; advance?: boolean }
  /** One image, as when a digit is held and images are clicked. */
  | { type: 'assignAt'; index: number; label: number }
  | { type: 'clear' }
  | { type: 'preset'; label: number | null }
  | { type: 'select'; index: number; how: 'one' | 'toggle' | 'range' }
  | { type: 'selectAll' }
  | { type: 'move'; to: Move; columns: number; extend: boolean }
  | { type: 'goTo'; index: number }
  /** The images that the batch has now: some may have gone, one may have come back with its classes. */
  | { type: 'sync'; ids: readonly string[]; labels?: Labels }
  | { type: 'undo' }
  | { type: 'redo' };

export function openGrid(
  items: readonly GridItem[],
  labels: Labels = {},
  preset: number | null = null,
  multiple = false,
): Grid {
  // Where the work goes on: the next key must not replace a class that was chosen before.
  const cursor = Math.max(
    0,
    items.findIndex(({ id }) => labels[id] === undefined),
  );
  return { items, labels, preset, multiple, cursor, selected: new Set(), anchor: cursor, past: [], future: [] };
}

const snapshot = ({ labels, preset, cursor }: Grid): Snapshot => ({ labels, preset, cursor });
const clamp = (index: number, count: number) => Math.max(0, Math.min(count - 1, index));
const range = (from: number, to: number) =>
  new Set(Array.from({ length: Math.abs(to - from) + 1 }, (_, step) => Math.min(from, to) + step));

/** The selection, or the image under the cursor when nothing is selected. */
export function targets(grid: Grid): number[] {
  if (grid.items.length === 0) return [];
  return grid.selected.size > 0 ? [...grid.selected].sort((a, b) => a - b) : [grid.cursor];
}

/** The classes of an image: its own, or the preset one. */
export const labelsOf = ({ labels, preset }: Pick<Grid, 'labels' | 'preset'>, id: string): readonly number[] =>
  labels[id] ?? (preset === null ? [] : [preset]);

/** Whether the classes of an image were chosen and are not just the preset one. */
export function hasOwnLabels({ labels, preset }: Grid, id: string): boolean {
  const own = labels[id];
  return own !== undefined && !(own.length === 1 && own[0] === preset);
}

/** Indices of the images that still need a class. */
export function unlabelled(grid: Grid): number[] {
  return grid.items.flatMap((item, index) => (labelsOf(grid, item.id).length === 0 ? [index] : []));
}

/** Indices of the images whose class is not the preset one; without a preset class there are none. */
export function exceptions(grid: Grid): number[] {
  if (grid.preset === null) return [];
  return grid.items.flatMap(({ id }, index) => (hasOwnLabels(grid, id) ? [index] : []));
}

/** Every change goes through here, so that every change can be undone. */
function change(grid: Grid, next: Partial<Grid>): Grid {
  return { ...grid, ...next, past: [...grid.past, snapshot(grid)], future: [] };
}

/** The labels after a change of some images; null: the image goes back to the preset class. */
function withLabels(grid: Grid, indices: readonly number[], next: (id: string) => readonly number[] | null): Labels {
  const labels: Record<string, readonly number[]> = { ...grid.labels };
  for (const index of indices) {
    const id = grid.items[index]?.id;
    if (id === undefined) continue;
    const chosen = next(id);
    if (chosen === null || (chosen.length === 0 && grid.preset === null)) delete labels[id];
    else labels[id] = chosen;
  }
  return labels;
}

/** Gives images a class. Where several are possible it is added, or taken away once all of the images have it. */
function withClass(grid: Grid, indices: readonly number[], label: number): Labels {
  if (!grid.multiple) return withLabels(grid, indices, () => [label]);
  const allHave = indices.every((index) => labelsOf(grid, grid.items[index]?.id ?? '').includes(label));
  return withLabels(grid, indices, (id) => {
    const others = labelsOf(grid, id).filter((chosen) => chosen !== label);
    return allHave ? others : [...others, label];
  });
}

/** The cursor and the selection stay where several classes are possible: the next key gives one more. */
function assign(grid: Grid, label: number, advance: boolean): Grid {
  const at = targets(grid);
  if (at.length === 0) return grid;
  const labels = withClass(grid, at, label);
  if (grid.multiple) return change(grid, { labels });
  const single = grid.selected.size === 0;
  const cursor = single && advance ? clamp(grid.cursor + 1, grid.items.length) : grid.cursor;
  return change(grid, { labels, selected: new Set(), cursor, anchor: cursor });
}

function select(grid: Grid, index: number, how: 'one' | 'toggle' | 'range'): Grid {
  const at = clamp(index, grid.items.length);
  if (how === 'range') return { ...grid, selected: range(grid.anchor, at), cursor: at };
  if (how === 'one') return { ...grid, selected: new Set([at]), cursor: at, anchor: at };
  const selected = new Set(grid.selected);
  if (!selected.delete(at)) selected.add(at);
  return { ...grid, selected, cursor: at, anchor: at };
}

function destination(grid: Grid, to: Move, columns: number): number {
  const last = grid.items.length - 1;
  const steps: Record<Move, number> = { left: -1, right: 1, up: -columns, down: columns, first: -last, last };
  const next = grid.cursor + steps[to];
  // Up in the first row and down in the last one stay where they are.
  if ((to === 'up' && next < 0) || (to === 'down' && next > last)) return grid.cursor;
  return clamp(next, grid.items.length);
}

function move(grid: Grid, to: Move, columns: number, extend: boolean): Grid {
  const cursor = destination(grid, to, columns);
  if (extend) return { ...grid, cursor, selected: range(grid.anchor, cursor) };
  return { ...grid, cursor, anchor: cursor, selected: new Set() };
}

function sync(grid: Grid, ids: readonly string[], known: Labels): Grid {
  const there = new Set(grid.items.map(({ id }) => id));
  const wanted = new Set(ids);
  const came = ids.filter((id) => !there.has(id)).map((id) => ({ id }));
  if (came.length === 0 && wanted.size === there.size) return grid;
  const items = [...grid.items.filter(({ id }) => wanted.has(id)), ...came];
  const kept = Object.entries(grid.labels).filter(([id]) => wanted.has(id));
  const brought = came.flatMap(({ id }): [string, readonly number[]][] => (known[id] ? [[id, known[id]]] : []));
  const labels = Object.fromEntries([...kept, ...brought]);
  const at = came.length > 0 ? items.length - 1 : grid.cursor;
  const cursor = clamp(at, Math.max(1, items.length));
  return { ...grid, items, labels, selected: new Set(), cursor, anchor: cursor };
}

function step(grid: Grid, from: 'past' | 'future', to: 'past' | 'future'): Grid {
  const target = grid[from].at(-1);
  if (!target) return grid;
  return {
    ...grid,
    ...target,
    anchor: target.cursor,
    selected: new Set(),
    [from]: grid[from].slice(0, -1),
    [to]: [...grid[to], snapshot(grid)],
  };
}

export function gridReducer(grid: Grid, action: GridAction): Grid {
  switch (action.type) {
    case 'assign':
      return assign(grid, action.label, action.advance ?? false);
    case 'assignAt': {
      const cursor = clamp(action.index, grid.items.length);
      const labels = withClass(grid, [action.index], action.label);
      return change(grid, { labels, cursor, anchor: cursor, selected: new Set() });
    }
    case 'clear':
      return change(grid, { labels: withLabels(grid, targets(grid), () => null), selected: new Set() });
    case 'preset':
      return action.label === grid.preset ? grid : change(grid, { preset: action.label });
    case 'select':
      return select(grid, action.index, action.how);
    case 'selectAll':
      return { ...grid, selected: new Set(grid.items.keys()) };
    case 'move':
      return move(grid, action.to, action.columns, action.extend);
    case 'goTo': {
      const cursor = clamp(action.index, grid.items.length);
      return { ...grid, cursor, anchor: cursor, selected: new Set() };
    }
    case 'sync':
      return sync(grid, action.ids, action.labels ?? {});
    case 'undo':
      return step(grid, 'past', 'future');
    case 'redo':
      return step(grid, 'future', 'past');
  }
}
