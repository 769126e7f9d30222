import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import { expectNoViolations } from '@/test/axe';
import { sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { mayMove } from '../states';
import MoveDialog from './MoveDialog';

const run = {
  id: 'run-1',
  number: 7,
  name: 'digits',
  cluster: 'east',
  image: 'team/train:1',
  resources: { cpus: 1, memory_bytes: 1024, gpus: 0 },
} as unknown as Run;

const choice = (name: string, extra: object = {}) => ({
  name,
  kind: 'kubernetes',
  state: 'ready',
  fits: 'now',
  reason: null,
  accelerators: [],
  prices: [],
  ...extra,
});

const never = {
  fits: 'never',
  reason: { code: 'jobs.cluster_too_small', sentence: 'No node of north is large enough.', params: {} },
};

test('a run moves to another cluster, not to its own nor to one that holds it never', async () => {
  serve('GET', 'projects/{project}/cluster-choices/', {
    results: [choice('local'), choice('east'), choice('west'), choice('north', never)],
  });
  serve('POST', 'runs/{run_id}/move/', { ...run, cluster: 'west' });
  const close = vi.fn();
  await renderPage(<MoveDialog run={run} onClose={close} />);
  const west = await screen.findByRole('radio', { name: /west/ });
  expect(screen.queryByRole('radio', { name: /east|local/ })).toBeNull();
  expect(screen.getByRole('radio', { name: /north/ }).hasAttribute('disabled')).toBe(true);
  await userEvent.click(screen.getByRole('button', { name: 'Move' }));
  await screen.findByText('Choose a cluster.');
  await expectNoViolations(document.body);
  await userEvent.click(west);
  await userEvent.click(screen.getByRole('button', { name: 'Move' }));
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
  expect(sent.at(-1)?.body).toEqual({ cluster: 'west', image: 'team/train:1' });
});

test('a run moves to a cluster of another kind of GPUs, which is chosen there', async () => {
  const unknown = { code: 'jobs.accelerator_unknown', sentence: 'West has no A100.', params: {} };
  const mi300x = { kind: 'MI300X', total: 8, free: 8, reason: null };
  serve('GET', 'projects/{project}/cluster-choices/', {
    results: [choice('west', { fits: 'never', reason: unknown, accelerators: [mi300x] })],
  });
  serve('POST', 'runs/{run_id}/move/', { ...run, cluster: 'west' });
  const close = vi.fn();
  const gpus = { ...run, accelerator: 'A100', resources: { ...run.resources, gpus: 2 } };
  await renderPage(<MoveDialog run={gpus} onClose={close} />);
  await userEvent.click(await screen.findByRole('radio', { name: /west/ }));
  await userEvent.click(await screen.findByRole('combobox', { name: 'Kind of GPU' }));
  await userEvent.click(screen.getByRole('option', { name: /MI300X/ }));
  await userEvent.click(screen.getByRole('button', { name: 'Move' }));
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
  expect(sent.at(-1)?.body).toEqual({ cluster: 'west', image: 'team/train:1', accelerator: 'MI300X' });
});

test('a project with one cluster is told so', async () => {
  serve('GET', 'projects/{project}/cluster-choices/', { results: [choice('local'), choice('east')] });
  await renderPage(<MoveDialog run={run} onClose={vi.fn()} />);
  await screen.findByText('The project may use no other cluster.');
  expect(screen.getByRole('button', { name: 'Move' }).hasAttribute('disabled')).toBe(true);
});

test.each([
  ['running', 'east', true],
  ['failed', 'east', true],
  ['succeeded', 'east', false],
  ['finalizing', 'east', false],
  ['running', null, false],
])('a %s run in %s may move: %s', (state, cluster, may) => {
  expect(mayMove({ state, cluster })).toBe(may);
});
