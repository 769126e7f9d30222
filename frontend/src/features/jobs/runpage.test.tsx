import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { DiffResult } from './code/DiffView';
import { CommentsTab } from './comments/CommentsTab';
import { FilesTab } from './files/FilesTab';
import { MarkdownView } from './files/MarkdownView';
import { TreeView } from './files/TreeView';

// Only its id is read by what is tested here.
const run = { id: 'run-1' } as never;

const file = (id: string, path: string, extra: object = {}) => ({
  id,
  path,
  size_bytes: 12,
  sha256: 'a'.repeat(64),
  digest: '',
  kind: 'output',
  state: 'persisted',
  step: null,
  attempt: 1,
  download_url: `https://store.example/${id}`,
  created_at: '2026-01-01T00:00:00Z',
  ...extra,
});

const empty = { reason: '', truncated: false, text: '', value: null, table: null, curves: [], others: 0 };

test('files are browsed by folder, and one is opened as a table', async () => {
  const csv = file('f1', 'out/metrics.csv');
  serve('GET', 'runs/{run_id}/files/{file_id}/', csv);
  serve('GET', 'runs/{run_id}/files/folder/', (_request: Request, url: URL) =>
    url.searchParams.get('path') === 'out'
      ? {
          folders: [],
          files: [csv, file('f2', 'out/last.pt', { state: 'local', download_url: null })],
          truncated: false,
        }
      : {
          folders: [{ name: 'out', files: 2, size_bytes: 24, changed_at: csv.created_at }],
          files: [],
          truncated: false,
        },
  );
  const table = { columns: [{ name: 'loss', type: 'number' }], rows: [['0.5'], [null]] };
  serve('GET', 'runs/{run_id}/files/{file_id}/preview/', { ...empty, kind: 'table', table });
  const { container } = await renderPage(<FilesTab run={run} active={false} />, '/runs/run-1', '/runs/$runId');
  await userEvent.click(await screen.findByRole('button', { name: 'Folder out' }));
  await screen.findByRole('button', { name: 'last.pt' });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('button', { name: 'metrics.csv' }));
  await screen.findByText('0.5');
  screen.getByRole('columnheader', { name: /loss/ });
  await expectNoViolations(document.body);
});

test('numbers that a browser does not have are shown as numbers, texts in quotes', async () => {
  const value = { 'a/b': ['NaN', 'NaN'], big: '12345678901234567890' };
  const { container } = await renderPage(<TreeView value={value} numbers={['/a~1b/0', '/big']} />);
  const leaves = [...container.querySelectorAll('details details > div > div, details > div > div')].map(
    ({ textContent }) => textContent,
  );
  expect(leaves).toEqual(expect.arrayContaining(['0: NaN', '1: "NaN"', 'big: 12345678901234567890']));
});

test('a picture of a run comes from our own origin, and a broken one is told', async () => {
  const png = file('f1', 'real.png');
  serve('GET', 'runs/{run_id}/files/{file_id}/', png);
  serve('GET', 'runs/{run_id}/files/folder/', { folders: [], files: [png], truncated: false });
  serve('GET', 'runs/{run_id}/files/{file_id}/preview/', { ...empty, kind: 'image' });
  await renderPage(<FilesTab run={run} active={false} />, '/runs/run-1', '/runs/$runId');
  await userEvent.click(await screen.findByRole('button', { name: 'real.png' }));
  const picture = await screen.findByRole('img', { name: 'Picture real.png' });
  expect(picture.getAttribute('src')).toBe('/api/v1/runs/run-1/files/f1/picture/');
  fireEvent.error(picture);
  await screen.findByText(/holds no picture/);
});

test('Markdown of a run makes no picture, no script and no HTML', async () => {
  const text = '# Hi <b onclick="x">there</b>\n\n![x](https://evil.example/p.png) [go](javascript:alert(1))';
  const { container } = await renderPage(<MarkdownView text={text} />);
  await screen.findByRole('heading', { name: 'Hi there' });
  expect(container.querySelector('img, script, b, [onclick]')).toBeNull();
  expect(screen.getByText('go').getAttribute('href') ?? '').not.toContain('javascript');
});

test('tables, lists of tasks and footnotes of Markdown are shown, and hostile cells stay text', async () => {
  const text = [
    '| run | accuracy |',
    '|:--|--:|',
    '| [a](javascript:alert(1)) <img src=x onerror=alert(2)> | ~~0.5~~ **0.9** |',
    '| ![x](https://evil.example/p.png) | https://example.com |',
    '',
    '- [x] measured[^1]',
    '- [ ] written',
    '',
    '[^1]: On one GPU.',
  ].join('\n');
  const { container } = await renderPage(<MarkdownView text={text} />);
  const table = await screen.findByRole('table');
  expect(within(table).getAllByRole('columnheader')).toHaveLength(2);
  expect(within(table).getAllByRole('cell')).toHaveLength(4);
  expect(within(table).getByText('0.5').tagName).toBe('DEL');
  expect(within(table).getByText('0.9').closest('td')?.style.textAlign).toBe('right');
  expect(within(table).getByText('a').getAttribute('href') ?? '').not.toContain('javascript');
  expect(within(table).getByRole('link', { name: 'https://example.com' }).getAttribute('rel')).toContain('noreferrer');
  expect(container.querySelector('img, input, [onerror]')).toBeNull();
  screen.getByText('☑');
  const mark = screen.getByRole('link', { name: '1' });
  expect(mark.getAttribute('target')).toBeNull();
  expect(container.querySelector(mark.getAttribute('href') ?? '')?.textContent).toContain('On one GPU.');
  await expectNoViolations(container);
});

