import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ImportPage } from './index';
import fixtures from './reports.fixture.json';

const VERSION = 'projects/{project}/datasets/{dataset}/versions/{ref}/';
const LOOK = 'runs/look/';
const SIGNS = {
  files: 13,
  pictures: 12,
  archives: [{ path: 'pets.zip', size_bytes: 900 }],
  archives_total: 1,
  signs: [{ format: 'coco', files: 2, first: 'annotations/instances_train.json' }],
  is_complete: true,
  imported: false,
};
const run = (state: string, extra: object = {}) => ({
  id: 'look',
  number: 7,
  state,
  progress: 0.4,
  progress_text: 'reading: 500 files',
  failure: null,
  failure_reason: '',
  parameters: { dataset: 'pets@v1', output: 'pets', path: 'pets.zip', step: 'look' },
  ...extra,
});
const plain = fixtures[2]?.report;
const found = (extra: object = {}, report: object = {}) => ({
  step: 'look',
  source: 'pets@v1',
  output: 'pets',
  version: null,
  refusal: null,
  report: { ...plain, files: 120, ...report },
  ...extra,
});
const LOSING = found({ refusal: { code: 'import_labels_lost', detail: 'Nothing was committed' } });
const harmless = { ...plain?.losses, above: [], needed: 0 };

const open = (search = '?ref=v1') =>
  renderPage(<ImportPage />, `/datasets/pets/import${search}`, '/datasets/$name/import');
const bodyOf = (ending: string) => sent.find(({ line }) => line.startsWith('POST') && line.endsWith(ending))?.body;

beforeEach(() => {
  serve('GET', 'projects/{project}/datasets/', listing({ name: 'pets', latest: { ref: 'v1' } }));
  serve('GET', 'projects/{project}/datasets/{dataset}/branches/', listing({ name: 'main', head: { id: 'one' } }));
  serve('GET', 'projects/{project}/datasets/{dataset}/tags/', listing());
  serve('GET', VERSION, { id: 'one', ref: 'v1', number: 1 });
  serve('GET', 'projects/{project}/datasets/{dataset}/versions/', listing());
  serve('GET', `${VERSION}import-signs/`, SIGNS);
  serve('GET', LOOK, run('succeeded'));
  serve('GET', `${LOOK}import-report/`, LOSING);
});

test('the files that look like annotations are named, and a look is started with the choices', async () => {
  serve('POST', 'projects/{project}/imports/', run('queued'));
  open();
  expect(await screen.findByText('COCO: annotations/instances_train.json and 1 more file')).toBeTruthy();
  await userEvent.type(screen.getByRole('combobox', { name: 'Archive or folder' }), 'pets.zip');
  await userEvent.click(screen.getByRole('button', { name: 'More choices' }));
  await userEvent.type(await screen.findByRole('textbox', { name: 'Encoding of names in a zip' }), 'gbk');
  await expectNoViolations(document.body);
  serve('GET', LOOK, run('running'));
  await userEvent.click(screen.getByRole('button', { name: 'Look at it' }));
  expect(await screen.findByText('reading: 500 files')).toBeTruthy();
  expect(bodyOf('imports/')).toMatchObject({
    source: 'pets@v1',
    path: 'pets.zip',
    output: 'pets',
    into: '',
    format: 'auto',
    allowed_loss: 0.01,
    keep_others: true,
    zip_encoding: 'gbk',
  });
});

test('a folder of the same dataset stays where it is', async () => {
  serve('POST', 'projects/{project}/imports/', run('queued'));
  open('?ref=v1&path=raw');
  await userEvent.click(await screen.findByRole('button', { name: 'Look at it' }));
  await screen.findByRole('region', { name: 'Report' });
  expect(bodyOf('imports/')).toMatchObject({ path: 'raw', into: 'raw' });
});

test('a field that the server refuses says why', async () => {
  const refusal = { status: 400, code: 'invalid_import', title: 'No', detail: '', action: '' };
  const errors = { path: ['The version has no file and no folder at this path.'] };
  serve(
    'POST',
    'projects/{project}/imports/',
    () =>
      new Response(JSON.stringify({ ...refusal, errors }), {
        status: 400,
        headers: { 'content-type': 'application/problem+json' },
      }),
  );
  open();
  const path = await screen.findByRole('combobox', { name: 'Archive or folder' });
  await userEvent.type(path, 'gone.zip');
  await userEvent.click(screen.getByRole('button', { name: 'Look at it' }));
  expect(await screen.findByText('The version has no file and no folder at this path.')).toBeTruthy();
  await waitFor(() => expect(document.activeElement).toBe(path));
});

