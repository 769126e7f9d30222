import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { decision, place } from '@/test/places';
import { renderPage } from '@/test/render';
import { NewRunPage } from '../index';

const passed = {
  valid: true,
  errors: {},
  outlook: 'starts',
  placement: { cluster: 'local', node: 'local-1', why: 'The only node.', code: 'only_machine', params: {} },
  queue_position: 1,
  warm: null,
  runtime: null,
};
/** Answers to previews that wait, in the order of their questions. */
let waiting: ((preview: object) => void)[] = [];

beforeEach(() => {
  waiting = [];
  serve('GET', 'workflows/', listing());
  serve('GET', 'clusters/', listing());
  serve('POST', 'projects/{project}/placements/preview/', decision(place('local', 1)));
  serve('GET', 'projects/{project}/secrets/', listing());
  sessionStorage.setItem('atom-new-run/vision', JSON.stringify({ workflow: 'command', command: 'echo' }));
});

const holdPreviews = () =>
  serve('POST', 'projects/{project}/runs/preview/', () => new Promise((resolve) => waiting.push(resolve)));
const answerAll = () =>
  act(async () => {
    for (const answer of waiting.splice(0)) answer(passed);
  });
const command = () => screen.findByRole('textbox', { name: 'Command' });
const next = () => screen.getByRole('button', { name: 'Continue' });
const settle = () => waitFor(() => expect(next()).not.toHaveProperty('disabled', true));

test('a double click leaves one step, not two', async () => {
  serve('POST', 'projects/{project}/runs/preview/', passed);
  await renderPage(<NewRunPage />, '/runs/new?step=1');
  await command();
  await userEvent.dblClick(next());
  await screen.findByRole('textbox', { name: 'CPUs' });
  await settle();
  expect(screen.queryByRole('button', { name: 'Start run' })).toBeNull();
  await userEvent.click(next());
  await screen.findByRole('button', { name: 'Start run' });
});

test('a change after the press keeps the step, however its check ends', async () => {
  holdPreviews();
  await renderPage(<NewRunPage />, '/runs/new?step=1');
  await command();
  await userEvent.click(next());
  expect(next().getAttribute('data-loading')).toBe('true');
  await userEvent.type(await command(), ' again');
  expect(next().getAttribute('data-loading')).toBeNull();
  await waitFor(() => expect(waiting.length).toBeGreaterThan(1));
  await answerAll();
  await screen.findByText('Runs on');
  expect(await command()).toHaveProperty('value', 'echo again');
  expect(screen.queryByRole('textbox', { name: 'CPUs' })).toBeNull();
  await userEvent.click(next());
  await screen.findByRole('textbox', { name: 'CPUs' });
});

test('a check that answers late moves nobody who has gone back', async () => {
  holdPreviews();
  await renderPage(<NewRunPage />, '/runs/new?step=2');
  await screen.findByRole('textbox', { name: 'CPUs' });
  await userEvent.click(next());
  await userEvent.click(screen.getByRole('button', { name: 'Back' }));
  await command();
  await waitFor(() => expect(waiting.length).toBeGreaterThan(0));
  await answerAll();
  await screen.findByText('Runs on');
  await command();
  expect(screen.queryByRole('button', { name: 'Start run' })).toBeNull();
});
