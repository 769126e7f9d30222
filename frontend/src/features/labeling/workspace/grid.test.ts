import { describe, expect, test } from 'vitest';
import { exceptions, type Grid, type GridAction, gridReducer, labelsOf, openGrid, targets, unlabelled } from './grid';

const items = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id }));
const play = (grid: Grid, ...actions: GridAction[]) => actions.reduce(gridReducer, grid);
const fresh = () => openGrid(items);

describe('classes', () => {
  test('the preset holds for every image without one of its own', () => {
    const grid = play(openGrid(items, {}, 7), { type: 'assignAt', index: 1, label: 3 });
    expect(items.map(({ id }) => labelsOf(grid, id))).toEqual([[7], [3], [7], [7], [7], [7]]);
    expect(exceptions(grid)).toEqual([1]);
    expect(unlabelled(grid)).toEqual([]);
  });

  test('without a preset each image must be chosen', () => {
    const grid = play(fresh(), { type: 'assign', label: 2 });
    expect(unlabelled(grid)).toEqual([1, 2, 3, 4, 5]);
  });

  test('a digit labels the image under the cursor and goes on to the next', () => {
    const grid = play(
      fresh(),
      { type: 'assign', label: 1, advance: true },
      { type: 'assign', label: 2, advance: true },
    );
    expect(grid.labels).toEqual({ a: [1], b: [2] });
    expect(grid.cursor).toBe(2);
  });

  test('a digit labels the whole selection and ends it', () => {
    const grid = play(
      fresh(),
      { type: 'select', index: 1, how: 'one' },
      { type: 'select', index: 3, how: 'range' },
      { type: 'assign', label: 9, advance: true },
    );
    expect(grid.labels).toEqual({ b: [9], c: [9], d: [9] });
    expect(grid.selected.size).toBe(0);
  });

  test('without a preset there is nothing to be an exception of', () => {
    const grid = openGrid(items, { a: [3], b: [4] });
    expect(exceptions(grid)).toEqual([]);
  });

  test('clearing gives the preset back', () => {
    const grid = play(openGrid(items, { a: [3] }, 7), { type: 'goTo', index: 0 }, { type: 'clear' });
    expect(labelsOf(grid, 'a')).toEqual([7]);
  });
});

describe('several classes', () => {
  const several = (labels = {}, preset: number | null = null) => openGrid(items, labels, preset, true);

  test('a key adds a class, the same key takes it away, and the cursor stays', () => {
    const two = play(
      several(),
      { type: 'assign', label: 1, advance: true },
      { type: 'assign', label: 2, advance: true },
    );
    expect([two.labels, two.cursor]).toEqual([{ a: [1, 2] }, 0]);
    const one = play(two, { type: 'assign', label: 1 });
    expect(one.labels).toEqual({ a: [2] });
    expect(play(one, { type: 'assign', label: 2 }).labels).toEqual({});
    expect(play(one, { type: 'undo' }).labels).toEqual({ a: [1, 2] });
  });

  test('a selection stays; its images all get the class first, and lose it only when all have it', () => {
    const chosen = play(several({ b: [9] }), { type: 'selectAll' }, { type: 'assign', label: 9 });
    expect(items.every(({ id }) => labelsOf(chosen, id).includes(9))).toBe(true);
    expect(chosen.selected.size).toBe(6);
    expect(play(chosen, { type: 'assign', label: 9 }).labels).toEqual({});
  });

  test('a class is added to the preset one, and the preset one can be taken away', () => {
    const grid = play(
      several({}, 7),
      { type: 'assignAt', index: 1, label: 3 },
      { type: 'assignAt', index: 2, label: 7 },
    );
    expect(grid.labels).toEqual({ b: [7, 3], c: [] });
    expect(exceptions(grid)).toEqual([1, 2]);
    expect(unlabelled(grid)).toEqual([2]);
  });

  test('an image that comes back brings its classes', () => {
    const grid = play(
      several(),
      { type: 'sync', ids: ['a', 'b'] },
      { type: 'sync', ids: ['a', 'b', 'c'], labels: { a: [5], c: [1, 2] } },
    );
    expect(grid.labels).toEqual({ c: [1, 2] });
  });
});

