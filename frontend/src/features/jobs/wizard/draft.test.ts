import { describe, expect, test } from 'vitest';
import type { Run, Workflow } from '@/api/contract/jobs';
import { toCli, toYaml } from './asText';
import { COMMAND, type Draft, draftReducer, EMPTY_DRAFT } from './draft';
import { draftErrors, fieldErrors, stepOfField } from './draftErrors';
import { draftFromRun } from './draftFromRun';
import { inputsOf, requestOf, variableOf } from './draftRequest';
import { joinWords, splitWords } from './shellWords';

const parameter = (name: string, type: 'int' | 'dataset', given?: unknown) => ({
  name,
  type,
  title: name,
  help: '',
  required: given === undefined,
  default: given ?? null,
  min: null,
  max: null,
  choices: [],
});
const workflow: Workflow = {
  slug: 'image-classification',
  version: '1',
  title: 'Image classification',
  description: '',
  parameters: [parameter('dataset', 'dataset'), parameter('epochs', 'int', 5)],
  resources: { cpus: 2, memory_bytes: 4 * 1024 ** 3, gpus: 0 },
  inputs: { dataset: { split: ['train', 'val'], narrowable: true } },
  translations: {},
};

describe('choosing a workflow', () => {
  test('fills in its defaults and resources', () => {
    const draft = draftReducer(EMPTY_DRAFT, { type: 'choose', workflow });
    expect(draft).toMatchObject({ workflow: 'image-classification', parameters: { epochs: 5 }, cpus: 2, memoryGib: 4 });
  });

  test('keeps the values that both workflows have, drops the others', () => {
    const before: Draft = { ...EMPTY_DRAFT, parameters: { dataset: 'digits@v3', split: 'test' } };
    const draft = draftReducer(before, { type: 'choose', workflow });
    expect(draft.parameters).toEqual({ dataset: 'digits@v3', epochs: 5 });
  });

  test('again keeps the resources that were changed since', () => {
    const changed: Draft = { ...draftReducer(EMPTY_DRAFT, { type: 'choose', workflow }), cpus: 6 };
    expect(draftReducer(changed, { type: 'choose', workflow }).cpus).toBe(6);
    expect(draftReducer({ ...changed, workflow: 'another' }, { type: 'choose', workflow }).cpus).toBe(2);
  });
});

describe('the request', () => {
  test('of a workflow carries its parameters and no command', () => {
    const chosen = draftReducer(EMPTY_DRAFT, { type: 'choose', workflow });
    const draft = draftReducer(chosen, { type: 'parameter', name: 'dataset', value: 'digits@v3' });
    expect(requestOf(draft)).toEqual({
      workflow: 'image-classification',
      parameters: { dataset: 'digits@v3', epochs: 5 },
      resources: { cpus: 2, memory_bytes: 4 * 1024 ** 3, gpus: 0 },
    });
  });

  test('of a command splits the line as a shell does', () => {
    const draft: Draft = {
      ...EMPTY_DRAFT,
      workflow: COMMAND,
      command: `python train.py --name "two words"`,
      datasets: [{ alias: 'data', dataset: 'digits', ref: 'v3' }],
      env: [
        { name: 'SEED', value: '7' },
        { name: ' ', value: 'x' },
      ],
      timeoutMinutes: 2,
    };
    expect(requestOf(draft)).toMatchObject({
      command: ['python', 'train.py', '--name', 'two words'],
      datasets: { data: 'digits@v3' },
      env: { SEED: '7' },
      timeout_s: 120,
    });
  });
});

describe('a part of the data', () => {
  const other: Workflow = { ...workflow, slug: 'evaluate', inputs: { dataset: {} } };
  const selected = [
    { type: 'choose', workflow } as const,
    { type: 'parameter', name: 'dataset', value: 'digits@v3' } as const,
    { type: 'selection', name: 'dataset', selection: { where: ' size > 1 ', view: 'ones' } } as const,
  ].reduce(draftReducer, EMPTY_DRAFT);

  test('is sent beside the parameters', () => {
    expect(requestOf(selected).selectors).toEqual({ dataset: { where: 'size > 1', view: 'ones' } });
    expect(toCli(requestOf(selected), 'vision')).toContain(
      "-p epochs=5 -p 'dataset=digits@v3?view=ones' --where 'dataset=size > 1'",
    );
  });

  test('loses its view with its dataset, and all with a workflow that reads what it declares', () => {
    const moved = draftReducer(selected, { type: 'parameter', name: 'dataset', value: 'digits@v4' });
    expect(moved.selections).toEqual(selected.selections);
    const away = draftReducer(selected, { type: 'parameter', name: 'dataset', value: 'pets@v1' });
    expect(requestOf(away).selectors).toEqual({ dataset: { where: 'size > 1' } });
    expect(requestOf(draftReducer(selected, { type: 'choose', workflow: other })).selectors).toBeUndefined();
  });

  test('of a command is by alias', () => {
    const row = { alias: 'data', dataset: 'digits', ref: 'v3', where: 'size > 1' };
    const draft: Draft = { ...EMPTY_DRAFT, workflow: COMMAND, command: 'x', datasets: [row] };
    expect(requestOf(draft).selectors).toEqual({ data: { where: 'size > 1' } });
    expect(toCli(requestOf(draft), 'vision')).toContain("--data data=digits@v3 --where 'data=size > 1'");
  });
});

