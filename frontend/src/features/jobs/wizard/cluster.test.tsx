import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useReducer } from 'react';
import { expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { COMMAND, draftReducer, EMPTY_DRAFT, requestOf, stepOfField } from './draft';
import { ResourcesStep } from './ResourcesStep';

let request: ReturnType<typeof requestOf>;

function Form() {
  const [draft, dispatch] = useReducer(draftReducer, { ...EMPTY_DRAFT, workflow: COMMAND });
  request = requestOf(draft);
  return <ResourcesStep draft={draft} dispatch={dispatch} errors={{}} workflow={undefined} />;
}

const own = { name: 'local', kind: 'local', state: 'ready', fits: 'now', reason: null, accelerators: [], prices: [] };
const west = {
  ...own,
  name: 'west',
  kind: 'kubernetes',
  fits: 'later',
  reason: { code: 'jobs.cluster_full', sentence: 'Others hold the room on west.', params: { cluster: 'west' } },
  accelerators: [{ kind: 'A100', total: 8, free: 3 }],
  prices: [{ kind: 'A100', per_hour: '2.5000', currency: 'EUR' }],
};

test('a cluster is chosen with its image, and given up with it', async () => {
  serve('GET', 'clusters/', listing({ name: 'west', kind: 'kubernetes', nodes: [] }));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('GET', 'projects/{project}/cluster-choices/', { results: [own, west] });
  await renderPage(<Form />);
  const choice = await screen.findByRole('radio', { name: /west/ });
  expect(screen.getByText('Others hold the room on west.')).toBeTruthy();
  await userEvent.click(choice);
  await userEvent.type(screen.getByRole('textbox', { name: 'Image' }), 'ghcr.io/a/b:1');
  expect(request).toMatchObject({ cluster: 'west', image: 'ghcr.io/a/b:1' });
  await userEvent.click(screen.getByRole('radio', { name: /Atom/ }));
  expect(request).not.toHaveProperty('cluster');
  expect(request).not.toHaveProperty('image');
});

test('errors of the choice are shown where it is made', () => {
  expect(['cluster', 'image'].map((field) => stepOfField(field, EMPTY_DRAFT))).toEqual(['resources', 'resources']);
});
