import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import Palette from './Palette';

test('the palette finds things of the project by their names, asked once typing has paused', async () => {
  const asked: string[] = [];
  const named = (kind: string) => (_request: Request, url: URL) => {
    asked.push(`${kind} ${url.search}`);
    return listing({ id: kind, number: 12, name: `shapes of a ${kind}` });
  };
  serve('GET', 'projects/{project}/datasets/', named('dataset'));
  serve('GET', 'projects/{project}/labelx/tasks/', named('task'));
  serve('GET', 'projects/{project}/runs/', named('run'));
  serve('GET', 'projects/{project}/models/', named('model'));
  await renderPage(<Palette onClose={() => {}} onShortcuts={() => {}} />);
  await userEvent.click(await screen.findByPlaceholderText('Search pages, actions and names…'));
  await userEvent.paste('shapes');
  for (const kind of ['dataset', 'task', 'run', 'model'])
    await waitFor(() =>
      expect(screen.getAllByRole('button').map((one) => one.textContent)).toContainEqual(
        expect.stringContaining(`shapes of a ${kind}`),
      ),
    );
  expect(asked.toSorted()).toEqual(['dataset', 'model', 'run', 'task'].map((kind) => `${kind} ?q=shapes&limit=5`));
});
