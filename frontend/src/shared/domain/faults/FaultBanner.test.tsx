import { screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { FaultBanner } from './FaultBanner';

const fault = (code: string, level = 'problem') => ({ code, level, detail: `${code} in English`, action: 'Wait.' });
const open = () => renderPage(<FaultBanner />, '/', '/');

test('nothing is said while everything works', async () => {
  serve('GET', 'state/', { level: 'ok', faults: [] });
  await open();
  await expect.poll(() => sent.some(({ line }) => line === 'GET /api/v1/state/')).toBe(true);
  expect(screen.queryByRole('status')).toBeNull();
});

test('everybody is told why writes are refused, and that nothing is lost', async () => {
  serve('GET', 'state/', { level: 'problem', faults: [fault('disk_full'), fault('moon', 'warning')] });
  const { container } = await open();
  const said = await screen.findByRole('status', { name: 'Faults of the installation' });
  expect(said.textContent).toContain('Writes are refused: the disk of the server is full.');
  expect(said.textContent).toContain('moon in English');
  expect(said.textContent).toContain('Nothing acknowledged is lost.');
  expect(screen.queryByRole('link')).toBeNull();
  await expectNoViolations(container);
});

test('an administrator finds the health page', async () => {
  const user = { id: 'u', username: 'root', full_name: 'Root', is_admin: true, language: 'en' };
  serve('GET', 'auth/session/', { authenticated: true, user });
  serve('GET', 'state/', { level: 'warning', faults: [fault('worker_silent', 'warning')] });
  await open();
  const link = await screen.findByRole('link', { name: 'System health' });
  expect(link.getAttribute('href')).toBe('/settings/health');
});

test('a server that cannot be asked is not the banner’s to tell', async () => {
  serve('GET', 'state/', () => problem(502, 'bad_gateway', 'Nobody answers.'));
  await open();
  await expect.poll(() => sent.some(({ line }) => line === 'GET /api/v1/state/')).toBe(true);
  expect(screen.queryByRole('status')).toBeNull();
});
