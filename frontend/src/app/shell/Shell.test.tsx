import { useRouterState } from '@tanstack/react-router';
import { act, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { eventually } from '@/test/eventually';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { Shell } from './Shell';

test('a project that is not the person’s is not replaced by another one', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await renderPage(<Shell />, '/?project=nope');
  await screen.findByRole('heading', { name: 'No project “nope”' });
  const choice = screen.getByRole('link', { name: 'Vision' });
  expect(choice.getAttribute('href')).toBe('/?project=vision');
});

const Address = () => useRouterState({ select: ({ location }) => location.href });

test('the address names the project, so that a copy of it leads others to the same page', async () => {
  await renderPage(
    <>
      <Shell />
      <Address />
    </>,
    '/?q=cats#end',
  );
  await screen.findByText('/?q=cats&project=vision#end');
});

test('while projects are read nothing says that there are none', async () => {
  serve('GET', 'projects/', () => new Promise(() => {}));
  await renderPage(<Shell />, '/');
  await screen.findByPlaceholderText('Loading…');
  expect(screen.queryByPlaceholderText('No project')).toBeNull();
});

test('what waits behind an entry of the menu is asked for once and said at it', async () => {
  const overview = { needs: [], runs: { queued: 1, running: 2 }, labeling: { open_items: 0 } };
  serve('GET', 'projects/vision/overview/', overview);
  await renderPage(<Shell />, '/');
  const runs = await screen.findByRole('link', { name: /^Runs/ });
  await eventually(() => expect(runs.textContent).toBe('Runs3'));
  expect(screen.getByRole('link', { name: 'Labeling' }).textContent).toBe('Labeling');
  expect(sent.filter(({ line }) => line.endsWith('/projects/vision/overview/'))).toHaveLength(1);
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
  await eventually(() => expect(document.activeElement).toBe(main));
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
  await eventually(() => expect(dialog.contains(document.activeElement)).toBe(true));
  await userEvent.keyboard('{Escape}');
  await eventually(() => expect(document.activeElement).toBe(link));
});
