import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ProjectSharesPage } from './ProjectSharesPage';

const one = (id: string, note: string) => ({
  id,
  note,
  with_log: true,
  created_by: { username: 'alice', full_name: '' },
  created_at: '2026-01-01T00:00:00Z',
  expires_at: '2099-01-01T00:00:00Z',
  last_seen_at: null,
});

test('administrators see the links of the project', async () => {
  const row = { ...one('s1', 'Bo'), run: { id: 'r1', number: 7, name: 'first try' } };
  serve('GET', 'projects/{project}/run-shares/', listing(row));
  const { container } = await renderPage(<ProjectSharesPage />);
  const link = await screen.findByRole('link', { name: '#7 first try' });
  expect(link.getAttribute('href')).toBe('/runs/r1');
  screen.getByRole('button', { name: 'End Bo' });
  await expectNoViolations(container);
});
