import { describe, expect, it } from 'vitest';
import { type Action, type Editor, openEditor, reduce } from './editor';
import { type AnnotationObject, type DocumentV2, objectsOf, relationsOf, type Shape } from './model';
import { applyPatch, longestRise, patchBetween } from './patches';
import { object, random } from './testing';

const box = (id: string, x = 0, label = 1): AnnotationObject => object(id, { kind: 'box', box: [x, 0, 10, 10] }, label);
const documentOf = (...objects: AnnotationObject[]): DocumentV2 => ({ version: 2, width: 1000, height: 800, objects });
const run = (editor: Editor, ...actions: Action[]): Editor => actions.reduce(reduce, editor);
const idsOf = (editor: Editor): string =>
  objectsOf(editor.document)
    .map(({ id }) => id)
    .join('');
const reloaded = (editor: Editor): Editor => JSON.parse(JSON.stringify(editor)) as Editor;

/** Any action on the objects that there are. */
function anyAction(next: () => number, editor: Editor, round: number): Action {
  const objects = objectsOf(editor.document);
  const pick = (): string => objects[Math.floor(next() * objects.length)]?.id ?? 'none';
  const ids = [pick(), pick()];
  const shapes: Shape[] = [
    { kind: 'box', box: [next() * 100, next() * 100, 1 + next() * 50, 1 + next() * 50] },
    { kind: 'rotated_box', box: [next() * 100, next() * 100, 10, 20], angle: next() * 359 },
    { kind: 'polygon', parts: [[[0, 0, 40 + next(), 0, 40, 40, 0, 40]]] },
    { kind: 'polyline', points: [0, 0, next() * 10, 10, 20, 20] },
    { kind: 'point', points: [next(), next()] },
    { kind: 'keypoints', points: [1, 2, 2, 3, next(), 1, 0, 0, 0] },
    { kind: 'mask', rle: { size: [2, 2], counts: '112' } },
  ];
  const shape = shapes[Math.floor(next() * shapes.length)] as Shape;
  const actions: Action[] = [
    { type: 'draw', object: object(`n${round}`, shape) },
    { type: 'draw', object: object(`m${round}`, shape) },
    { type: 'move', ids, dx: next() * 10, dy: next() * 10 },
    { type: 'resize', ids, from: [0, 0, 100, 100], to: [5, 5, 50 + next(), 150] },
    { type: 'rotate', ids, centre: [50, 50], degrees: next() * 360 },
    { type: 'reshape', id: pick(), shape },
    { type: 'insertVertex', id: pick(), part: 0, ring: 0, index: 1, at: [20, next()] },
    { type: 'removeVertex', id: pick(), part: 0, ring: 0, index: 1 },
    { type: 'split', id: pick(), line: [20, -10, 20, 60], newIds: [`s${round}`] },
    { type: 'merge', ids },
    { type: 'setLabel', ids, label: 1 + Math.floor(next() * 3) },
    { type: 'setAttribute', ids, attribute: 4, value: next() < 0.3 ? null : Math.floor(next() * 5) },
    { type: 'setPictureAttribute', attribute: 7, value: next() < 0.3 ? null : 'a/b~c' },
    { type: 'setPictureLabels', labels: next() < 0.3 ? [] : [1, 2] },
    { type: 'setIgnore', ids, ignore: next() < 0.5 },
    { type: 'setText', ids, text: next() < 0.5 ? '' : 'AB-123' },
    { type: 'setTrack', ids, track: next() < 0.5 ? null : 'aabb' },
    { type: 'order', ids, to: (['front', 'back', 'forward', 'backward'] as const)[Math.floor(next() * 4)] ?? 'front' },
    { type: 'delete', ids: [pick()] },
    { type: 'duplicate', ids, newIds: [`d${round}`, `e${round}`], dx: 3, dy: 4 },
    { type: 'copy', ids },
    { type: 'paste', newIds: [`p${round}`, `q${round}`], dx: 1, dy: 1 },
    { type: 'relate', id: `r${round}`, relation: 1, from: pick(), to: pick() },
    { type: 'select', ids },
  ];
  return actions[Math.floor(next() * actions.length)] as Action;
}