describe('how the data gets there', () => {
  const draft: Draft = {
    ...EMPTY_DRAFT,
    workflow: COMMAND,
    command: 'true',
    datasets: [
      { alias: 'my-data', dataset: 'digits', ref: 'v3' },
      { alias: 'other', dataset: '', ref: '' },
    ],
  };

  test('is sent for chosen inputs only, and packs are what the server takes anyway', () => {
    expect(inputsOf(draft, undefined)).toEqual(['my-data']);
    const sent = (deliveries: Draft['deliveries']) => requestOf({ ...draft, deliveries }).deliveries;
    expect(sent({ 'my-data': 'packs' })).toBeUndefined();
    expect(sent({ 'my-data': 'mount', other: 'stream', gone: 'mount' })).toEqual({ 'my-data': 'mount' });
  });

  test('is an ending of the reference in a terminal, and an option for a workflow', () => {
    const request = requestOf({ ...draft, deliveries: { 'my-data': 'mount' } });
    expect(toCli(request, 'demo')).toContain('--data my-data=digits@v3:mount');
    const workflow = { workflow: 'train', parameters: { dataset: 'digits@v3' }, deliveries: { dataset: 'stream' } };
    expect(toCli(workflow as never, 'demo')).toContain('--delivery dataset=stream');
  });

  test('names the variable of a folder as the server does', () => {
    expect(variableOf('my-data.v2')).toBe('ATOM_INPUT_MY_DATA_V2');
  });
});

describe('cloning a run', () => {
  const run = {
    name: 'base',
    workflow: null,
    command: ['python', '-c', 'print("a b")\nprint("$HOME")', ''],
    datasets: [
      {
        alias: 'data',
        dataset: 'digits',
        ref: 'v3',
        view: 'ones',
        selector: { where: 'size > 1', split: ['val'] },
        delivery: 'mount',
      },
    ],
    resources: { cpus: 4, memory_bytes: 1024 ** 3, gpus: 1 },
    env: ['SEED'],
    secrets: [],
    parameters: {},
    runtime: { digest: 'd', state: 'ready', requirements: 'numpy' },
    timeout_s: 600,
    max_retries: 2,
    may_write: true,
    tags: ['t'],
  } as unknown as Run;

  test('keeps the parameters of a command, in a terminal too', () => {
    const parameters = { lr: 0.1, opt: 'adam', tag: '7', deep: true, note: 'a\nb', layers: [1, 2] };
    const request = requestOf(draftFromRun({ ...run, parameters } as unknown as Run));
    expect(request.parameters).toEqual(parameters);
    expect(toCli(request, 'vision')).toContain(`run -p lr=0.1 -p opt=adam -p 'tag="7"' -p deep=true`);
  });

  test('is not sent with values that nobody was shown', () => {
    const draft = draftFromRun(run);
    expect(draftErrors(draft)).toEqual([{ field: 'env.SEED', error: 'valueUnknown' }]);
    expect(draftErrors({ ...draft, env: [] })).toEqual([]);
    expect(draftErrors({ ...draft, env: [{ name: 'SEED', value: '' }] })).toEqual([]);
  });

  test('lines without a name are no parameters', () => {
    const draft = { ...draftFromRun(run), env: [], parameterLines: 'lr=1\n=2' };
    expect(draftErrors(draft)).toEqual([{ field: 'parameters', error: 'notNamed' }]);
  });

  test('gives a draft that makes the same request', () => {
    expect(requestOf(draftFromRun(run))).toMatchObject({
      name: 'base',
      command: run.command,
      datasets: { data: 'digits@v3' },
      // The text of the view, which may be another by now.
      selectors: { data: { where: 'size > 1', split: ['val'] } },
      deliveries: { data: 'mount' },
      requirements: 'numpy',
      resources: run.resources,
      timeout_s: 600,
      max_retries: 2,
      may_write: true,
      tags: ['t'],
    });
  });
});

