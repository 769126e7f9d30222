import { expect, test } from 'vitest';
import type { LineageNode } from '@/api/contract/models';
import { directionFor, layOut } from './lineage';
import { lineageRows } from './lineageRows';

const node = (id: string): LineageNode => ({
  id,
  kind: 'run',
  title: id,
  subtitle: '',
  url: null,
  digest: null,
  facts: {},
});
const lineage = {
  nodes: [node('model'), node('run'), node('data')],
  edges: [
    { from: 'data', to: 'run', label: 'reads' },
    { from: 'run', to: 'model', label: 'makes' },
    { from: 'gone', to: 'model', label: '' },
  ],
};

test('what a thing was made from stands left of it', () => {
  const x = new Map(layOut(lineage, 'LR').map((placed) => [placed.node.id, placed.x]));
  expect(x.get('data')).toBeLessThan(x.get('run') as number);
  expect(x.get('run')).toBeLessThan(x.get('model') as number);
});

test('a picture that would be too wide to be read stands upright', () => {
  expect(directionFor(lineage, 1100)).toBe('LR');
  expect(directionFor(lineage, 500)).toBe('TB');
  const y = new Map(layOut(lineage, 'TB').map((placed) => [placed.node.id, placed.y]));
  expect(y.get('data')).toBeLessThan(y.get('run') as number);
});

test('no two nodes overlap', () => {
  const placed = layOut({ nodes: [node('a'), node('b'), node('c')], edges: [] }, 'LR');
  expect(new Set(placed.map(({ x, y }) => `${x},${y}`)).size).toBe(3);
});

test('the list names the sources of each thing, sources first', () => {
  expect(lineageRows(lineage).map(({ node: { id }, from }) => [id, from.map((one) => one.node.id)])).toEqual([
    ['data', []],
    ['run', ['data']],
    ['model', ['run']],
  ]);
});
