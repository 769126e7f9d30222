import { expect, test } from 'vitest';
import type { Artifact } from '@/api/contract/jobs';
import { isModelName, preferred, registrable } from './registrable';

const file = (path: string, extra: Partial<Artifact> = {}) =>
  ({
    path,
    kind: path.startsWith('model/') ? 'model' : 'output',
    state: 'persisted',
    attempt: 1,
    ...extra,
  }) as Artifact;

test('the whole model output is offered first, as the workflow declares it', () => {
  const offered = registrable([file('model/weights.pt'), file('model/model.json'), file('notes.txt')]);
  expect(offered.folder).toEqual({ path: 'model/', files: 2 });
  expect(preferred(offered)).toBe('model/');
});

test('files that are not stored yet are not offered', () => {
  expect(registrable([file('model/weights.pt', { state: 'local' })])).toEqual({ folder: null, files: [] });
});

test('the folder is that of the newest attempt', () => {
  const offered = registrable([file('model/a'), file('model/b'), file('model/a', { attempt: 2 })]);
  expect(offered).toEqual({ folder: { path: 'model/', files: 1 }, files: ['model/a', 'model/b'] });
});

test('of several loose files a person has to choose', () => {
  expect(preferred(registrable([file('a.pt'), file('b.pt')]))).toBe('');
  expect(preferred(registrable([file('a.pt')]))).toBe('a.pt');
});

test.each([
  ['digits-2.1', true],
  ['Digits', false],
  ['digits-', false],
  ['', false],
  ['d'.repeat(64), false],
])('the name %s of a model is good: %s', (name, good) => expect(isModelName(name)).toBe(good));
