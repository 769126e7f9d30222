import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { listenForShortcuts } from '@/shared/ui/shortcuts';
import { writeStored } from '@/shared/ui/stored';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { ItemPage } from '../index';
import { AT, entry, withDataset } from '../operations/pets';
import { annotations, STREET } from './street';

withDataset();
afterEach(() => writeStored('atom.drawn', null));

const picture = { media_type: 'image/png', media_url: '/media/a.png', thumb_url: '/thumb' };

async function openItem(drawn: object | null) {
  serve('GET', `${AT}versions/v2/entries/at/`, entry('a.png', { ...picture, annotations: drawn }));
  const page = await renderPage(<ItemPage />, '/datasets/pets/item?item=a.png', '/datasets/$name/item');
  await screen.findByRole('heading', { level: 1, name: 'a.png' });
  return page;
}

const shapes = (container: HTMLElement) =>
  [...container.querySelectorAll('[data-object]')].map((shape) => shape.getAttribute('data-object'));

test('the page of a picture draws its objects and lists them with their classes and origin', async () => {
  const { container } = await openItem(annotations(STREET));
  const list = within(await screen.findByRole('region', { name: 'Objects on the picture' }));
  list.getByText('3 objects');
  list.getByText('People');
  list.getByText('annotator-7');
  expect(shapes(container)).toEqual(['01', '02', '03']);
  await expectNoViolations(container);
});

test('the focused object stands out with its label and attributes, and goes with the zoom', async () => {
  const { container } = await openItem(annotations(STREET));
  fireEvent.focus(await screen.findByRole('button', { name: /^bike 2/ }));
  expect(container.querySelector('[data-active][data-object]')?.getAttribute('data-object')).toBe('02');
  screen.getByText('bike · colour: red · parked: yes');
  fireEvent.keyDown(screen.getByRole('group', { name: 'Picture' }), { key: '+' });
  const over = container.querySelector('svg [data-object]')?.closest('div');
  expect(over?.style.transform).toContain('scale(1.5)');
});

test('a class is hidden by its tick, and O hides all', async () => {
  const stop = listenForShortcuts();
  const { container } = await openItem(annotations(STREET));
  await userEvent.click(await screen.findByRole('checkbox', { name: /^car/ }));
  expect(shapes(container)).toEqual(['02']);
  await userEvent.keyboard('o');
  await eventually(() => expect(shapes(container)).toEqual([]));
  await userEvent.click(screen.getByRole('switch', { name: 'Show objects' }));
  expect(shapes(container)).toEqual(['02']);
  stop();
});

test('a picture that somebody looked at and one that nobody did are told apart', async () => {
  const { unmount } = await openItem(annotations([]));
  await screen.findByText('Somebody looked at the picture and drew nothing.');
  unmount();
  await openItem(null);
  expect(screen.queryByRole('region', { name: 'Objects on the picture' })).toBeNull();
});
