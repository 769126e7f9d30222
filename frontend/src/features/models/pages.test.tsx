import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { AliasEditor } from './AliasEditor';
import { ConfusionMatrix } from './ConfusionMatrix';
import { ModelPage, ModelsPage, ModelVersionPage } from './index';

const version = (number: number, aliases: string[] = []) => ({
  id: `v${number}`,
  model: 'digits',
  number,
  run: { id: 'r1', number: 7, name: 'baseline' },
  size_bytes: 1843200,
  sha256: 'ab'.repeat(32),
  digest: 'cd'.repeat(32),
  framework: 'PyTorch',
  metrics: { 'val/accuracy': 0.95 },
  signature: {},
  description: 'The first one.',
  created_by: { username: 'bo', full_name: 'Bo' },
  created_at: '2026-01-01T00:00:00Z',
  aliases,
  evaluations: [],
  not_evaluable: null as string | null,
});
const model = {
  id: 'm',
  name: 'digits',
  latest: version(2),
  versions_count: 2,
  aliases: [{ name: 'candidate', version: 2 }],
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
};

test('the list shows versions, aliases and accuracy', async () => {
  serve('GET', 'projects/{project}/models/', listing(model));
  const { container } = await renderPage(<ModelsPage />, '/models');
  const row = (await screen.findByRole('link', { name: 'digits' })).closest('tr') as HTMLElement;
  for (const text of ['candidate', 'v2', '95%']) expect(within(row).getByText(text)).toBeTruthy();
  await expectNoViolations(container);
});

test('an empty registry says how a model comes in', async () => {
  serve('GET', 'projects/{project}/models/', listing());
  await renderPage(<ModelsPage />, '/models');
  await screen.findByText('No models yet: a run with the parameter “register_model” makes one');
});

test('a search asks the server, which knows all of them', async () => {
  serve('GET', 'projects/{project}/models/', (_: Request, url: URL) => ({
    results: [{ ...model, name: url.searchParams.get('q') === 'let' ? 'letters' : 'digits' }],
    next: 'more',
  }));
  await renderPage(<ModelsPage />, '/models', '/models');
  await screen.findByRole('link', { name: 'digits' });
  await userEvent.type(screen.getByRole('textbox', { name: 'Search models' }), 'let');
  await screen.findByRole('link', { name: 'letters' });
  expect(screen.queryByRole('link', { name: 'digits' })).toBeNull();
});

test('a model’s aliases have a history', async () => {
  serve('GET', 'projects/{project}/models/{model}/', model);
  serve('GET', 'projects/{project}/models/{model}/versions/', listing(version(2, ['candidate']), version(1)));
  serve(
    'GET',
    'projects/{project}/models/{model}/aliases/history/',
    listing({ alias: 'candidate', old_version: 1, new_version: 2, actor: null, at: '2026-01-01T00:00:00Z' }),
  );
  await renderPage(<ModelPage />, '/models/digits', '/models/$name');
  await screen.findByText('candidate moved from version 1 to version 2');
});

test('the history of aliases goes on beyond its first page', async () => {
  const moved = (next: number) => ({
    alias: 'candidate',
    old_version: next - 1,
    new_version: next,
    actor: null,
    at: `2026-01-01T00:00:${String(next % 60).padStart(2, '0')}Z`,
  });
  serve('GET', 'projects/{project}/models/{model}/', model);
  serve('GET', 'projects/{project}/models/{model}/versions/', listing(version(2)));
  serve('GET', 'projects/{project}/models/{model}/aliases/history/', (_request: Request, url: URL) =>
    url.searchParams.get('cursor') === 'older'
      ? listing(moved(2))
      : { results: Array.from({ length: 50 }, (_, index) => moved(52 - index)), next: 'older' },
  );
  const { container } = await renderPage(<ModelPage />, '/models/digits', '/models/$name');
  await screen.findByText('candidate moved from version 51 to version 52');
  await expectNoViolations(container);
  const more = screen.getByRole('button', { name: 'Load more' });
  await userEvent.click(more);
  await screen.findByText('candidate moved from version 1 to version 2');
  screen.getByText('candidate moved from version 51 to version 52');
  expect(screen.queryByRole('button', { name: 'Load more' })).toBeNull();
});

test('a model that is not there keeps its name and the way back', async () => {
  serve('GET', 'projects/{project}/models/{model}/', () => problem(404, 'model_not_found', 'There is no such model.'));
  await renderPage(<ModelPage />, '/models/nope', '/models/$name');
  await screen.findByRole('heading', { name: 'nope' });
  expect(screen.getByRole('link', { name: 'Models' }).getAttribute('href')).toBe('/models');
  expect(screen.getByRole('alert').textContent).toContain('There is no such model.');
});

