import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { renderPage } from '@/test/render';
import '../words';
import { InCluster } from './InCluster';

const rank = (number: number, extra: object = {}) => ({ number, node: null, pod: null, ...extra });
const run = (attempts: object[], cluster: string | null = 'west') => ({ cluster, attempts }) as unknown as Run;

test('a run says its namespace, its Job, and the pod and node of each rank', async () => {
  const ranks = [rank(0, { node: 'n1', pod: 'atom-7-0-x2z' }), rank(1)];
  const { container } = await renderPage(
    <InCluster run={run([{ namespace: 'jobs-old' }, { namespace: 'jobs-vision', job: 'atom-7', ranks }])} />,
  );
  screen.getByText('jobs-vision');
  screen.getByRole('button', { name: 'Copy atom-7' });
  expect(screen.getByRole('link', { name: 'west' }).getAttribute('href')).toContain('/settings/clusters/west');
  const rows = within(screen.getByRole('table')).getAllByRole('row').slice(1);
  expect(rows.map((row) => [...row.children].map(({ textContent }) => textContent))).toEqual([
    ['0', 'n1', 'atom-7-0-x2z', 'Waits for the others'],
    ['1', '–', '–', 'Waits for a node'],
  ]);
  screen.getByText('kubectl -n jobs-vision describe job atom-7');
  await expectNoViolations(container);
});

test('a run that its cluster has not accepted says so; one of this machine says nothing', async () => {
  const { unmount } = await renderPage(<InCluster run={run([{ namespace: 'jobs-vision', job: null, ranks: [] }])} />);
  screen.getByText('The cluster has no Job of it yet.');
  expect(screen.queryByRole('table')).toBeNull();
  unmount();
  await renderPage(<InCluster run={run([], null)} />);
  expect(screen.queryByText('Namespace')).toBeNull();
});
