import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { Shell } from './Shell';

test('a project that is not the person’s is not replaced by another one', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await renderPage(<Shell />, '/?project=nope');
  await screen.findByRole('heading', { name: 'No project “nope”' });
  const choice = screen.getByRole('link', { name: 'Vision' });
  expect(choice.getAttribute('href')).toBe('/?project=vision');
});
