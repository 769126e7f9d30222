import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { listing, problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { Shell } from './Shell';

test('a project that is not the person’s is not replaced by another one', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await renderPage(<Shell />, '/?project=nope');
  await screen.findByRole('heading', { name: 'No project “nope”' });
  const choice = screen.getByRole('link', { name: 'Vision' });
  expect(choice.getAttribute('href')).toBe('/?project=vision');
});

test('a service that is starting again is no defect to report', async () => {
  serve('GET', 'projects/', () => problem(503, 'unavailable', 'A service that this needs is not available.'));
  await renderPage(<Shell />, '/');
  const said = await screen.findByRole('alert');
  expect(said.textContent).toContain('A service is starting again');
  expect(said.textContent).not.toContain('req-1');
});

test('a control that goes away leaves its focus to the page', async () => {
  await renderPage(<Shell />, '/');
  const main = await screen.findByRole('main');
  // Whoever looks after the focus begins when all effects have run.
  await act(async () => {});
  const button = main.appendChild(document.createElement('button'));
  button.focus();
  button.remove();
  await vi.waitFor(() => expect(document.activeElement).toBe(main));
});

test.each([
  ['the help', '?'],
  ['the command palette', '{Control>}k{/Control}'],
])('after %s is closed by Escape, the focus is where it was', async (_, keys) => {
  await renderPage(<Shell />, '/');
  const link = await screen.findByRole('link', { name: 'Runs' });
  link.focus();
  await userEvent.keyboard(keys);
  const dialog = await screen.findByRole('dialog');
  await vi.waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
  await userEvent.keyboard('{Escape}');
  await vi.waitFor(() => expect(document.activeElement).toBe(link));
});
