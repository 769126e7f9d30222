import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, test } from 'vitest';
import { writeStored } from '@/shared/ui/stored';
import { expectNoViolations } from '@/test/axe';
import { eventually } from '@/test/eventually';
import { listing, serve } from '@/test/fakeApi';
import { AT, entry, openFiles, withDataset } from '../operations/pets';
import { annotations, STREET } from './street';

withDataset();
afterEach(() => writeStored('atom.drawn', null));

const picture = { media_type: 'image/png', thumb_url: '/thumb' };

/** Serves pictures with, without and with no annotations; returns the conditions that were asked. */
function serveDrawn(): (string | null)[] {
  const asked: (string | null)[] = [];
  const inList = STREET.map(({ box: _box, ...rest }) => rest);
  serve('GET', `${AT}versions/v2/stats/`, {
    ...{ files: 3, links: 0, labels: {}, splits: {}, media_types: { 'image/png': 3 }, unlabelled: 3, unreadable: 0 },
    ...{ unreadable_paths: [], unsplit: 0, unsplit_paths: [] },
    ...{ annotated: 2, object_labels: { bike: 1, car: 1400 } },
  });
  serve('GET', `${AT}versions/v2/entries/`, (_: Request, url: URL) => {
    asked.push(url.searchParams.get('where'));
    return {
      ...listing(
        entry('a.png', { ...picture, annotations: annotations(inList, { objects_total: 1400 }) }),
        entry('b.png', { ...picture, annotations: annotations([]) }),
        entry('c.png', { ...picture, annotations: null }),
      ),
      ...{ folders: [], total: 3, total_is_exact: true, counted_before: null },
    };
  });
  return asked;
}

test('tiles show outlines and the number of objects, until they are switched off', async () => {
  serveDrawn();
  const { container } = await openFiles('');
  const cell = await screen.findByRole('gridcell', { name: /1,400 objects.*a\.png/ });
  expect(cell.querySelectorAll('[data-object]')).toHaveLength(3);
  screen.getByRole('gridcell', { name: /0 objects.*b\.png/ });
  screen.getByRole('gridcell', { name: /^(?!.*objects).*c\.png/ });
  await expectNoViolations(container);
  await userEvent.click(screen.getByRole('switch', { name: 'Show objects' }));
  expect(container.querySelectorAll('[data-object]')).toHaveLength(0);
});

test('the list has the number of objects, and none where nobody looked', async () => {
  serveDrawn();
  await openFiles('layout=list');
  await screen.findByRole('columnheader', { name: 'Objects' });
  const row = (name: RegExp) => screen.getByRole('row', { name });
  await screen.findByText('1,400');
  expect(row(/b\.png/).textContent).toContain('0');
  expect(row(/c\.png/).textContent).not.toContain('0');
});

test('pictures are chosen by a class of their objects, beside a query that stands', async () => {
  const asked = serveDrawn();
  await openFiles(`where=${encodeURIComponent('size > 1')}`);
  await userEvent.click(await screen.findByRole('combobox', { name: 'Filter by objects' }));
  await userEvent.click(await screen.findByRole('option', { name: 'car (1,400)' }));
  await eventually(() => expect(asked.at(-1)).toBe("(size > 1) AND (objects.label = 'car')"));
});
