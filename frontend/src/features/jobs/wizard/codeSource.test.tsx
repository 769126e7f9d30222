import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import { expectNoViolations } from '@/test/axe';
import { listing, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { CodeSource } from './CodeSource';
import { COMMAND, type Draft, EMPTY_DRAFT } from './draft';
import { draftErrors } from './draftErrors';

const FETCHES = 'projects/{project}/code-fetches/';
const fetched = (extra: object) => ({
  id: 'f1',
  url: 'https://host/code',
  ref: 'main',
  secret: '',
  state: 'ready',
  code_snapshot: 's1',
  commit: '0123456789abcdef0123456789abcdef01234567',
  message: 'Train longer',
  author: 'Ana',
  files_count: 3,
  submodules: [],
  lfs: ['weights.bin'],
  problem: null,
  created_by: 'ana',
  created_at: '2026-01-01T00:00:00Z',
  finished_at: '2026-01-01T00:00:01Z',
  ...extra,
});
let draft: Draft;

function Form() {
  const [held, hold] = useState<Draft>({ ...EMPTY_DRAFT, workflow: COMMAND, command: 'true' });
  draft = held;
  return <CodeSource draft={held} set={(values) => hold((old) => ({ ...old, ...values }))} error={undefined} />;
}

async function ask() {
  serve('GET', 'projects/{project}/secrets/', listing());
  const rendered = await renderPage(<Form />);
  await userEvent.click(await screen.findByRole('radio', { name: 'From git' }));
  await userEvent.type(screen.getByRole('textbox', { name: /Repository/ }), 'https://host/code');
  await userEvent.type(screen.getByRole('textbox', { name: /Branch/ }), 'main');
  expect(draftErrors(draft)).toEqual([{ field: 'code_snapshot', error: 'notFetched' }]);
  await userEvent.click(screen.getByRole('button', { name: 'Fetch the code' }));
  return rendered;
}

test('a commit is fetched, described, and is what the run gets; a change of the address undoes it', async () => {
  serve('POST', FETCHES, fetched({ state: 'waiting', code_snapshot: null }));
  serve('GET', `${FETCHES}{fetch_id}/`, fetched({}));
  const { container } = await ask();
  await screen.findByText('Commit 0123456789 is fetched');
  screen.getByText('Train longer · by Ana · 3 files');
  screen.getByText(/weights\.bin/);
  await waitFor(() => expect(draft.codeSnapshot).toBe('s1'));
  expect(draftErrors(draft)).toEqual([]);
  expect(sent.find(({ line }) => line.startsWith('POST'))?.body).toEqual({
    url: 'https://host/code',
    ref: 'main',
    secret: '',
  });
  await expectNoViolations(container);
  await userEvent.type(screen.getByRole('textbox', { name: /Repository/ }), '2');
  expect(draft.codeSnapshot).toBe('');
  expect(draftErrors(draft)).toHaveLength(1);
});

test('why it failed is said with what to do', async () => {
  const problem = {
    code: 'git_ref_not_found',
    title: 'The repository has no such branch, tag or commit.',
    detail: 'Its branches: trunk.',
    action: 'Name a branch.',
  };
  serve('POST', FETCHES, fetched({ state: 'waiting', code_snapshot: null }));
  serve('GET', `${FETCHES}{fetch_id}/`, fetched({ state: 'failed', code_snapshot: null, problem }));
  await ask();
  await screen.findByText(problem.title);
  screen.getByText(problem.detail);
  expect(draft.codeSnapshot).toBe('');
});