test.each([
  ['model_not_found', 'Models', '/models'],
  ['model_version_not_found', 'digits', '/models/digits'],
])('a version that is not there leads back: %s', async (code, link, href) => {
  serve('GET', 'projects/{project}/models/{model}/versions/{number}/', () => problem(404, code, 'No.'));
  await renderPage(<ModelVersionPage />, '/models/digits/versions/9', '/models/$name/versions/$n');
  await screen.findByRole('heading', { name: 'digits version 9' });
  expect(screen.getByRole('link', { name: link }).getAttribute('href')).toBe(href);
});

test('an alias is set from the version’s page', async () => {
  serve('GET', 'projects/{project}/models/{model}/versions/{number}/', version(2));
  serve('PUT', 'projects/{project}/models/{model}/aliases/{alias}/', { name: 'production', version: 2 });
  const { container } = await renderPage(
    <ModelVersionPage />,
    '/models/digits/versions/2',
    '/models/$name/versions/$n',
  );
  await screen.findByText('The first one.');
  await expectNoViolations(container);
  await userEvent.click(await screen.findByRole('button', { name: 'Set alias' }));
  await userEvent.type(await screen.findByRole('combobox', { name: 'Alias' }), 'production');
  await userEvent.click(screen.getByRole('button', { name: 'Point to version 2' }));
  await waitFor(() =>
    expect(sent.some(({ line }) => line.startsWith('PUT') && line.endsWith('/aliases/production/'))).toBe(true),
  );
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Set alias' })));
});

test('a version that cannot be evaluated says why instead of offering it', async () => {
  serve('GET', 'projects/{project}/models/{model}/versions/{number}/', {
    ...version(2),
    not_evaluable: 'no_description',
  });
  serve('GET', 'projects/{project}/models/{model}/versions/{number}/evaluations/', listing());
  await renderPage(<ModelVersionPage />, '/models/digits/versions/2?tab=evaluations', '/models/$name/versions/$n');
  await screen.findByText(/It cannot be evaluated: it has no model.json/);
  expect(screen.queryByRole('link', { name: 'Evaluate' })).toBeNull();
  const button = await screen.findByRole('button', { name: 'Evaluate' });
  expect(button.getAttribute('aria-description')).toContain('no model.json');
});

test('a version that can be evaluated offers it', async () => {
  serve('GET', 'projects/{project}/models/{model}/versions/{number}/', version(2));
  await renderPage(<ModelVersionPage />, '/models/digits/versions/2', '/models/$name/versions/$n');
  await screen.findByRole('link', { name: 'Evaluate' });
});

test('the confusion matrix is a table with named rows and columns', async () => {
  const { container } = await renderPage(
    <ConfusionMatrix
      labels={['cat', 'dog']}
      matrix={[
        [8, 2],
        [0, 10],
      ]}
    />,
  );
  expect(screen.getByRole('rowheader', { name: 'cat' })).toBeTruthy();
  expect(screen.getByRole('columnheader', { name: 'dog' })).toBeTruthy();
  expect(screen.getByTitle('cat answered as dog: 2 (20% of cat)').textContent).toBe('2');
  await expectNoViolations(container);
});

test('a matrix of a thousand classes shows those that are confused most', async () => {
  const labels = Array.from({ length: 1000 }, (_, index) => `class ${index}`);
  const matrix = labels.map((_, row) => labels.map((_, column) => (row === column ? 9 : 0)));
  (matrix[990] as number[])[980] = 3;
  await renderPage(<ConfusionMatrix labels={labels} matrix={matrix} />);
  expect(document.querySelectorAll('tbody tr')).toHaveLength(60);
  expect(document.querySelector('tbody tr:last-child td[title*="980: 3 (25% of class 990)"]')).toBeTruthy();
  expect(document.querySelector('caption')?.textContent).toContain('It shows 60 of 1,000 classes');
});

test('an alias that is set on another version while its removal can be undone stays there', async () => {
  serve('PUT', 'projects/{project}/models/{model}/aliases/{alias}/', { name: 'production', version: 5 });
  serve('DELETE', 'projects/{project}/models/{model}/aliases/{alias}/', {});
  await renderPage(
    <>
      <AliasEditor model="digits" number={3} aliases={['production']} />
      <AliasEditor model="digits" number={5} aliases={[]} />
    </>,
  );
  await userEvent.click(await screen.findByRole('button', { name: 'Remove the alias production' }));
  await waitFor(() => expect(screen.queryByText('production')).toBeNull());
  await userEvent.click(screen.getAllByRole('button', { name: 'Set alias' })[1] as HTMLElement);
  await userEvent.type(await screen.findByRole('combobox', { name: 'Alias' }), 'production{Enter}');
  const writes = () => sent.map(({ line }) => line.split(' ')[0]).filter((method) => method !== 'GET');
  await waitFor(() => expect(writes()).toEqual(['DELETE', 'PUT']));
  // An alias that names this version again is shown again.
  await screen.findByText('production');
});
