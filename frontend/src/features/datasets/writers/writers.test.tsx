import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { WritersPanel } from './WritersPanel';

const AT = 'projects/{project}/datasets/{dataset}/';
const common = {
  branch: 'main',
  message: '',
  error: null,
  version: null,
  created_by: { username: 'bo', full_name: 'Bo' },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};
const writer = (extra: object = {}) => ({
  ...common,
  id: '0198aaaa-bbbb-7ccc-8ddd-eeee0000cafe',
  state: 'persisted',
  staging: 'staging.0198',
  write_job: null,
  task: '',
  files_written: 3,
  files_removed: 1,
  bytes_written: 2048,
  waiting_files: 0,
  waiting_bytes: 0,
  is_persisting: false,
  ...extra,
});
const job = { ...common, id: 'j1', name: 'etl', state: 'open', tasks_committed: 2, attempts_open: 1 };
const open = () => renderPage(<WritersPanel name="pets" />, '/datasets/pets/versions', '/datasets/$name/versions');
const posted = () => sent.filter(({ line }) => line.startsWith('POST'));

test('writers and jobs are shown, browsed and committed', async () => {
  serve('GET', `${AT}writers/`, listing(writer(), writer({ id: 'attempt', write_job: 'etl' })));
  serve('GET', `${AT}write-jobs/`, listing(job));
  serve('POST', `${AT}writers/{writer_id}/commit/`, {
    id: 'c',
    state: 'published',
    error: null,
    version: { ref: 'v2' },
  });
  const { container } = await open();
  const table = await screen.findByRole('table', { name: 'Open writers' });
  await within(table).findByText('Job etl');
  expect(within(table).getAllByRole('row')).toHaveLength(3);
  within(table).getByText(/2 tasks committed · 1 attempt open/);
  within(table).getByText(/1 removed/);
  const browse = within(table).getByRole('link', { name: 'Browse what Writer 0000cafe persisted' });
  expect(browse.getAttribute('href')).toContain('ref=staging.0198');
  await userEvent.click(within(table).getByRole('button', { name: 'Commit Writer 0000cafe' }));
  await waitFor(() => expect(posted().map(({ body }) => body)).toEqual([{ on_conflict: 'fail' }]));
  await expectNoViolations(container);
});

test('after a conflict one says whose side counts', async () => {
  const error = { code: 'merge_conflict', detail: 'Both sides changed a.txt.', action: 'Choose.' };
  serve('GET', `${AT}writers/`, listing(writer({ error })));
  serve('GET', `${AT}write-jobs/`, listing());
  serve('POST', `${AT}writers/{writer_id}/commit/`, () => problem(409, 'writer_busy', 'It is busy.'));
  await open();
  await screen.findByText('Both sides changed a.txt.');
  await userEvent.click(screen.getByRole('button', { name: /take the writer's files/ }));
  await waitFor(() => expect(posted().map(({ body }) => body)).toEqual([{ on_conflict: 'theirs' }]));
});

test('who only reads sees them and changes nothing; nobody writing is said', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  serve('GET', `${AT}writers/`, listing(writer()));
  serve('GET', `${AT}write-jobs/`, listing());
  await open();
  await screen.findByText('Writer 0000cafe');
  await waitFor(() => expect(screen.queryByRole('button', { name: /Commit|Abandon/ })).toBeNull());
  serve('GET', `${AT}writers/`, listing());
  await open();
  await screen.findByText('No program is writing now');
});
