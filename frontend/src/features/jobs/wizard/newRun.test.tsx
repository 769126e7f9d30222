import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, serve } from '@/test/fakeApi';
import { decision, place } from '@/test/places';
import { renderPage } from '@/test/render';
import { NewRunPage } from '../index';

const run = {
  id: 'run-7',
  number: 7,
  name: 'train-7',
  workflow: null,
  command: ['python', 'train.py'],
  parameters: {},
  datasets: [],
  resources: { cpus: 2, memory_bytes: 2 ** 32, gpus: 0 },
  env: [],
  secrets: [],
  tags: [],
};

beforeEach(() => {
  serve('GET', 'workflows/', listing());
  serve('GET', 'clusters/', listing());
  serve('POST', 'projects/{project}/placements/preview/', decision(place('local', 1)));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', 'projects/{project}/runs/preview/', {
    valid: true,
    errors: {},
    outlook: 'starts',
    placement: { cluster: 'local', node: 'local-1', why: 'The only node.', code: 'only_machine', params: {} },
    queue_position: 1,
    warm: null,
    runtime: { digest: 'abc', state: 'ready' },
  });
});

test('what was changed in a clone outlives a reload; the link pressed again begins anew', async () => {
  serve('GET', 'runs/{run_id}/', run);
  const name = () => screen.findByRole('textbox', { name: 'Name' });
  const { unmount } = await renderPage(<NewRunPage />, '/runs/new?clone=run-7&step=1');
  expect(await name()).toHaveProperty('value', 'train-7');
  await userEvent.type(await name(), '-longer');
  unmount();
  const again = await renderPage(<NewRunPage />, '/runs/new?clone=run-7&step=1');
  await screen.findByText(/copy of train-7/i);
  expect(await name()).toHaveProperty('value', 'train-7-longer');
  again.unmount();
  await renderPage(<NewRunPage />, '/runs/new?clone=run-7');
  await waitFor(() =>
    expect(JSON.parse(sessionStorage.getItem('atom-new-run/vision') ?? '{}')).toMatchObject({ name: 'train-7' }),
  );
});

test('a clone is begun from a run’s number in the project too', async () => {
  serve('GET', 'projects/{project}/runs/', listing({ ...run, id: 'run-7', number: 7 }));
  serve('GET', 'runs/{run_id}/', (_request: Request, url: URL) =>
    url.pathname.endsWith('/runs/run-7/') ? run : problem(404, 'not_found', 'There is no such run.'),
  );
  await renderPage(<NewRunPage />, '/runs/new?clone=7&step=1');
  expect(await screen.findByRole('textbox', { name: 'Name' })).toHaveProperty('value', 'train-7');
});

test('a number that the server refuses is told at its field, and no forecast is waited for', async () => {
  sessionStorage.setItem('atom-new-run/vision', JSON.stringify({ workflow: 'command', command: 'echo', gpus: -1 }));
  const errors = { 'resources.gpus': ['At least 0.'], command: ['This field is required.'] };
  serve('POST', 'projects/{project}/runs/preview/', () =>
    Response.json({ status: 400, code: 'invalid', title: 'Wrong', errors }, { status: 400 }),
  );
  const { container } = await renderPage(<NewRunPage />, '/runs/new?step=2');
  await screen.findByText('At least 0.');
  expect(screen.getByRole('textbox', { name: 'GPUs' }).getAttribute('aria-invalid')).toBe('true');
  screen.getByText('Known once the marked fields are corrected.');
  await expectNoViolations(container);
});

test('a refused start keeps nobody at its field once that is changed', async () => {
  sessionStorage.setItem('atom-new-run/vision', JSON.stringify({ workflow: 'command', command: 'echo', name: 'old' }));
  const refused = { status: 409, code: 'name_taken', title: 'No.', errors: { name: ['This name is taken.'] } };
  serve('POST', 'projects/{project}/runs/', () => new Response(JSON.stringify(refused), { status: 409 }));
  await renderPage(<NewRunPage />, '/runs/new?step=3');
  const go = await screen.findByRole('button', { name: 'Start run' });
  await waitFor(() => expect(go).toHaveProperty('disabled', false));
  await userEvent.click(go);
  const name = await screen.findByRole('textbox', { name: 'Name' });
  await screen.findByText('This name is taken.');
  await userEvent.type(name, 'er');
  await waitFor(() => expect(screen.queryByText('This name is taken.')).toBeNull());
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  await screen.findByRole('textbox', { name: 'CPUs' });
  await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
  await screen.findByRole('button', { name: 'Start run' });
});
