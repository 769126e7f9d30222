import { describe, expect, it } from 'vitest';
import { dirtyRect, MAX_TAGS } from './dirty';
import { type Action, openEditor, reduce } from './editor';
import { PLAIN_LOOK, type Scene } from './scene';
import { ONTOLOGY, object } from './testing';

const box = (id: string, x: number) => object(id, { kind: 'box', box: [x, 100, 50, 50] });
const scene = (count: number): Scene => ({
  picture: null,
  editor: openEditor({
    version: 2,
    width: 9000,
    height: 800,
    objects: Array.from({ length: count }, (_, index) => box(`o${index}`, index * 100)),
  }),
  ontology: ONTOLOGY,
  view: { scale: 1, x: 0, y: 0 },
  look: PLAIN_LOOK,
  editing: [],
});
const changedBy = (before: Scene, ...actions: Action[]): Scene => ({
  ...before,
  editor: actions.reduce(reduce, before.editor),
});

describe('what has to be painted anew', () => {
  const before = scene(4);

  it.each<[string, Action, number, number]>([
    ['drawn', { type: 'draw', object: box('new', 1000) }, 980, 1110],
    ['deleted', { type: 'delete', ids: ['o2'] }, 180, 310],
    ['moved', { type: 'move', ids: ['o1'], dx: 40, dy: 0 }, 80, 250],
    ['selected', { type: 'select', ids: ['o3'] }, 280, 410],
    ['locked', { type: 'lock', ids: ['o3'], locked: true }, 280, 410],
    ['hidden', { type: 'hide', ids: ['o3'], hidden: true }, 280, 410],
  ])('is the place of what was %s, with its name', (_, action, left, right) => {
    const rect = dirtyRect(before, changedBy(before, action));
    if (rect === null || rect === 'all') throw new Error('a rectangle is expected');
    expect(rect[0]).toBe(left);
    expect(rect[0] + rect[2]).toBeGreaterThanOrEqual(right - 40);
    expect(rect[0] + rect[2]).toBeLessThanOrEqual(right + 40);
    expect([rect[1], rect[3]]).toEqual([80, 90]);
  });

  it('is what the active layer takes over', () => {
    expect(dirtyRect(before, { ...before, editing: ['o0'] })).toEqual([-20, 80, 90, 90]);
  });

  it('is nothing when nothing that is seen has changed', () => {
    expect(dirtyRect(before, changedBy(before, { type: 'copy', ids: ['o0'] }))).toBeNull();
  });

  it('is everything when the view, the order or the number of names changes', () => {
    expect(dirtyRect(null, before)).toBe('all');
    expect(dirtyRect(before, { ...before, view: { scale: 2, x: 0, y: 0 } })).toBe('all');
    expect(dirtyRect(before, { ...before, look: { ...PLAIN_LOOK, contrast: 150 } })).toBe('all');
    expect(dirtyRect(before, changedBy(before, { type: 'order', ids: ['o0'], to: 'front' }))).toBe('all');
    const many = scene(MAX_TAGS);
    expect(dirtyRect(many, changedBy(many, { type: 'draw', object: box('new', 0) }))).toBe('all');
  });
});
