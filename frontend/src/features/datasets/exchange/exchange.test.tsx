import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setLanguage } from '@/i18n';
import { problemWords } from '@/shared/domain/problemWords';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { LabelsPage } from './index';

const counts = {
  format: 'coco',
  why: 'labels.json has images and annotations',
  pictures: 3,
  empty: 1,
  objects: { box: 4 },
  changed: [],
  lost: [
    {
      code: 'formats.picture_missing',
      params: { count: 2 },
      text: 'Annotations without their picture: 2',
      count: 2,
      first: ['labels.json: gone.png'],
    },
  ],
};
const transfer = (extra: object = {}) => ({
  id: 'x1',
  project: 'vision',
  dataset: 'pets',
  direction: 'import',
  branch: 'main',
  version: { id: 'v', dataset: 'pets', ref: 'v1' },
  label_task: '',
  format: 'auto',
  options: { existing: 'replace' },
  filename: 'labels.json',
  state: 'waiting',
  progress: 0,
  report: {
    read: counts,
    classes: { cat: 4 },
    matches: { unmatched: [{ name: 'gone.png', reason: 'missing' }], left_off: 0 },
    existing: 1,
  },
  outcome: {},
  error: null,
  output_version: null,
  result_bytes: null,
  expires_at: null,
  created_by: null,
  created_at: '2026-01-01T00:00:00Z',
  confirmed_at: null,
  updated_at: '2026-01-01T00:00:00Z',
  ...extra,
});
const posts = (end: string) => sent.filter(({ line }) => line.startsWith('POST') && line.includes(end));
const ONE = 'labelx/transfers/{transfer_id}/';

afterEach(() => setLanguage('en'));

beforeEach(() => {
  serve('GET', 'projects/{project}/labelx/transfers/', listing());
  serve('GET', ONE, transfer());
});

test('an import shows its counts and losses and waits for a yes', async () => {
  serve('POST', `${ONE}confirm/`, transfer({ state: 'confirmed' }));
  const { container } = await renderPage(<LabelsPage />, '/datasets/pets/labels?transfer=x1', '/datasets/$name/labels');
  expect(await screen.findByText('3 pictures · 4 objects · 1 picture without objects')).toBeTruthy();
  expect(screen.getByText(/gone.png · no such picture/)).toBeTruthy();
  expect(screen.getByText('Annotations without their picture: 2')).toBeTruthy();
  expect(screen.getByText('1 of these pictures has objects already.')).toBeTruthy();
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Publish as the next version' }));
  await waitFor(() => expect(posts('/confirm/')).toHaveLength(1));
});

test('an export of YOLO names the task that was taken, and the others', async () => {
  const text = 'The YOLO task is pose, by the shapes of the classes (box, keypoints).';
  const params = { task: 'pose', kinds: 'box, keypoints', others: 'detect, segment, obb' };
  const written = { ...counts, format: 'yolo', notes: [{ code: 'formats.yolo_task_taken', params, text }] };
  serve('GET', ONE, transfer({ direction: 'export', report: { written } }));
  await renderPage(<LabelsPage />, '/datasets/pets/labels?transfer=x1', '/datasets/$name/labels');
  await screen.findByText(text);
  await setLanguage('zh');
  await screen.findByText(/YOLO 任务为 pose/);
});

test('a failed import says why and the next step', async () => {
  const error = { code: 'labels_unreadable', detail: 'a.json ends too soon.', action: 'Mend the file.' };
  serve('GET', ONE, transfer({ state: 'failed', error, report: {} }));
  await renderPage(<LabelsPage />, '/datasets/pets/labels?transfer=x1', '/datasets/$name/labels');
  expect((await screen.findByRole('alert')).textContent).toContain('a.json ends too soon.');
  expect(screen.getByRole('alert').textContent).toContain('Mend the file.');
});