describe('the first image to label', () => {
  test('is the first without a class of its own', () => {
    const grid = openGrid(items, { a: [1], b: [2], d: [3] });
    expect(targets(grid)).toEqual([2]);
    expect(play(grid, { type: 'assign', label: 9, advance: true }).labels).toEqual({ a: [1], b: [2], c: [9], d: [3] });
    expect(targets(play(grid, { type: 'move', to: 'right', columns: 3, extend: true }))).toEqual([2, 3]);
  });

  test('is the same with a preset class: what somebody chose is not replaced', () => {
    expect(openGrid(items, { a: [1] }, 7).cursor).toBe(1);
  });

  test('is the first of all when every one has a class, and none when there are none', () => {
    expect(openGrid([{ id: 'a' }], { a: [1] }).cursor).toBe(0);
    expect(targets(openGrid([]))).toEqual([]);
  });
});

describe('selection', () => {
  test('toggling picks single images', () => {
    const grid = play(
      fresh(),
      { type: 'select', index: 0, how: 'toggle' },
      { type: 'select', index: 4, how: 'toggle' },
    );
    expect(targets(grid)).toEqual([0, 4]);
    expect(targets(play(grid, { type: 'select', index: 0, how: 'toggle' }))).toEqual([4]);
  });

  test('Shift and an arrow extend it both ways', () => {
    const down = play(
      fresh(),
      { type: 'move', to: 'right', columns: 3, extend: false },
      { type: 'move', to: 'down', columns: 3, extend: true },
    );
    expect(targets(down)).toEqual([1, 2, 3, 4]);
    const up = play(
      down,
      { type: 'move', to: 'up', columns: 3, extend: true },
      { type: 'move', to: 'left', columns: 3, extend: true },
    );
    expect(targets(up)).toEqual([0, 1]);
  });

  test('the cursor stays inside', () => {
    const right = play(
      fresh(),
      { type: 'move', to: 'last', columns: 3, extend: false },
      { type: 'move', to: 'right', columns: 3, extend: false },
    );
    expect(right.cursor).toBe(5);
    expect(play(right, { type: 'move', to: 'down', columns: 3, extend: false }).cursor).toBe(5);
    expect(play(fresh(), { type: 'move', to: 'up', columns: 3, extend: false }).cursor).toBe(0);
  });

  test('an empty batch has nothing to label', () => {
    const empty = openGrid([]);
    expect(gridReducer(empty, { type: 'assign', label: 1 })).toBe(empty);
  });
});

describe('undo', () => {
  test('goes all the way back and all the way forward', () => {
    let grid = fresh();
    for (let turn = 0; turn < 300; turn++) grid = gridReducer(grid, { type: 'assignAt', index: turn % 6, label: turn });
    const full = grid.labels;
    for (let turn = 0; turn < 300; turn++) grid = gridReducer(grid, { type: 'undo' });
    expect(grid.labels).toEqual({});
    expect(gridReducer(grid, { type: 'undo' })).toBe(grid);
    for (let turn = 0; turn < 300; turn++) grid = gridReducer(grid, { type: 'redo' });
    expect(grid.labels).toEqual(full);
  });

  test('covers the preset too', () => {
    const grid = play(fresh(), { type: 'preset', label: 4 }, { type: 'undo' });
    expect(grid.preset).toBeNull();
  });

  test('a new change drops what was undone', () => {
    const grid = play(
      fresh(),
      { type: 'assign', label: 1 },
      { type: 'undo' },
      { type: 'assign', label: 2 },
      { type: 'redo' },
    );
    expect(grid.labels).toEqual({ a: [2] });
  });
});

test('a skipped image leaves the batch with its class', () => {
  const grid = play(
    openGrid(items, { f: [1] }),
    { type: 'move', to: 'last', columns: 3, extend: false },
    { type: 'sync', ids: ['a', 'b', 'c', 'd', 'e'] },
  );
  expect(grid.items).toHaveLength(5);
  expect(grid.labels).toEqual({});
  expect(grid.cursor).toBe(4);
  const back = play(grid, { type: 'sync', ids: ['a', 'b', 'c', 'd', 'e', 'f'] });
  expect([back.items.at(-1)?.id, back.cursor]).toEqual(['f', 5]);
});
