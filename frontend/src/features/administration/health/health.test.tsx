import { screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { problem, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { HealthPage } from './HealthPage';

const part = (code: string, extra: object = {}) => ({
  code,
  level: 'ok',
  detail: `${code} in English`,
  action: '',
  figures: {},
  ...extra,
});
const health = (findings: object[], level = 'ok', tasks: object[] = []) => ({
  level,
  at: '2026-01-01T00:00:00Z',
  findings,
  tasks,
});
const open = () => {
  const user = { id: 'u', username: 'root', full_name: 'Root', is_admin: true, language: 'en' };
  serve('GET', 'auth/session/', { authenticated: true, user });
  return renderPage(<HealthPage />, '/settings/health', '/settings/health');
};

test('what does not work comes first, with what to do', async () => {
  serve(
    'GET',
    'health/',
    health(
      [
        part('postgresql', { figures: { latency_ms: 1.5 } }),
        part('worker_silent', { level: 'problem', action: 'See the log.' }),
      ],
      'problem',
      [{ name: 'jobs.tick', done: 3, failed: 1, again: 0, seconds: 2, last_at: 1767225600 }],
    ),
  );
  const { container } = await open();
  const summary = await screen.findByRole('status');
  within(summary).getByText('One thing does not work');
  within(summary).getByText(/launcher starts it again/);
  const parts = within(screen.getByRole('table', { name: 'Parts' }));
  const [, first, second] = parts.getAllByRole('row');
  expect(first?.textContent).toContain('Does not work');
  expect(second?.textContent).toContain('Answers in 1.5 ms');
  screen.getByText('jobs.tick');
  await expectNoViolations(container);
});

test('a catalogue that differs from the bucket is told with the first difference', async () => {
  const figures = { total: 2, names: 'digits', first: 'only in the bucket: tag digits first' };
  serve(
    'GET',
    'health/',
    health([part('catalogue_differs', { level: 'problem', action: 'Look.', figures })], 'problem'),
  );
  await open();
  const summary = await screen.findByRole('status');
  within(summary).getByText(/in 2 places \(digits\), the first: only in the bucket: tag digits first/);
  within(summary).getByText(/rebuild_catalogue --project PROJECT/);
});

test('a catalogue that is right says what was compared, and when', async () => {
  serve('GET', 'health/', health([part('catalogue', { figures: { versions: 3, projects: 1, age_s: 7200 } })]));
  await open();
  await screen.findByText(/Compared 2h 00m ago; versions: 3, projects: 1/);
});

test('a finding of a newer server is said in its own words', async () => {
  serve('GET', 'health/', health([part('moon', { level: 'warning', action: 'Look up.' })], 'warning'));
  await open();
  const summary = await screen.findByRole('status');
  within(summary).getByText(/moon in English/);
  within(summary).getByText('Look up.');
});

test('an installation that is well says so', async () => {
  serve('GET', 'health/', health([part('beat')]));
  await open();
  await screen.findByText('Everything works');
  screen.getByText('No task has run yet');
});

test('a server that does not answer is told, with a way to ask again', async () => {
  serve('GET', 'health/', () => problem(500, 'internal', 'Broken.'));
  await open();
  await screen.findByRole('button', { name: 'Try again' });
});