test('a failed import says in Chinese which file cannot be read, where, and the next step', async () => {
  await setLanguage('zh');
  const place = { code: 'formats.at_line', params: { problem: 'Expecting value', line: 2, column: 4 } };
  const unreadable = (detail_code: string, detail_params: Record<string, unknown>) => ({
    code: 'labels_unreadable',
    detail: 'Some English.',
    detail_code,
    detail_params,
    action: 'Some English.',
  });
  const notJson = unreadable('formats.not_json', { path: 'a.json', reason: place });
  serve('GET', ONE, transfer({ state: 'failed', error: notJson, report: {} }));
  await renderPage(<LabelsPage />, '/datasets/pets/labels?transfer=x1', '/datasets/$name/labels');
  const alert = await screen.findByRole('alert');
  expect(alert.textContent).toContain('a.json 不是 JSON：第 2 行第 4 列：缺少值。请修正所指的文件');

  const numbers = {
    name: 'a.zip',
    count: 9,
    meanings: {
      code: 'formats.either',
      params: {
        first: { code: 'formats.yolo_corners', params: {} },
        other: { code: 'formats.yolo_keypoints', params: { count: 4 } },
      },
    },
  };
  const step = { code: 'labeling.choose_yolo_task', params: {} };
  const error = unreadable('labeling.problem_and_step', {
    problem: { code: 'formats.yolo_numbers', params: numbers },
    step,
  });
  expect(problemWords(error).detail).toBe(
    'a.zip：每行有 9 个数字，可能是旋转框的四个角或带关键点的框（4 个数字）。请选择 YOLO 标注的任务，然后再次导入。',
  );
});

test('an export is asked for by version and format', async () => {
  serve('POST', 'projects/{project}/labelx/exports/', transfer({ direction: 'export' }));
  const { container } = await renderPage(
    <LabelsPage />,
    '/datasets/pets/labels?ref=v2&act=export',
    '/datasets/$name/labels',
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Count losses' }));
  await waitFor(() => expect(posts('/exports/')).toHaveLength(1));
  expect(posts('/exports/')[0]?.body).toMatchObject({
    dataset: 'pets@v2',
    format: 'coco',
  });
  await expectNoViolations(container);
});

const exportOfTask = async (task: object) => {
  const known = { name: 'Street', dataset: 'pets', progress: { accepted: 12 }, output_version: null };
  serve('GET', 'labelx/tasks/{task_id}/', { ...known, ...task });
  serve('POST', 'projects/{project}/labelx/exports/', transfer({ direction: 'export' }));
  return renderPage(<LabelsPage />, '/datasets/pets/labels?ref=v1&act=export&task=t1', '/datasets/$name/labels');
};

test('an export of a task names it and its pictures, and sends the task alone', async () => {
  const { container } = await exportOfTask({});
  await screen.findByText(/Only the label task Street: 12 accepted pictures/);
  screen.getByText(/It is not published yet/);
  expect(screen.queryByRole('textbox', { name: 'Version' })).toBeNull();
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'Count losses' }));
  await waitFor(() => expect(posts('/exports/')).toHaveLength(1));
  expect(posts('/exports/')[0]?.body).toMatchObject({ task: 't1', format: 'coco' });
  expect(posts('/exports/')[0]?.body).not.toHaveProperty('dataset');
});

test('an export of a published task names the version that has its labels', async () => {
  await exportOfTask({ output_version: { id: 'v', dataset: 'pets', ref: 'v2' } });
  await screen.findByText(/It is published as pets@v2/);
  expect(screen.getByRole('link', { name: 'Go to the task' }).getAttribute('href')).toContain('/labeling/t1');
});

test('an import without a file is not sent', async () => {
  await renderPage(<LabelsPage />, '/datasets/pets/labels?act=import', '/datasets/$name/labels');
  await userEvent.click(await screen.findByRole('button', { name: 'Upload and look' }));
  expect(await screen.findByText('Choose a file.')).toBeTruthy();
});