describe('the resources of a request', () => {
  const run = { ...EMPTY_DRAFT, workflow: COMMAND, command: 'true' };

  test('of a copied run are those it had, to the byte and the second', () => {
    const resources = { cpus: 4, memory_bytes: 300 * 1024 ** 2 + 1, gpus: 1 };
    const nothing = { name: '', workflow: null, parameters: {}, datasets: [], env: [], secrets: [] };
    const copied = { ...nothing, command: ['true'], resources };
    const request = requestOf(draftFromRun({ ...copied, timeout_s: 20 } as unknown as Run));
    expect(request).toMatchObject({ resources, timeout_s: 20 });
    const memory = (bytes: number) =>
      toCli({ ...request, resources: { memory_bytes: bytes } }, 'vision').match(/--memory (\S+)/)?.[1];
    expect([1.5 * 2 ** 30, 300 * 2 ** 20, 300 * 2 ** 20 + 1].map(memory)).toEqual(['1.5GiB', '300MiB', '314572801']);
  });

  test('that are being typed, or left empty, are the defaults of the server', () => {
    const request = requestOf({ ...run, cpus: '', memoryGib: '0.5', gpus: '-', timeoutMinutes: '', maxRetries: '' });
    expect(request.resources).toEqual({ memory_bytes: 512 * 1024 ** 2 });
    expect(request).not.toHaveProperty('timeout_s');
    expect(request).not.toHaveProperty('max_retries');
  });
});

describe('the right to write datasets', () => {
  const draft: Draft = { ...EMPTY_DRAFT, workflow: COMMAND, command: 'python train.py', mayWrite: true };

  test('is asked for when it was chosen, also in a terminal', () => {
    expect(requestOf({ ...draft, mayWrite: false })).not.toHaveProperty('may_write');
    expect(requestOf(draft).may_write).toBe(true);
    expect(toCli({ ...requestOf(draft), code_snapshot: 'abc' }, 'vision')).toContain('run --code-snapshot abc ');
    expect(toCli(requestOf(draft), 'vision')).toMatch(/ --may-write -- python train.py$/);
  });

  test('is not sent for a workflow, which says itself whether it writes', () => {
    expect(requestOf(draftReducer(draft, { type: 'choose', workflow }))).not.toHaveProperty('may_write');
    expect(stepOfField('may_write', draft)).toBe('resources');
  });
});

describe('messages', () => {
  const draft = draftReducer(EMPTY_DRAFT, { type: 'choose', workflow });

  test('are shown in the step that has the field', () => {
    expect(stepOfField('parameters.epochs', draft)).toBe('parameters');
    expect(stepOfField('parameters.dataset', draft)).toBe('parameters');
    expect(stepOfField('parameters.name', draft)).toBe('parameters');
    expect(stepOfField('name', draft)).toBe('parameters');
    expect(stepOfField('resources.gpus', draft)).toBe('resources');
    expect(stepOfField('workflow', draft)).toBe('workflow');
  });

  test('of one field are one text', () => {
    expect(fieldErrors({ 'parameters.epochs': ['Too small.', 'Not whole.'] })).toEqual({
      'parameters.epochs': 'Too small. Not whole.',
    });
  });
});

describe('as text', () => {
  test('shell words survive joining and splitting', () => {
    const words = ['plain', 'two words', "it's", 'a"b', '', '$HOME', 'x=1'];
    expect(splitWords(joinWords(words))).toEqual(words);
  });

  test('an open quote is an error', () => {
    expect(splitWords('echo "a')).toBeNull();
    const draft: Draft = { ...EMPTY_DRAFT, workflow: COMMAND, command: `python -c 'print(1)` };
    expect(draftErrors(draft)).toEqual([{ field: 'command', error: 'openQuote' }]);
    expect(requestOf(draft).command).toEqual([]);
    expect(draftErrors({ ...draft, command: `${draft.command}'` })).toEqual([]);
  });

  test('YAML quotes what would be read as something else', () => {
    expect(toYaml({ name: 'yes', ref: 'digits@v3', n: 3, list: ['a', '1'], req: 'a\nb\n', none: {} })).toBe(
      'name: "yes"\nref: digits@v3\nn: 3\nlist:\n  - a\n  - "1"\nreq: |\n  a\n  b\nnone: {}',
    );
  });

  test('the command line of a workflow', () => {
    const line = toCli(
      { workflow: 'image-classification', parameters: { dataset: 'digits@v3', note: 'a b' }, resources: { cpus: 2 } },
      'vision',
    );
    expect(line).toBe(
      "atom --project vision workflow run image-classification -p dataset=digits@v3 -p 'note=a b' --cpus 2",
    );
  });

  test('retries, time limit, tags and environment are in the command line too', () => {
    const settings = { max_retries: 1, timeout_s: 600, tags: ['night'], env: { A: 'b' }, secrets: ['KEY'] };
    const options = '--env A=b --secret KEY --tag night --timeout 600 --retries 1';
    expect(toCli({ workflow: 'w', ...settings }, 'vision')).toBe(`atom --project vision workflow run w ${options}`);
    expect(toCli({ command: ['true'], ...settings }, 'vision')).toBe(`atom --project vision run ${options} -- true`);
  });

  test('the command line of a command', () => {
    const line = toCli(
      { command: ['python', 'a b.py'], datasets: { data: 'digits@v3' }, requirements: '# x\nnumpy\n' },
      'vision',
    );
    expect(line).toBe("atom --project vision run --data data=digits@v3 --req numpy -- python 'a b.py'");
  });
});
