import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ActivityPage } from '../index';
import { AT, version, withDataset } from '../operations/pets';

withDataset();

const line = (verb: string, kind: string, extra: object = {}) => ({
  id: verb,
  at: '2026-01-01T00:00:00Z',
  kind,
  verb,
  actor: 'bob',
  object_id: 'o',
  data: {},
  version: null,
  ...extra,
});
const open = (search = '') =>
  renderPage(<ActivityPage />, `/datasets/pets/activity${search}`, '/datasets/$name/activity');

test('what happened is told in words with links, and filtered in the address', async () => {
  const queries: string[] = [];
  serve('GET', `${AT}activity/`, (_: Request, url: URL) => {
    queries.push(url.search);
    return listing(
      line('version.merge', 'versions', { version: version(2) }),
      line('tag.deleted', 'refs', { data: { name: 'old' }, actor: '' }),
      line('label_task.published', 'labels', { data: { name: 'birds' } }),
      line('planet.moved', 'dataset'),
    );
  });
  const { container } = await open();
  expect((await screen.findByRole('link', { name: 'v2' })).getAttribute('href')).toContain('ref=v2');
  expect(screen.getByRole('link', { name: 'birds' }).getAttribute('href')).toBe('/labeling/o');
  screen.getByText('took away the tag');
  screen.getByText('planet.moved');
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('checkbox', { name: 'Labels' }));
  await userEvent.click((await screen.findAllByRole('button', { name: 'Only what bob did' }))[0] as HTMLElement);
  await eventually(() => expect(queries.at(-1)).toMatch(/kind=labels&actor=bob/));
  await userEvent.click(screen.getByRole('button', { name: 'Show all' }));
  await eventually(() => expect(queries.at(-1)).not.toContain('actor'));
});

test('nothing and a failure are said', async () => {
  serve('GET', `${AT}activity/`, listing());
  const { unmount } = await open('?kind=%5B%22labels%22%5D');
  await screen.findByText('Nothing matches: try another filter');
  unmount();
  serve('GET', `${AT}activity/`, problem(500, 'server_error', 'Broken'));
  await open();
  await screen.findByRole('alert');
});
