import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test } from 'vitest';
import { listing, sent, serve } from '@/test/fakeApi';
import { decision, place } from '@/test/places';
import { renderPage } from '@/test/render';
import { NewRunPage } from '../index';

const parameter = (name: string, type: string, more: object = {}) => ({
  name,
  type,
  title: '',
  help: '',
  required: true,
  default: null,
  min: null,
  max: null,
  choices: [],
  ...more,
});
const common = { version: '1', description: '', resources: { cpus: 1 }, translations: {} };
const dataset = parameter('dataset', 'dataset', { title: 'Dataset' });
const TRAIN = {
  ...common,
  slug: 'image-classification',
  title: 'Image classification',
  parameters: [dataset, parameter('epochs', 'int', { title: 'Epochs', default: 3 })],
  inputs: { dataset: { narrowable: true } },
};
const EVALUATE = {
  ...common,
  slug: 'evaluate-classifier',
  title: 'Evaluate',
  parameters: [
    dataset,
    parameter('model_version', 'model', { title: 'Model' }),
    parameter('split', 'string', { title: 'Split', default: 'test' }),
  ],
  inputs: { dataset: { split: { parameter: 'split' } } },
};
const COPIED = {
  id: 'run-7',
  number: 7,
  name: 'baseline',
  workflow: 'image-classification',
  command: [],
  parameters: { dataset: 'flowers@v1', epochs: 5 },
  datasets: [{ alias: 'dataset', dataset: 'flowers', ref: 'v1', selector: {}, delivery: 'packs' }],
  resources: { cpus: 2, memory_bytes: 2 ** 32, gpus: 0 },
  env: [],
  secrets: [],
  tags: [],
};
const LOOK = {
  alias: 'dataset',
  reference: 'flowers@v1',
  dataset: 'flowers',
  ref: 'v1',
  branch: 'main',
  exact: true,
  files: 9,
  labelled: 9,
  labels: {},
  splits: { test: 4, val: 5 },
  unsplit: 0,
  class_folders: [],
  checks: [],
};

beforeEach(() => {
  serve('GET', 'workflows/', listing(TRAIN, EVALUATE));
  serve('GET', 'clusters/', listing());
  serve('POST', 'projects/{project}/placements/preview/', decision(place('local', 1)));
  serve('GET', 'runs/{run_id}/', COPIED);
  serve('GET', 'projects/{project}/secrets/', listing());
  serve(
    'GET',
    'projects/{project}/models/',
    listing({ name: 'shapes', aliases: [{ name: 'best' }], latest: { number: 2 } }),
  );
  serve('GET', 'projects/{project}/datasets/', listing({ name: 'flowers', latest: { ref: 'v2' } }));
  serve('GET', 'projects/{project}/datasets/{dataset}/views/', listing({ name: 'red', where: 'x = 1' }));
  serve(
    'GET',
    'projects/{project}/datasets/{dataset}/versions/',
    listing({ ref: 'v2', file_count: 2, size_bytes: 2 }, { ref: 'v1', file_count: 1, size_bytes: 1 }),
  );
  serve('POST', 'projects/{project}/runs/preflight/', { ok: true, errors: {}, datasets: [LOOK] });
  serve('POST', 'projects/{project}/runs/preview/', {
    valid: true,
    errors: {},
    outlook: 'starts',
    placement: { cluster: 'local', node: 'local-1', why: 'The only node.', code: 'only_machine', params: {} },
    queue_position: 1,
    warm: null,
    runtime: { digest: 'abc', state: 'ready' },
  });
  serve('POST', 'projects/{project}/runs/', { id: 'run-8' });
});

const combobox = (name: RegExp) => screen.findByRole('combobox', { name });
async function pick(name: RegExp, option: RegExp) {
  await userEvent.click(await combobox(name));
  await userEvent.click(await screen.findByRole('option', { name: option }));
}
async function type(name: string, text: string) {
  const field = await screen.findByRole('textbox', { name });
  await userEvent.clear(field);
  await userEvent.type(field, text);
}
const press = async (name: string) => userEvent.click(await screen.findByRole('button', { name }));
const onResources = () => screen.findByRole('textbox', { name: 'CPUs' });
const version = () => pick(/version/i, /v2/);

const TRAINS = '/runs/new?dataset=flowers%40v1';
const EVALUATES = '/runs/new?workflow=evaluate-classifier&model=shapes%40v2&dataset=flowers%40v1';

test.each([
  ['the version', TRAINS, version, { parameters: { dataset: 'flowers@v2' } }],
  ['a parameter', TRAINS, () => type('Epochs', '8'), { parameters: { dataset: 'flowers@v1', epochs: 8 } }],
  ['the name', TRAINS, () => type('Name', 'mine'), { name: 'mine' }],
  ['the version of an evaluation', EVALUATES, version, { parameters: { dataset: 'flowers@v2' } }],
  ['the model', EVALUATES, () => pick(/Model/, /shapes@best/), { parameters: { model_version: 'shapes@best' } }],
  ['the split', EVALUATES, () => pick(/Split/, /val/), { parameters: { split: 'val' } }],
  ['the version of a copy', '/runs/new?clone=run-7', version, { parameters: { dataset: 'flowers@v2', epochs: 5 } }],
  [
    'the version of a copy with mended data',
    '/runs/new?clone=run-7&dataset=flowers%40v3',
    version,
    { parameters: { dataset: 'flowers@v2', epochs: 5 } },
  ],
] as const)('%s stays as chosen through Continue, Back and a reload', async (_field, link, change, expected) => {
  const { unmount } = await renderPage(<NewRunPage />, link);
  if (link.includes('clone')) {
    await press('Back');
    await onResources();
    await press('Back');
  }
  await change();
  await press('Continue');
  await onResources();
  await press('Back');
  await press('Continue');
  await onResources();
  unmount();
  await renderPage(<NewRunPage />, `${link}&step=2`);
  await onResources();
  await press('Continue');
  await press('Start run');
  await waitFor(() => expect(sent.findLast(({ line }) => line.endsWith('/runs/'))?.body).toMatchObject(expected));
});

test('a view of the link that is taken away stays away', async () => {
  await renderPage(<NewRunPage />, `${TRAINS}&view=red`);
  await waitFor(() => expect(sent.at(-1)?.body).toMatchObject({ selectors: { dataset: { view: 'red' } } }));
  await pick(/view/i, /red/);
  await press('Continue');
  await onResources();
  await press('Continue');
  await press('Start run');
  await waitFor(() =>
    expect(sent.findLast(({ line }) => line.endsWith('/runs/'))?.body).not.toHaveProperty('selectors'),
  );
});

test('the link of a version means the whole of it, after a draft that read a part', async () => {
  const draft = {
    workflow: TRAIN.slug,
    parameters: { dataset: 'flowers@v1' },
    selections: { dataset: { where: 'a = 1' } },
  };
  sessionStorage.setItem('atom-new-run/vision', JSON.stringify(draft));
  await renderPage(<NewRunPage />, TRAINS);
  await press('Continue');
  await onResources();
  await press('Continue');
  await press('Start run');
  await waitFor(() => expect(sent.findLast(({ line }) => line.endsWith('/runs/'))?.body).toBeDefined());
  expect(sent.findLast(({ line }) => line.endsWith('/runs/'))?.body).not.toHaveProperty('selectors');
});
