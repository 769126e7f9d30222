import { expect, test } from 'vitest';
import { router } from '../router';
import { NAMED_PAGES } from './navigation';
import { PAGES, pagesFrom } from './pages';

test('every route says how the palette reaches it', () => {
  expect(Object.keys(PAGES).sort()).toEqual(Object.keys(router.routesByPath).sort());
  const entries = NAMED_PAGES.map(({ to }) => to as string).sort();
  const said = Object.entries(PAGES).filter(([, { by }]) => by === 'navigation');
  expect(said.map(([address]) => address).sort()).toEqual(entries);
});

test('the pages of a dataset lead to each other, and not to those of another thing', () => {
  const { kin } = pagesFrom('/datasets/$name/versions', () => true);
  expect(kin.map(({ label }) => label)).toEqual([
    'files',
    'refs',
    'diff',
    'importing',
    'exchange',
    'cleaning',
    'warmUp',
    'keeping',
    'activity',
  ]);
  expect(pagesFrom('/datasets', () => true).kin).toEqual([]);
});

test('pages that a role may not open are not offered', () => {
  const labels = (may: boolean) => pagesFrom('/labeling/$taskId', () => may);
  expect(labels(false).kin).toEqual([]);
  expect(labels(true).kin.map(({ label }) => label)).toEqual(['work', 'audit']);
  expect(labels(false).anywhere.map(({ label }) => label)).not.toContain('newRun');
});
