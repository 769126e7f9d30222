import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { listing, sent, serve } from '@/test/fakeApi';
import { decision, place } from '@/test/places';
import { renderPage } from '@/test/render';
import { NewRunPage } from '../index';
import { Preflight } from './Preflight';

const workflow = {
  slug: 'image-classification',
  version: '1',
  title: 'Image classification',
  description: '',
  parameters: [{ name: 'dataset', type: 'dataset', title: 'Dataset', help: '', required: true, choices: [] }],
  inputs: { dataset: { split: ['train', 'val'], narrowable: true } },
  resources: { cpus: 1 },
  translations: {},
};
const look = {
  alias: 'dataset',
  reference: 'flowers@v1',
  dataset: 'flowers',
  ref: 'v1',
  branch: 'main',
  exact: true,
  files: 60,
  labelled: 0,
  labels: {},
  splits: {},
  unsplit: 60,
  class_folders: ['circle', 'square', 'tri'],
};
const noLabels = {
  level: 'error',
  code: 'no_labels',
  sentence: '60 files, 0 labelled: this workflow needs labels.',
  params: { dataset: 'flowers@v1', files: 60 },
  remedies: ['label_by_folder', 'label', 'choose_version'],
};
const fits = {
  level: 'ok',
  code: 'fits',
  sentence: 'Fits.',
  params: { files: 60, labelled: 60, classes: 3 },
  remedies: [],
};

test('the start waits for labels, and a button takes the version that has them', async () => {
  serve('GET', 'workflows/', listing(workflow));
  serve('GET', 'clusters/', listing());
  serve('POST', 'projects/{project}/placements/preview/', decision(place('local', 1)));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', 'projects/{project}/runs/preview/', {
    valid: true,
    errors: {},
    outlook: 'starts',
    placement: { cluster: 'local', node: 'local-1', why: 'The only node.', code: 'only_machine', params: {} },
    queue_position: 1,
    warm: null,
    runtime: { digest: 'abc', state: 'ready' },
  });
  serve('POST', 'projects/{project}/runs/preflight/', async (request: Request) => {
    const { parameters } = (await request.json()) as { parameters: { dataset: string } };
    const isLabelled = parameters.dataset === 'flowers@v2';
    return {
      ok: isLabelled,
      errors: {},
      datasets: [{ ...look, reference: parameters.dataset, checks: [isLabelled ? fits : noLabels] }],
    };
  });
  serve('POST', 'projects/{project}/datasets/{dataset}/folder-labels/', {
    id: 'c1',
    state: 'published',
    error: null,
    version: { ref: 'v2' },
  });
  await renderPage(<NewRunPage />, '/runs/new?workflow=image-classification&dataset=flowers%40v1&step=3');
  const go = await screen.findByRole('button', { name: 'Start run' });
  await screen.findAllByText(/60 files, 0 labelled: this workflow needs labels/);
  expect(go).toHaveProperty('disabled', true);
  await userEvent.click(screen.getByRole('button', { name: 'Use folder names as labels' }));
  await screen.findByText('60 files, 60 labelled, classes: 3.');
  await waitFor(() => expect(go).toHaveProperty('disabled', false));
});

test('pictures that cannot be read are shown by a link', async () => {
  const marked = {
    level: 'warning' as const,
    code: 'some_unreadable' as const,
    sentence: '',
    params: { count: 3, pictures: 60, names: 'a.png, b.png, c.png' },
    remedies: ['show_unreadable' as const],
  };
  const looks = [{ ...look, checks: [marked] }];
  await renderPage(<Preflight looks={looks} onVersion={() => undefined} onChooseVersion={() => undefined} />);
  screen.getByText('3 of 60 pictures cannot be read; the run skips them (a.png, b.png, c.png).');
  const link = screen.getByRole('link', { name: 'Show them' });
  const address = new URL(link.getAttribute('href') ?? '', window.location.href);
  expect(address.pathname).toBe('/datasets/flowers');
  expect(address.searchParams.get('where')).toBe('attributes.unreadable IS NOT NULL');
});

test('splits that do not fit are drawn again, and the wizard goes on with the version that has them', async () => {
  const unfit = {
    level: 'error' as const,
    code: 'nothing_to_train_on' as const,
    sentence: '',
    params: { dataset: 'flowers@v1', splits: 'val 60' },
    remedies: ['draw_splits' as const, 'choose_version' as const],
  };
  const made = { id: 'c1', state: 'published', error: null, version: { ref: 'v2' } };
  serve('POST', 'projects/{project}/datasets/{dataset}/splits/', made);
  const taken: string[] = [];
  const looks = [{ ...look, checks: [unfit] }];
  const take = (alias: string, reference: string) => taken.push(`${alias} ${reference}`);
  await renderPage(<Preflight looks={looks} onVersion={take} onChooseVersion={() => undefined} />);
  screen.getByText('The split train of flowers@v1 has no labelled file: there is nothing to train on (val 60).');
  await userEvent.click(screen.getByRole('button', { name: 'Draw new splits' }));
  await waitFor(() => expect(taken).toEqual(['dataset flowers@v2']));
  const asked = sent.find(({ line }) => line.endsWith('/splits/'))?.body;
  expect(asked).toMatchObject({ branch: 'main', test: '20%', val: '10%', redraw: true });
});

test('one class on all files leads to a task over files with a label', async () => {
  const one = {
    level: 'error' as const,
    code: 'too_few_classes' as const,
    sentence: '',
    params: { dataset: 'flowers@v1', labelled: 60, classes: 1, names: 'cat', needed: 2 },
    remedies: ['relabel' as const],
  };
  const looks = [{ ...look, checks: [one] }];
  await renderPage(<Preflight looks={looks} onVersion={() => undefined} onChooseVersion={() => undefined} />);
  const link = screen.getByRole('link', { name: 'Label again, with more classes' });
  const address = new URL(link.getAttribute('href') ?? '', window.location.href);
  expect(address.pathname).toBe('/labeling');
  expect(Object.fromEntries(address.searchParams)).toEqual({ create: 'flowers@v1', labelled: 'true' });
});

test('pictures without objects lead to a task that draws them', async () => {
  const none = {
    level: 'error' as const,
    code: 'no_objects' as const,
    sentence: '',
    params: { dataset: 'flowers@v1', files: 60, looked_at: 0 },
    remedies: ['label' as const],
  };
  await renderPage(
    <Preflight looks={[{ ...look, checks: [none] }]} onVersion={() => undefined} onChooseVersion={() => undefined} />,
  );
  const link = screen.getByRole('link', { name: 'Label them' });
  const address = new URL(link.getAttribute('href') ?? '', window.location.href);
  expect(Object.fromEntries(address.searchParams)).toEqual({ create: 'flowers@v1', objects: 'true' });
});
