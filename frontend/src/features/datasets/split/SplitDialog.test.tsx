import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { SplitDialog } from './SplitDialog';

const AT = 'projects/{project}/datasets/{dataset}/';
const counts = (test: number) => ({
  splits: [
    { name: 'test', total: test, unlabelled: 0, labels: { cat: test } },
    { name: 'train', total: 90, unlabelled: 1, labels: { cat: 60, dog: 29 } },
  ],
});
const onSplit = vi.fn();
const open = () => renderPage(<SplitDialog name="pets" latest="v2" opened onClose={vi.fn()} onSplit={onSplit} />);

beforeEach(() => {
  onSplit.mockReset();
  serve('GET', `${AT}views/`, {
    results: [{ id: 'n', name: 'north', query: 'x', where: 'x', prefix: '', splits: [] }],
  });
  serve('GET', `${AT}versions/v2/split-preview/`, (_: Request, url: URL) =>
    counts(url.searchParams.get('test') === '40%' ? 40 : 20),
  );
});

test('the counts per label are shown before anything is made, and follow the fields', async () => {
  const { baseElement } = await open();
  await screen.findByRole('row', { name: 'cat 20 60' });
  screen.getByRole('row', { name: 'no label 0 1' });
  await expectNoViolations(baseElement as HTMLElement);
  await userEvent.clear(screen.getByRole('textbox', { name: 'Test' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Test' }), '40%');
  await screen.findByRole('row', { name: 'cat 40 60' });
  expect(sent.some(({ line }) => line.startsWith('POST'))).toBe(false);
});

test('a size that is none is said at its field, and nothing is sent', async () => {
  await open();
  await userEvent.type(screen.getByRole('textbox', { name: 'Test' }), ' lots');
  await screen.findByText('Write a number of files, or a part such as 20%.');
  await userEvent.click(screen.getByRole('button', { name: 'Make a version' }));
  expect(sent.some(({ line }) => line.startsWith('POST'))).toBe(false);
});

test('the new version is opened once a worker has made it', async () => {
  const request = { id: 'c', state: 'building', error: null, version: null };
  serve('POST', `${AT}splits/`, request);
  serve('GET', `${AT}commits/c/`, { ...request, state: 'published', version: { ref: 'v3' } });
  await open();
  await userEvent.type(screen.getByRole('textbox', { name: 'Keep together' }), 'attributes.patient');
  await userEvent.click(screen.getByRole('button', { name: 'Make a version' }));
  await waitFor(() => expect(onSplit).toHaveBeenCalledExactlyOnceWith('v3'));
  const body = sent.find(({ line }) => line.startsWith('POST'))?.body;
  expect(body).toMatchObject({ test: '20%', val: '10%', seed: 7, group_by: 'attributes.patient', redraw: false });
});

test('a view and a query choose what is split', async () => {
  serve('POST', `${AT}splits/`, { id: 'c', state: 'published', error: null, version: { ref: 'v3' } });
  await open();
  await userEvent.click(await screen.findByRole('combobox', { name: 'View' }));
  await userEvent.click(await screen.findByRole('option', { name: 'north' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Query' }), 'size > 9');
  await userEvent.click(screen.getByRole('button', { name: 'Make a version' }));
  await waitFor(() => expect(onSplit).toHaveBeenCalledExactlyOnceWith('v3'));
  const body = sent.find(({ line }) => line.startsWith('POST'))?.body;
  expect(body).toMatchObject({ view: 'north', where: 'size > 9' });
});

test('a query that is none is said at its field', async () => {
  const wrong = { status: 400, code: 'query_invalid', title: 'No query.', errors: { where: ['Character 1: no.'] } };
  serve('GET', `${AT}versions/v2/split-preview/`, () => Response.json(wrong, { status: 400 }));
  await open();
  await screen.findByText('Character 1: no.');
  expect(screen.getByRole('textbox', { name: 'Query' }).getAttribute('aria-invalid')).toBe('true');
});

test('what the server or its worker refuses is said in the dialog', async () => {
  serve('GET', `${AT}versions/v2/split-preview/`, () => problem(409, 'split_redraw', 'There is a split already.'));
  serve('POST', `${AT}splits/`, {
    id: 'c',
    state: 'failed',
    version: null,
    error: { code: 'split_redraw', detail: 'The worker refused it.', action: 'Draw anew.', head: null },
  });
  await open();
  await screen.findByText('There is a split already.');
  await userEvent.click(screen.getByRole('button', { name: 'Make a version' }));
  await screen.findByText('The worker refused it.');
  expect(onSplit).not.toHaveBeenCalled();
});

test('where no file has a label, labels do not count', async () => {
  serve('GET', `${AT}versions/v2/stats/`, { labels: {}, splits: {}, media_types: {}, unlabelled: 9 });
  serve('POST', `${AT}splits/`, { id: 'c', state: 'published', error: null, version: { ref: 'v3' } });
  serve('GET', `${AT}versions/v2/split-preview/`, (_: Request, url: URL) =>
    url.searchParams.get('stratify') === 'false'
      ? counts(20)
      : problem(409, 'split_unlabelled', 'No file has a label.'),
  );
  await open();
  await screen.findByRole('row', { name: 'cat 20 60' });
  const byLabel = screen.getByRole<HTMLInputElement>('switch', { name: /^Every label/ });
  expect([byLabel.checked, byLabel.disabled]).toEqual([false, true]);
  expect(screen.queryByText('No file has a label.')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Make a version' }));
  await waitFor(() => expect(onSplit).toHaveBeenCalledOnce());
  expect(sent.find(({ line }) => line.startsWith('POST'))?.body).toMatchObject({ stratify: false });
});