describe('history', () => {
  it.each([1, 2, 3, 4, 5, 6])(
    'undoes everything to the start and redoes it to the end, through JSON (seed %i)',
    (seed) => {
      const next = random(seed);
      const start = openEditor(documentOf(box('a'), box('b', 20)));
      let editor = start;
      for (let round = 0; round < 150; round++) {
        const before = editor;
        editor = reduce(editor, anyAction(next, editor, round));
        const patch = editor.past.at(-1);
        if (editor.document !== before.document && patch)
          expect(applyPatch(before.document, patch.forward)).toEqual(editor.document);
      }
      const steps = editor.past.length;
      expect(steps).toBeGreaterThan(60);
      let undone = reloaded(editor);
      for (let step = 0; step < steps; step++) undone = reduce(undone, { type: 'undo' });
      expect(undone.document).toEqual(start.document);
      expect(reduce(undone, { type: 'undo' })).toBe(undone);
      let redone = reloaded(undone);
      for (let step = 0; step < steps; step++) redone = reduce(redone, { type: 'redo' });
      expect(redone.document).toEqual(editor.document);
      expect(redone.past).toEqual(JSON.parse(JSON.stringify(editor.past)));
      expect(reduce(redone, { type: 'redo' })).toBe(redone);
    },
  );

  it('forgets what was undone once something else is done, and brings the selection back', () => {
    const drawn = run(
      openEditor(documentOf(box('a'))),
      { type: 'select', ids: ['a'] },
      { type: 'draw', object: box('b') },
    );
    expect(drawn.selected).toEqual(['b']);
    const undone = run(drawn, { type: 'undo' });
    expect(undone.selected).toEqual(['a']);
    expect(idsOf(undone)).toBe('a');
    const other = run(undone, { type: 'draw', object: box('c') });
    expect(idsOf(run(other, { type: 'redo' }))).toBe('ac');
  });

  it('keeps no step for what changes nothing', () => {
    const editor = openEditor(documentOf(box('a')));
    const same = run(
      editor,
      { type: 'move', ids: ['a'], dx: 0, dy: 0 },
      { type: 'setIgnore', ids: ['a'], ignore: false },
      { type: 'setLabel', ids: ['a'], label: 1 },
      { type: 'order', ids: ['a'], to: 'front' },
      { type: 'delete', ids: ['x'] },
    );
    expect(same.past).toEqual([]);
    expect(same.document).toBe(editor.document);
  });
});

describe('patches', () => {
  it('name only what changed', () => {
    const before = documentOf(
      box('a'),
      box('b'),
      object('c', { kind: 'polygon', parts: [[[0, 0, 9, 0, 9, 9, 0, 9]]] }),
    );
    const editor = openEditor(before);
    const last = (action: Action) => run(editor, action).past[0]?.forward;
    expect(last({ type: 'order', ids: ['a'], to: 'front' })).toEqual([
      { op: 'move', from: '/objects/0', path: '/objects/2' },
    ]);
    expect(last({ type: 'delete', ids: ['b'] })).toEqual([{ op: 'remove', path: '/objects/1' }]);
    expect(last({ type: 'setAttribute', ids: ['b'], attribute: 4, value: 2 })).toEqual([
      { op: 'add', path: '/objects/1/attributes', value: { 4: 2 } },
    ]);
    expect(last({ type: 'reshape', id: 'c', shape: { kind: 'polygon', parts: [[[0, 0, 8, 0, 9, 9, 0, 9]]] } })).toEqual(
      [{ op: 'replace', path: '/objects/2/parts/0/0/2', value: 8 }],
    );
    expect(last({ type: 'setPictureLabels', labels: [3] })).toEqual([{ op: 'add', path: '/labels', value: [3] }]);
  });

  it('lead from any order and choice of objects to any other', () => {
    const next = random(9);
    for (let round = 0; round < 300; round++) {
      const some = () => {
        const ids = [...'abcdefgh'].filter(() => next() < 0.7);
        const shuffled = ids.map((id) => [next(), id] as const).sort((a, b) => a[0] - b[0]);
        return documentOf(...shuffled.map(([, id]) => box(id, Math.floor(next() * 2))));
      };
      const [before, after] = [some(), some()];
      expect(applyPatch(before, patchBetween(before, after))).toEqual(after);
    }
  });

  it('move as few objects as can be', () => {
    expect([...longestRise([5, 1, 2, 9, 3])].sort()).toEqual([1, 2, 3]);
    expect(longestRise([]).size).toBe(0);
  });
});

