import { Menu, Switch, TextInput } from '@mantine/core';
import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';
import { IN_PALETTE } from '@/shared/ui/commands';
import { eventually } from '@/test/eventually';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import Palette from './Palette';
import { rememberPage } from './recent';

/** The palette as the shell has it: made when it is opened. */
function Opened() {
  const [open, setOpen] = useState(false);
  if (open) return <Palette onClose={() => setOpen(false)} onShortcuts={() => {}} />;
  return (
    <button type="button" onClick={() => setOpen(true)}>
      palette
    </button>
  );
}

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
  serve('GET', 'projects/{project}/members/', (_request: Request, url: URL) => {
    asked.push(`member ${url.search}`);
    return listing({ id: 'm', username: 'shapes-bot', full_name: 'shapes of a member' });
  });
  await renderPage(<Palette onClose={() => {}} onShortcuts={() => {}} />);
  await userEvent.click(await screen.findByPlaceholderText('Search pages, actions and names…'));
  await userEvent.paste('shapes');
  for (const kind of ['dataset', 'task', 'run', 'model', 'member'])
    await waitFor(() =>
      expect(screen.getAllByRole('button').map((one) => one.textContent)).toContainEqual(
        expect.stringContaining(`shapes of a ${kind}`),
      ),
    );
  expect(asked.toSorted()).toEqual(
    ['dataset', 'member', 'model', 'run', 'task'].map((kind) => `${kind} ?q=shapes&limit=5`),
  );
});

const labelled = () => screen.getAllByRole('button').map((one) => one.textContent);

test('what the page can do comes first: its buttons, tabs, switches, fields and closed menus', async () => {
  const done = vi.fn();
  await renderPage(
    <>
      <main>
        <h1>Cats</h1>
        <button type="button" onClick={() => done('train')}>
          Train on it
        </button>
        <button type="button" disabled>
          Not for you
        </button>
        <Switch label="Show hidden" />
        <TextInput label="Search files" />
        <Menu {...IN_PALETTE}>
          <Menu.Target>
            <button type="button">More</button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => done('undo')}>Undo this version</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        <ul>
          <li>
            <button type="button">Revoke ci</button>
          </li>
        </ul>
      </main>
      <Opened />
    </>,
  );
  await userEvent.click(screen.getByRole('button', { name: 'palette' }));
  const field = await screen.findByPlaceholderText('Search pages, actions and names…');
  const first = labelled().filter((label) => label?.endsWith('Cats'));
  expect(first).toEqual(['Train on itCats', 'Show hiddenCats', 'Search filesCats', 'Undo this versionCats']);
  await userEvent.click(field);
  await userEvent.paste('revoke');
  await screen.findByRole('button', { name: /Revoke ci.*Cats/ });
  await userEvent.clear(field);
  await userEvent.paste('undo');
  await eventually(() => expect(labelled()).not.toContain('Train on itCats'));
  await userEvent.keyboard('{Enter}');
  await eventually(() => expect(done.mock.calls).toEqual([['undo']]));
});

test('pages looked at are offered again, the one shown is not', async () => {
  rememberPage('/runs/17?tab=files', 'train shapes');
  rememberPage('/runs/17?tab=log', 'train shapes');
  rememberPage('/', 'Overview of before');
  await renderPage(<Palette onClose={() => {}} onShortcuts={() => {}} />);
  await screen.findByPlaceholderText('Search pages, actions and names…');
  expect(labelled().filter((label) => label?.includes('train shapes'))).toEqual(['train shapes/runs/17']);
  expect(labelled().join()).not.toContain('Overview of before');
});

test('pages of the same address in two projects are two', async () => {
  rememberPage('/datasets/digits?project=vision&path=a', 'digits of vision');
  rememberPage('/datasets/digits?project=speech', 'digits of speech');
  rememberPage('/datasets/digits?project=vision', 'digits of vision');
  await renderPage(<Palette onClose={() => {}} onShortcuts={() => {}} />);
  await screen.findByPlaceholderText('Search pages, actions and names…');
  expect(labelled().filter((label) => label?.includes('digits of'))).toEqual([
    'digits of vision/datasets/digits',
    'digits of speech/datasets/digits',
  ]);
});

test('a viewer is not offered what only others may open', async () => {
  serve('GET', 'projects/', listing({ slug: 'vision', name: 'Vision', role: 'viewer', unit: null }));
  await renderPage(<Palette onClose={() => {}} onShortcuts={() => {}} />);
  await screen.findByText('Queue');
  expect(labelled().join()).not.toMatch(/New run|Upload files|Secrets|Audit log|Tables of the installation/);
});
