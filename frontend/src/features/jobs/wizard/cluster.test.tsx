import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useReducer } from 'react';
import { beforeEach, expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import { listing, serve } from '@/test/fakeApi';
import { decision, place, reason } from '@/test/places';
import { renderPage } from '@/test/render';
import { toCli } from './asText';
import { COMMAND, draftReducer, EMPTY_DRAFT } from './draft';
import { stepOfField } from './draftErrors';
import { draftFromRun } from './draftFromRun';
import { requestOf } from './draftRequest';
import { ResourcesStep } from './ResourcesStep';

let request: ReturnType<typeof requestOf>;

function Form() {
  const [draft, dispatch] = useReducer(draftReducer, { ...EMPTY_DRAFT, workflow: COMMAND });
  request = requestOf(draft);
  return <ResourcesStep draft={draft} dispatch={dispatch} errors={{}} workflow={undefined} />;
}

const PREVIEW = 'projects/{project}/placements/preview/';
const own = place('local', 1);
const kind = { kind: 'A100', total: 8, free: 3, reason: null };
const west = place('west', 2, {
  fits: 'later',
  reason: { code: 'jobs.cluster_full', sentence: 'Others hold the room on west.', params: { cluster: 'west' } },
  accelerators: [kind],
});
const listed = { name: 'west', kind: 'kubernetes', nodes: [] };
const prices = [{ kind: 'A100', per_hour: '2.5000', currency: 'EUR' }];

beforeEach(() => serve('GET', 'projects/{project}/cluster-choices/', { results: [{ name: 'west', prices }] }));

test('a cluster is chosen with its image, and given up with it', async () => {
  serve('GET', 'clusters/', listing(listed));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', PREVIEW, decision(own, west));
  await renderPage(<Form />);
  const choice = await screen.findByRole('radio', { name: /west/ });
  expect(screen.getByText('Others hold the room on west.')).toBeTruthy();
  await userEvent.click(choice);
  await userEvent.type(screen.getByRole('textbox', { name: 'Image' }), 'ghcr.io/a/b:1');
  expect(request).toMatchObject({ cluster: 'west', image: 'ghcr.io/a/b:1' });
  await userEvent.click(screen.getByRole('radio', { name: /^Atom’s own machines/ }));
  expect(request).not.toHaveProperty('cluster');
  expect(request).not.toHaveProperty('image');
});

const kinds = [
  kind,
  {
    kind: 'T4',
    total: 4,
    free: null,
    reason: { code: 'jobs.x', sentence: 'Runs cannot ask for T4.', params: {} },
  },
];

test('the kind of GPUs is one of the chosen cluster, with its price, and goes with the cluster', async () => {
  serve('GET', 'clusters/', listing(listed));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', PREVIEW, decision(own, { ...west, accelerators: kinds }));
  await renderPage(<Form />);
  await userEvent.click(await screen.findByRole('radio', { name: /west/ }));
  expect(screen.queryByRole('combobox', { name: 'Kind of GPU' })).toBeNull();
  await userEvent.clear(screen.getByRole('textbox', { name: 'GPUs' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'GPUs' }), '2');
  await userEvent.click(await screen.findByRole('combobox', { name: 'Kind of GPU' }));
  expect(screen.getByText('Runs cannot ask for T4.')).toBeTruthy();
  expect(screen.getByRole('option', { name: /T4/ }).dataset.comboboxDisabled).toBe('true');
  await userEvent.click(screen.getByRole('option', { name: '3 of 8 × A100 free · 2.5 EUR per hour' }));
  expect(request).toMatchObject({ cluster: 'west', accelerator: 'A100', resources: { gpus: 2 } });
  await userEvent.clear(screen.getByRole('textbox', { name: 'GPUs' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'GPUs' }), '0');
  expect(request).not.toHaveProperty('accelerator');
  await userEvent.clear(screen.getByRole('textbox', { name: 'GPUs' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'GPUs' }), '1');
  await userEvent.click(screen.getByRole('radio', { name: /^Atom’s own machines/ }));
  expect(request).not.toHaveProperty('accelerator');
});

test('a cluster that takes no runs says so, and prices have no zeros at their end', async () => {
  const silent = place('north', null, { state: 'unreachable', reason: reason('Cluster north has not answered.') });
  serve('GET', 'clusters/', listing(listed));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', PREVIEW, decision(own, west, silent));
  await renderPage(<Form />);
  expect(await screen.findByRole('radio', { name: /north takes no runs/ })).toBeTruthy();
  expect(screen.getByRole('radio', { name: /west later.* A100 2.5 EUR per hour/ })).toBeTruthy();
});

test('errors of the choice are shown where it is made', () => {
  const fields = ['cluster', 'image', 'accelerator', 'nodes', 'launcher'];
  expect(fields.map((field) => stepOfField(field, EMPTY_DRAFT))).toEqual(fields.map(() => 'resources'));
});

test('the GPUs that one node of the chosen cluster has free are those of its kinds', async () => {
  const accelerators = [
    { kind: 'A100', count: 8, resource: 'nvidia.com/gpu', used: 3 },
    { kind: 'T4', count: 2, resource: 'nvidia.com/gpu', used: 0 },
  ];
  const used = { cpus: 0, memory_bytes: 0, gpus: 3 };
  const node = { cpu_count: 8, memory_bytes: 2 ** 34, gpu_count: 0, schedulable: true, used, accelerators };
  serve('GET', 'clusters/', listing({ ...listed, nodes: [node] }));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', PREVIEW, decision(own, { ...west, accelerators: kinds }));
  await renderPage(<Form />);
  await userEvent.click(await screen.findByRole('radio', { name: /west/ }));
  expect(await screen.findByText('7 free on one machine')).toBeTruthy();
  await userEvent.type(screen.getByRole('textbox', { name: 'GPUs' }), '2');
  await userEvent.click(await screen.findByRole('combobox', { name: 'Kind of GPU' }));
  await userEvent.click(screen.getByRole('option', { name: /A100/ }));
  expect(await screen.findByText('5 free on one machine')).toBeTruthy();
});

test('several nodes are asked for with their launcher, and the form shows their sum', async () => {
  const asked: number[] = [];
  serve('GET', 'clusters/', listing(listed));
  serve('GET', 'projects/{project}/secrets/', listing());
  serve('POST', PREVIEW, async (question: Request) => {
    const { nodes: count = 1 } = (await question.json()) as { nodes?: number };
    asked.push(count);
    const needs = reason('Needs a registered cluster.', 'jobs.nodes_without_cluster');
    return decision(count === 1 ? own : place('local', null, { reason: needs }), west);
  });
  await renderPage(<Form />);
  const nodes = await screen.findByRole('textbox', { name: 'Nodes' });
  expect(screen.queryByRole('combobox', { name: 'Launcher' })).toBeNull();
  expect(request).not.toHaveProperty('nodes');
  await userEvent.clear(nodes);
  await userEvent.type(nodes, '2');
  expect(request).toMatchObject({ nodes: 2 });
  expect(request).not.toHaveProperty('launcher');
  expect(screen.getByRole('status').textContent).toMatch(/2 nodes × \(1 CPU, .*\) = 2 CPUs/);
  await userEvent.click(screen.getByRole('combobox', { name: 'Launcher' }));
  await userEvent.click(screen.getByRole('option', { name: /torchrun/ }));
  expect(request).toMatchObject({ nodes: 2, launcher: 'torchrun' });
  expect(toCli(request, 'vision')).toContain('--nodes 2 --launcher torchrun');
  expect(await screen.findByText('Needs a registered cluster.')).toBeTruthy();
  expect(asked).toContain(2);
});

test('a copy of a run keeps its nodes and its launcher', () => {
  const run = {
    workflow: null,
    command: ['true'],
    parameters: {},
    datasets: [],
    env: [],
    secrets: [],
    tags: [],
    name: '',
    resources: { cpus: 1, memory_bytes: 2 ** 30, gpus: 0 },
    cluster: 'west',
    nodes: 3,
    launcher: 'hostfile',
  } as unknown as Run;
  expect(requestOf(draftFromRun(run))).toMatchObject({ nodes: 3, launcher: 'hostfile', cluster: 'west' });
});