describe('objects', () => {
  it('go in front of and behind others, together and by one', () => {
    const editor = openEditor(documentOf(box('a'), box('b'), box('c'), box('d')));
    const order = (ids: string[], to: 'front' | 'back' | 'forward' | 'backward') =>
      idsOf(run(editor, { type: 'order', ids, to }));
    expect(order(['a', 'c'], 'front')).toBe('bdac');
    expect(order(['b', 'd'], 'back')).toBe('bdac');
    expect(order(['a', 'b'], 'forward')).toBe('cabd');
    expect(order(['c', 'd'], 'backward')).toBe('acdb');
    expect(order(['d'], 'forward')).toBe('abcd');
  });

  it('take their relations along when they go', () => {
    const editor = run(
      openEditor(documentOf(box('a'), box('b'), box('c'))),
      { type: 'relate', id: 'r', relation: 1, from: 'a', to: 'b' },
      { type: 'relate', id: 's', relation: 1, from: 'b', to: 'c' },
      { type: 'relate', id: 't', relation: 1, from: 'b', to: 'c' },
      { type: 'relate', id: 'u', relation: 1, from: 'c', to: 'c' },
    );
    expect(relationsOf(editor.document).map(({ id }) => id)).toEqual(['r', 's']);
    const deleted = run(editor, { type: 'delete', ids: ['a'] });
    expect(relationsOf(deleted.document).map(({ id }) => id)).toEqual(['s']);
    expect(run(deleted, { type: 'undo' }).document).toEqual(editor.document);
    expect(run(editor, { type: 'unrelate', ids: ['r', 's'] }).document.relations).toBeUndefined();
  });

  it('that are locked stay as they are', () => {
    const editor = run(openEditor(documentOf(box('a'), box('b'))), { type: 'lock', ids: ['a'], locked: true });
    const moved = run(editor, { type: 'move', ids: ['a', 'b'], dx: 5, dy: 0 }, { type: 'delete', ids: ['a'] });
    expect(objectsOf(moved.document)).toEqual([box('a'), box('b', 5)]);
    expect(idsOf(run(editor, { type: 'lock', ids: ['a'], locked: false }, { type: 'delete', ids: ['a'] }))).toBe('b');
  });

  it('lose the attributes that another label has not', () => {
    const drawn = { ...box('a'), attributes: { 4: 1, 5: true } };
    const editor = run(openEditor(documentOf(drawn)), { type: 'setLabel', ids: ['a'], label: 2, keep: [5] });
    expect(objectsOf(editor.document)).toEqual([{ ...box('a', 0, 2), attributes: { 5: true } }]);
  });

  it('are copied to other pictures under new ids', () => {
    const editor = run(openEditor(documentOf({ ...box('a'), track: 'ff', text: 'x' })), { type: 'copy', ids: ['a'] });
    const other = run(editor, { type: 'open', document: documentOf() }, { type: 'paste', newIds: ['b'], dx: 1, dy: 2 });
    expect(objectsOf(other.document)).toEqual(
      [object('b', { kind: 'box', box: [1, 2, 10, 10] })].map((copy) => ({ ...copy, text: 'x' })),
    );
    expect(other.selected).toEqual(['b']);
  });

  it('are copied with the relations of which both ends are copied', () => {
    const start = run(
      openEditor(documentOf(box('a'), box('b'), box('c'))),
      { type: 'relate', id: 'r', relation: 1, from: 'a', to: 'b' },
      { type: 'relate', id: 's', relation: 1, from: 'b', to: 'c' },
    );
    const ids = { newIds: ['x', 'y', 't'], dx: 1, dy: 1 };
    const twice = run(start, { type: 'duplicate', ids: ['a', 'b'], ...ids });
    const copied = { id: 't', relation: 1, from: 'x', to: 'y' };
    expect(twice.document.relations).toEqual([...(start.document.relations ?? []), copied]);
    const other = run(start, { type: 'copy', ids: ['a', 'b'] }, { type: 'open', document: documentOf() });
    expect(run(other, { type: 'paste', ...ids }).document.relations).toEqual([copied]);
    expect(run(twice, { type: 'undo' }).document).toEqual(start.document);
  });

  it('are selected one after another, hidden ones not', () => {
    const editor = run(openEditor(documentOf(box('a'), box('b'), box('c'))), {
      type: 'hide',
      ids: ['b'],
      hidden: true,
    });
    const steps: string[] = [];
    let current = editor;
    for (const step of [1, 1, 1, -1] as const) {
      current = run(current, { type: 'selectNext', step });
      steps.push(current.selected.join());
    }
    expect(steps).toEqual(['a', 'c', '', 'c']);
    expect(run(editor, { type: 'selectAll' }).selected).toEqual(['a', 'c']);
    const toggledOff = run(editor, { type: 'select', ids: ['a', 'c'] }, { type: 'select', ids: ['c'], how: 'toggle' });
    expect(toggledOff.selected).toEqual(['a']);
  });
});

describe('polygons', () => {
  const square = object('p', { kind: 'polygon', parts: [[[0, 0, 40, 0, 40, 40, 0, 40]]] });

  it('are cut; the largest piece keeps the id and all pieces their place', () => {
    const editor = run(openEditor(documentOf(box('a'), square, box('z'))), {
      type: 'split',
      id: 'p',
      line: [10, -5, 10, 45],
      newIds: ['q'],
    });
    expect(idsOf(editor)).toBe('apqz');
    expect(editor.selected).toEqual(['p', 'q']);
    expect(objectsOf(editor.document)[1]).toMatchObject({ id: 'p', label: 1 });
  });

  it('are merged; relations of all go to the whole', () => {
    const right = object('q', { kind: 'polygon', parts: [[[40, 0, 80, 0, 80, 40, 40, 40]]] });
    const editor = run(
      openEditor(documentOf(square, right, box('c'))),
      { type: 'relate', id: 'r', relation: 1, from: 'q', to: 'c' },
      { type: 'relate', id: 's', relation: 1, from: 'q', to: 'p' },
      { type: 'merge', ids: ['p', 'q'] },
    );
    expect(idsOf(editor)).toBe('pc');
    expect(relationsOf(editor.document)).toEqual([{ id: 'r', relation: 1, from: 'p', to: 'c' }]);
  });
});
