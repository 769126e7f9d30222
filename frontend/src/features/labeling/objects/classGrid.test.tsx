import { fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import { writeStored } from '@/shared/ui/stored';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { WorkPage } from '../index';
import { slot } from '../workspace/fakeTask';
// Loaded lazily by the page: the first test does not wait for it.
import './ClassWork';
import './ObjectWork';
import { asksOnlyClasses } from './ontology';

const label = (id: number, name: string, tools: readonly string[] = ['classification']) => ({
  id,
  name,
  color: '#5b6bf0',
  hotkey: String(id),
  parent: null,
  tools,
  attributes: [],
  skeleton: null,
  ignore: false,
});
const task = {
  id: 't1',
  name: 'Scenes',
  state: 'active',
  modality: 'image-objects',
  labels: [label(1, 'snow'), label(2, 'night')],
  schema: { multiple: true },
  guideline: '',
  batch_size: 2,
  offers: ['label'],
};
const picture = (n: number, extra = {}) =>
  slot(n, { path: `s/${n}.png`, width: 8, height: 6, media_url: '/m', ...extra });

beforeEach(() => {
  writeStored('atom-class-view/t1', null);
  sessionStorage.clear();
  vi.spyOn(navigator, 'sendBeacon').mockReturnValue(true);
  serve('GET', 'labelx/tasks/{task_id}/waiting/', { open: 0, elsewhere: 0, skipped: 0, holders: [] });
  serve('POST', 'labelx/tasks/{task_id}/show/', { results: [] });
  serve('GET', 'labelx/tasks/{task_id}/', task);
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing(picture(1), picture(2)));
  serve('POST', 'labelx/tasks/{task_id}/lease/', { lease: [] });
  serve('PUT', 'labelx/slots/{slot_id}/draft/', {});
  serve('POST', 'labelx/slots/{slot_id}/submit/', {});
});

const work = () => renderPage(<WorkPage />, '/labeling/t1/work', '/labeling/$taskId/work');
const tap = (key: string) => {
  fireEvent.keyDown(window, { key });
  fireEvent.keyUp(window, { key });
};
const submitted = () => sent.filter(({ line }) => line.endsWith('/submit/')).map(({ body }) => body);

test('keys give a picture several classes, and each picture is submitted as a document', async () => {
  const { container } = await work();
  await screen.findByRole('option', { name: '1.png: no class' });
  tap('1');
  tap('2');
  await screen.findByRole('option', { name: '1.png: snow, night' });
  await expectNoViolations(container);
  tap('1');
  await screen.findByRole('option', { name: '1.png: night' });
  tap('ArrowRight');
  tap('1');
  tap('Enter');
  await waitFor(() => expect(submitted()).toHaveLength(2));
  expect(submitted()).toMatchObject([{ document: { labels: [2] } }, { document: { labels: [1] } }]);
});

test('a picture without a class is submitted only on demand', async () => {
  await work();
  await screen.findByRole('option', { name: '1.png: no class' });
  tap('1');
  tap('Enter');
  const without = await screen.findByRole('button', { name: 'Submit without a class' });
  expect(submitted()).toEqual([]);
  await userEvent.click(without);
  await waitFor(() => expect(submitted()).toHaveLength(2));
  expect(submitted()).toMatchObject([{ document: { labels: [1] } }, { document: { version: 2 } }]);
});

test('the switch shows one picture after another, and is remembered', async () => {
  await work();
  await screen.findByRole('option', { name: '1.png: no class' });
  await userEvent.click(screen.getByRole('radio', { name: 'Single picture' }));
  await screen.findByText('s/1.png');
  expect(localStorage.getItem('atom-class-view/t1')).toBe('picture');
  expect(screen.queryByRole('listbox', { name: 'Images of this batch' })).toBeNull();
});

test('a remark of the auditor stands on the picture that came back', async () => {
  const issues = [{ id: 'i1', object: null, at: null, text: 'It snows here.', state: 'open', comments: [] }];
  serve('POST', 'labelx/tasks/{task_id}/take-up/', listing(picture(1, { state: 'returned', issues })));
  await work();
  await screen.findByRole('option', { name: '1.png: no class. Sent back. It snows here.' });
});

test('the grid is offered for classes only, without required values', () => {
  const required = { id: 4, name: 'light', kind: 'text', required: true } as const;
  const labels = task.labels as never;
  expect(asksOnlyClasses({ labels, schema: {} })).toBe(true);
  expect(asksOnlyClasses({ labels, schema: { attributes: [{ ...required, required: false }] } })).toBe(true);
  expect(asksOnlyClasses({ labels, schema: { attributes: [required] } })).toBe(false);
  expect(asksOnlyClasses({ labels: [label(1, 'car', ['box', 'classification'])] as never })).toBe(false);
  expect(asksOnlyClasses({ labels: [] })).toBe(false);
});
