import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
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