test('a loss above the bar is imported only once its number is accepted', async () => {
  serve('POST', `${LOOK}import/`, { ...run('queued'), id: 'import' });
  serve('GET', 'runs/import/', { ...run('running'), id: 'import' });
  open('?ref=v1&look=look');
  const effects = await screen.findByRole('region', { name: 'Losses' });
  expect(within(effects).getByText('3 objects lost; their pictures stay with their other objects')).toBeTruthy();
  const button = screen.getByRole('button', {
    name: 'Import and accept that 3 of 120 objects (2.5 %) are lost',
  });
  expect(button).toHaveProperty('disabled', true);
  await expectNoViolations(document.body);
  await userEvent.click(
    screen.getByRole('checkbox', {
      name: 'I accept that 3 of 120 objects (2.5 %); 3 of 120 objects of “cat” (2.5 %) are lost',
    }),
  );
  await userEvent.click(button);
  expect(bodyOf('look/import/')).toEqual({ accepted_loss: 0.025 });
  expect(await screen.findByText('Importing')).toBeTruthy();
});

test('a loss that the server does not accept is told, and nothing goes on', async () => {
  serve('POST', `${LOOK}import/`, () => problem(409, 'import_loss_not_accepted', 'More would be lost.'));
  open('?ref=v1&look=look');
  await userEvent.click(await screen.findByRole('checkbox'));
  await userEvent.click(screen.getByRole('button', { name: /^Import and accept/ }));
  expect(await screen.findByText('More would be lost.')).toBeTruthy();
});

test('below the bar it is one button, and no number is sent', async () => {
  serve('GET', `${LOOK}import-report/`, found({}, { losses: harmless }));
  serve('POST', `${LOOK}import/`, { ...run('queued'), id: 'import' });
  serve('GET', 'runs/import/', { ...run('succeeded'), id: 'import' });
  serve(
    'GET',
    'runs/import/import-report/',
    found({ step: 'import', version: { dataset: 'pets', ref: 'v2', unchanged: false } }),
  );
  open('?ref=v1&look=look');
  await userEvent.click(await screen.findByRole('button', { name: 'Import' }));
  expect(await screen.findByText('Imported as pets@v2')).toBeTruthy();
  expect(bodyOf('look/import/')).toEqual({});
  expect(screen.getByRole('link', { name: 'Look at it' }).getAttribute('href')).toContain('ref=v2');
});

test('nothing to import is an empty state that names what was near', async () => {
  serve('GET', LOOK, run('succeeded', { parameters: { dataset: 'pets@v1', output: 'pets', path: '' } }));
  const near = { near_misses: [{ subject: 'a.json', reason: 'LabelMe JSON was found' }] };
  const nothing = { format: 'folder', objects: 0, losses: harmless, near_miss_counts: { 'LabelMe JSON was found': 1 } };
  serve('GET', `${LOOK}import-report/`, found({}, { ...near, ...nothing }));
  open('?ref=v1&look=look');
  expect(await screen.findByText(/^There is nothing to import: /)).toBeTruthy();
  expect(screen.getByText('a.json: LabelMe JSON was found')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'Import' })).toBeNull();
});

test('files that cannot be read say what to do, and lead back to the choices', async () => {
  const params = { source: 'pets@v1', reason: 'archive_damaged', error: 'pets.zip cannot be read as a zip file: x.' };
  serve('GET', LOOK, run('failed', { failure: { code: 'import_refused', params, remedies: [], branch: null } }));
  open('?ref=v1&look=look&path=pets.zip');
  expect(await screen.findByText(params.error)).toBeTruthy();
  expect(screen.getByText(/compare its checksum/)).toBeTruthy();
  await userEvent.click(screen.getByRole('button', { name: 'Change the choices' }));
  expect(await screen.findByRole('combobox', { name: 'Archive or folder' })).toHaveProperty('value', 'pets.zip');
});

test('a strict look that would leave something out says so', async () => {
  serve('GET', `${LOOK}import-report/`, found({ refusal: { code: 'import_problems', detail: '3 problems: x.' } }));
  open('?ref=v1&look=look');
  expect(await screen.findByText('Something would be left out, and the import is strict')).toBeTruthy();
  expect(screen.queryByRole('button', { name: /^Import/ })).toBeNull();
});

test('a look is cancelled', async () => {
  serve('GET', LOOK, run('running'));
  serve('POST', `${LOOK}cancel/`, () => {
    serve('GET', LOOK, run('cancelled'));
    return run('cancelled');
  });
  open('?ref=v1&look=look');
  await userEvent.click(await screen.findByRole('button', { name: 'Cancel' }));
  expect(await screen.findByText('The run was cancelled. Nothing was imported.')).toBeTruthy();
});