test('Markdown that cannot be rendered is shown as its source', async () => {
  const text = '>'.repeat(20_000);
  serve('GET', 'runs/{run_id}/files/{file_id}/', file('f1', 'deep.md'));
  serve('GET', 'runs/{run_id}/files/{file_id}/preview/', { ...empty, kind: 'markdown', text });
  serve('GET', 'runs/{run_id}/files/folder/', { folders: [], files: [file('f1', 'deep.md')], truncated: false });
  await renderPage(<FilesTab run={run} active={false} />, '/runs/run-1?file=f1', '/runs/$runId');
  await screen.findByText(/cannot be rendered/, {}, { timeout: 10_000 });
  screen.getByText(text);
});

test('a table of Markdown that asks for millions of cells is cut', async () => {
  const text = `${'|a'.repeat(1000)}\n${'|-'.repeat(1000)}\n${'|\n'.repeat(2000)}`;
  const { container } = await renderPage(<MarkdownView text={text} />);
  await screen.findByRole('table');
  expect(container.querySelectorAll('th')).toHaveLength(200);
  expect(container.querySelectorAll('tr')).toHaveLength(100);
});

test('changes of code are told by file, or why there are none', async () => {
  const changed = {
    path: 'train.py',
    status: 'changed',
    hunks: '@@ -1 +1 @@\n-a\n+b',
    added: 1,
    removed: 1,
    omitted: '',
  };
  const data = { files: [changed], truncated: false, reason: '', commit: '' } as never;
  const { container } = await renderPage(<DiffResult query={{ data, error: null, refetch: () => {} }} />);
  await screen.findByText('+b');
  await expectNoViolations(container);
});

test('a comment that was begun is still there after another tab of the run, and gone once sent', async () => {
  serve('GET', 'auth/session/', { authenticated: true, user: { username: 'bo', full_name: 'Bo Chen' } });
  serve('GET', 'runs/{run_id}/comments/', listing());
  serve('POST', 'runs/{run_id}/comments/', {});
  const field = () => screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Your comment' });
  const first = await renderPage(<CommentsTab run={run} />);
  await userEvent.type(await field(), 'Half a thought');
  first.unmount();
  const second = await renderPage(<CommentsTab run={run} />);
  expect((await field()).value).toBe('Half a thought');
  await userEvent.click(screen.getByRole('button', { name: 'Comment' }));
  await waitFor(async () => expect((await field()).value).toBe(''));
  second.unmount();
  await renderPage(<CommentsTab run={run} />);
  expect((await field()).value).toBe('');
});

test('an empty file says that it is', async () => {
  const nothing = file('f0', 'metrics.csv', { size_bytes: 0 });
  serve('GET', 'runs/{run_id}/files/{file_id}/', nothing);
  serve('GET', 'runs/{run_id}/files/{file_id}/preview/', { ...empty, kind: 'text' });
  serve('GET', 'runs/{run_id}/files/folder/', { folders: [], files: [nothing], truncated: false });
  await renderPage(<FilesTab run={run} active={false} />, '/runs/run-1?file=f0', '/runs/$runId');
  await screen.findByText('The file is empty.');
});

test('comments are read and written, and name their members', async () => {
  serve('GET', 'auth/session/', { authenticated: true, user: { username: 'bo', full_name: 'Bo Chen' } });
  const bo = { id: 'u1', username: 'bo', full_name: 'Bo Chen' };
  const comment = {
    id: 'c1',
    author: bo,
    text: 'Look @ada',
    mentioned: [{ id: 'u2', username: 'ada', full_name: 'Ada L' }],
    created_at: '2026-01-01T00:00:00Z',
    edited_at: null,
  };
  serve('GET', 'runs/{run_id}/comments/', listing(comment));
  serve('POST', 'runs/{run_id}/comments/', comment);
  const { container } = await renderPage(<CommentsTab run={run} />);
  await screen.findByText('@ada');
  await userEvent.type(screen.getByRole('textbox', { name: 'Your comment' }), 'Yes');
  await userEvent.click(screen.getByRole('button', { name: 'Comment' }));
  await waitFor(() => expect(sent.map(({ body }) => body)).toContainEqual({ text: 'Yes' }));
  const errors = { text: ['Null characters are not allowed.'] };
  serve('POST', 'runs/{run_id}/comments/', () =>
    Response.json({ status: 400, code: 'invalid', errors }, { status: 400 }),
  );
  await userEvent.type(screen.getByRole('textbox', { name: /Your comment/ }), 'No');
  await userEvent.click(screen.getByRole('button', { name: 'Comment' }));
  await screen.findByText('Null characters are not allowed.');
  await expectNoViolations(container);
});
