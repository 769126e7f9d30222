import { useRouterState } from '@tanstack/react-router';
import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Language, setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, sent, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { Advice } from './curves/Advice';
import { NewRunPage, RunPage, RunsPage } from './index';

afterEach(() => setLanguage('en'));

const run = (number: number, extra: object = {}) => ({
  id: `run-${number}`,
  number,
  name: `train-${number}`,
  state: 'succeeded',
  workflow: 'image-classification',
  created_by: { username: 'bo', full_name: 'Bo Chen' },
  datasets: [{ alias: 'dataset', dataset: 'digits', ref: 'v3', selector: {}, view: '' }],
  resources: { cpus: 2, memory_bytes: 2 ** 32, gpus: 0 },
  node: 'local-1',
  progress: 1,
  progress_text: '',
  duration_s: 184,
  failure_class: null,
  failure_reason: null,
  metrics_summary: { 'val/accuracy': 0.9731 },
  origin: 'atom',
  experiment: '',
  tags: [],
  starred: false,
  revision: 0,
  notes: '',
  values: {},
  cpu_hours: 0.1022,
  gpu_hours: 0,
  archived_at: null,
  created_at: '2026-01-01T00:00:00Z',
  started_at: '2026-01-01T00:00:00Z',
  finished_at: '2026-01-01T00:03:04Z',
  attempts: 1,
  ...extra,
});
const whole = (number: number, extra: object = {}) =>
  run(number, {
    attempts: [],
    parameters: { epochs: 5 },
    logged_parameters: {},
    labels: {},
    command: ['python', 'train.py'],
    runtime: null,
    code: null,
    env: ['SEED'],
    secrets: [],
    suggestion: null,
    evidence: null,
    outputs_count: 0,
    has_model: false,
    model_versions: [],
    ...extra,
  });

describe('the list of runs', () => {
  test('a row says who, what data, where, how long and how well', async () => {
    serve('GET', 'projects/{project}/runs/', listing(run(1)));
    const { container } = await renderPage(<RunsPage />, '/runs');
    const row = (await screen.findByRole('link', { name: /train-1/ })).closest('tr') as HTMLElement;
    within(row).getByLabelText('digits@v3');
    // The version is an element of its own: a long name is cut before it.
    for (const text of ['Bo Chen', '@v3', 'local-1', '3m 04s', '97.31%', 'Succeeded'])
      expect(within(row).getByText(text)).toBeTruthy();
    await expectNoViolations(container);
  });

  test('a run that only reports to Atom says so, and in which experiment it is', async () => {
    serve('GET', 'projects/{project}/runs/', listing(run(1, { origin: 'mlflow', experiment: 'sweep', node: null })));
    await renderPage(<RunsPage />, '/runs');
    const row = (await screen.findByRole('link', { name: /train-1/ })).closest('tr') as HTMLElement;
    for (const text of ['MLflow', 'sweep']) expect(within(row).getByText(text)).toBeTruthy();
  });

  test('a long name is cut, and whole as its title', async () => {
    const name = 'n'.repeat(195);
    serve('GET', 'projects/{project}/runs/', listing(run(1, { name })));
    await renderPage(<RunsPage />, '/runs');
    expect((await screen.findByTitle(name)).textContent).toBe(name);
  });

  test('an empty project offers the next action', async () => {
    serve('GET', 'projects/{project}/runs/', listing());
    await renderPage(<RunsPage />, '/runs');
    await screen.findByText('No runs yet');
    await waitFor(() => expect(screen.getAllByRole('link', { name: 'New run' }).length).toBeGreaterThan(0));
  });

  test('a failure shows its reason and can be tried again', async () => {
    serve('GET', 'projects/{project}/runs/', () => problem(500, 'internal_error', 'The database is broken.'));
    await renderPage(<RunsPage />, '/runs');
    expect((await screen.findByRole('alert')).textContent).toContain('The database is broken.');
    serve('GET', 'projects/{project}/runs/', listing(run(1)));
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await screen.findByRole('link', { name: /train-1/ });
  });

  test('selected runs are cancelled, those that are over are not', async () => {
    serve('GET', 'projects/{project}/runs/', listing(run(1, { state: 'running', finished_at: null }), run(2)));
    serve('POST', 'projects/{project}/runs/cancel/', { changed: ['run-1'], refused: [] });
    await renderPage(<RunsPage />, '/runs');
    await userEvent.click(await screen.findByRole('checkbox', { name: 'Select train-1' }));
    await userEvent.click(screen.getByRole('checkbox', { name: 'Select train-2' }));
    await userEvent.click(screen.getByRole('button', { name: 'Cancel 1 run' }));
    const told = () => sent.find(({ line }) => line === 'POST /api/v1/projects/vision/runs/cancel/');
    await waitFor(() => expect(told()?.body).toEqual({ runs: ['run-1'] }));
  });
});

describe('the page of a run', () => {
  const emptyLog = { attempt: 1, streams: [], frames: [], next: 0, eof: true };

  test('a failed run says why, what to do, and shows the evidence', async () => {
    const failure = {
      state: 'failed',
      failure_class: 'USER_CODE',
      failure_reason: 'Your code stopped with KeyError.',
      suggestion: 'Look at line 41.',
      evidence: { traceback: "KeyError: 'label'" },
    };
    serve('GET', 'runs/{run_id}/', whole(3, failure));
    serve('GET', 'runs/{run_id}/logs/', emptyLog);
    const { container } = await renderPage(<RunPage />, '/runs/run-3', '/runs/$runId');
    await screen.findByText('Your code stopped with KeyError.');
    screen.getByText('Look at line 41.');
    screen.getByText("KeyError: 'label'");
    await waitFor(() => expect(screen.getByRole('button', { name: 'Retry' })).toBeTruthy());
    await expectNoViolations(container);
  });

  test('a run of another project than the last one used is shown in its own', async () => {
    const projects = ['vision', 'speech'].map((slug) => ({ slug, name: slug, role: 'admin' as const, unit: null }));
    serve('GET', 'projects/', listing(...projects));
    serve('GET', 'runs/{run_id}/', whole(3, { project: 'speech' }));
    serve('GET', 'runs/{run_id}/logs/', emptyLog);
    const Address = () => useRouterState({ select: ({ location }) => location.href });
    const page = (
      <>
        <RunPage />
        <Address />
      </>
    );
    await renderPage(page, '/runs/run-3?project=vision&tab=files', '/runs/$runId');
    await screen.findByText('/runs/run-3?project=speech&tab=files');
  });

  test('a waiting run answers why it is not running', async () => {
    serve('GET', 'runs/{run_id}/', whole(4, { state: 'queued', finished_at: null, started_at: null }));
    serve('GET', 'runs/{run_id}/logs/', { ...emptyLog, eof: false });
    serve('GET', 'runs/{run_id}/explain/', {
      code: 'no_room',
      answer: 'As the server says.',
      reasons: [
        { kind: 'queue', text: '', action: 'As the server says.', params: { ahead: 2 } },
        { kind: 'resources', text: '', action: '', params: { code: 'no_machine', params: {} } },
      ],
    });
    await renderPage(<RunPage />, '/runs/run-4', '/runs/$runId');
    await screen.findByText('It waits for a machine with enough free resources.');
    screen.getByText(/2 runs are ahead of it in the queue/);
    screen.getByText('No machine has joined the cluster yet.');
  });

  test('a run that waited for its data is told why and what to press', async () => {
    serve('GET', 'runs/{run_id}/advice/', [
      { code: 'bound', text: '', action: '', params: { percent: 70 } },
      { code: 'too_few_cpus', text: '', action: 'As the server says.', params: { cpus: 2, used: 1.9, more: 4 } },
    ]);
    const { container } = await renderPage(<Advice runId="run-6" />);
    await screen.findByText(/it waited 70 % of the time/);
    screen.getByText(/1.9 of 2 on average/);
    const again = screen.getByRole('link', { name: 'Run it again with 4 CPUs.' });
    expect(again.getAttribute('href')).toContain('clone=run-6');
    await expectNoViolations(container);
  });

  test.each<[Language, RegExp, RegExp]>([
    ['en', /Not enough data: needs 30 s and 20 batches/, /for more epochs/],
    ['zh', /数据不足：需要 30 秒和 20 个批次/, /更多轮次/],
  ])('of a run that was too short nothing is said of its data (%s)', async (language, text, action) => {
    serve('GET', 'runs/{run_id}/advice/', [
      { code: 'too_short', text: '', action: 'As the server says.', params: { seconds: 30, batches: 20 } },
    ]);
    await setLanguage(language);
    const { container } = await renderPage(<Advice runId="run-7" />);
    await screen.findByText(text);
    screen.getByText(action);
    expect(screen.queryByText(/bound|受数据限制/)).toBeNull();
    await expectNoViolations(container);
  });

  test('of a run that only reports there is no log, no command, and nothing to start again', async () => {
    const reported = {
      origin: 'mlflow',
      experiment: 'digits',
      state: 'failed',
      command: [],
      labels: { team: 'vision' },
    };
    serve('GET', 'runs/{run_id}/', whole(5, reported));
    const { container } = await renderPage(<RunPage />, '/runs/run-5?tab=config', '/runs/$runId');
    await screen.findByText('MLflow');
    screen.getByText('vision');
    expect(screen.getByRole('link', { name: 'in experiment digits' }).getAttribute('href')).toContain(
      'experiment=digits',
    );
    expect(screen.queryByRole('tab', { name: 'Log' })).toBeNull();
    for (const name of ['Retry', 'Cancel run']) expect(screen.queryByRole('button', { name })).toBeNull();
    expect(screen.queryByRole('link', { name: 'Clone' })).toBeNull();
    expect(screen.queryByText('Command')).toBeNull();
    await expectNoViolations(container);
  });

  test('the log is read and can be searched', async () => {
    const text = 'first line\nloss=0.5\nlast line\n';
    const frame = { stream: 'main', seq: 0, byte_off: 0, ts_ns: 0, fd: 1, text };
    serve('GET', 'runs/{run_id}/', whole(5));
    serve('GET', 'runs/{run_id}/logs/', (_request: Request, url: URL) =>
      url.searchParams.get('from') === '0'
        ? { ...emptyLog, frames: [frame], next: text.length }
        : { ...emptyLog, next: text.length },
    );
    await renderPage(<RunPage />, '/runs/run-5', '/runs/$runId');
    await screen.findByText('3 lines');
    await userEvent.type(screen.getByRole('textbox', { name: 'Find in the log' }), 'line');
    await screen.findByText('1 of 2');
  });

  test('errors of the log are found by the server, and each is told', async () => {
    const text = 'first line\nTraceback (most recent call last):\n  x\nValueError: bad\n';
    const frame = { stream: 'main', seq: 0, byte_off: 0, ts_ns: 0, fd: 1, text };
    serve('GET', 'runs/{run_id}/', whole(5));
    serve('GET', 'runs/{run_id}/logs/', { ...emptyLog, frames: [frame], next: text.length });
    const match = {
      line: 2,
      stream: 'stdout',
      text: 'Traceback (most recent call last):',
      spans: [[0, 34]],
      cut: false,
      kind: 'traceback',
      summary: 'ValueError: bad',
      before: [],
      after: [],
      byte_off: 11,
      ts_ns: 0,
    };
    const page = { attempt: 1, matches: [match], next: '60.4.4', settled_lines: 4, complete: true };
    serve('GET', 'runs/{run_id}/logs/search/', { ...page, searched_bytes: 60, total_bytes: 60 });
    const { container } = await renderPage(<RunPage />, '/runs/run-5', '/runs/$runId');
    await userEvent.click(await screen.findByRole('button', { name: 'Errors' }));
    await screen.findByText('1 of 1');
    const told = screen.getAllByRole('status').map((one) => one.textContent);
    expect(told).toContain('TracebackValueError: bad');
    await expectNoViolations(container);
  });

  test.each([
    ['succeeded with a model', {}, 1],
    ['an evaluation that left only a report', { has_model: false }, 0],
    ['still running', { state: 'running', finished_at: null }, 0],
    ['failed', { state: 'failed' }, 0],
  ])('registering a model is offered where there is one: %s', async (_case, extra, buttons) => {
    serve('GET', 'runs/{run_id}/', whole(6, { outputs_count: 2, has_model: true, ...extra }));
    serve('GET', 'runs/{run_id}/logs/', emptyLog);
    await renderPage(<RunPage />, '/runs/run-6', '/runs/$runId');
    await screen.findByRole('link', { name: 'Clone' });
    expect(screen.queryAllByRole('button', { name: 'Register model' }).length).toBe(buttons);
  });

  test('forty checkpoints are one line, that opens', async () => {
    const event = (seq: number, kind: string) => ({
      seq,
      kind,
      text: `${kind} ${seq}`,
      attempt: null,
      data: {},
      at: '2026-01-01T00:00:00Z',
    });
    const checkpoints = Array.from({ length: 40 }, (_, index) => event(index + 2, 'own'));
    serve('GET', 'runs/{run_id}/', whole(7));
    serve('GET', 'runs/{run_id}/events/', listing(event(1, 'first'), ...checkpoints, event(42, 'last')));
    const { container } = await renderPage(<RunPage />, '/runs/run-7?tab=events', '/runs/$runId');
    await screen.findByText('own 41');
    expect(screen.queryByText('own 40')).toBeNull();
    screen.getByText('first 1');
    screen.getByText('last 42');
    await expectNoViolations(container);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 40' }));
    screen.getByText('own 2');
  });

  test('the page of a running run has one control of its live updates', async () => {
    serve('GET', 'runs/{run_id}/', whole(8, { state: 'running', finished_at: null }));
    serve('GET', 'runs/{run_id}/logs/', { ...emptyLog, eof: false });
    await renderPage(<RunPage />, '/runs/run-8', '/runs/$runId');
    await screen.findByText('No output yet');
    expect(screen.getAllByRole('button', { name: 'Pause live updates' }).length).toBe(1);
  });

  test('a log that cannot be read says that it goes on by itself', async () => {
    serve('GET', 'runs/{run_id}/', whole(9, { state: 'running', finished_at: null }));
    serve('GET', 'runs/{run_id}/logs/', () => {
      throw new TypeError('Failed to fetch');
    });
    await renderPage(<RunPage />, '/runs/run-9', '/runs/$runId');
    await screen.findByText(/asked again every few seconds/);
  });

  test('a number finds the run of the project, an archived one too; the page says it', async () => {
    const asked: (string | null)[] = [];
    serve('GET', 'projects/{project}/runs/', (_: Request, url: URL) => {
      asked.push(url.searchParams.get('search'));
      return url.searchParams.get('search') === '#4 is:archived' ? listing(run(40), run(4)) : listing();
    });
    serve('GET', 'runs/{run_id}/', whole(4, { name: 'a name' }));
    await renderPage(<RunPage />, '/runs/4', '/runs/$runId');
    await screen.findByRole('heading', { name: 'a name' });
    screen.getByText('#4');
    expect(asked).toEqual(['#4', '#4 is:archived']);
    expect(sent.map(({ line }) => line)).toContain('GET /api/v1/runs/run-4/');
  });

  test('a run that is not there says so', async () => {
    await renderPage(<RunPage />, '/runs/nothing', '/runs/$runId');
    expect((await screen.findByRole('alert')).textContent).toContain('There is no such thing.');
    screen.getByRole('heading', { name: 'Run' });
    screen.getByRole('link', { name: 'Runs' });
  });
});

describe('a new run', () => {
  const workflow = {
    slug: 'image-classification',
    version: 1,
    title: 'Image classification',
    description: 'Trains a network.',
    resources: { cpus: 2, memory_bytes: 2 ** 32 },
    parameters: [
      {
        name: 'epochs',
        type: 'int',
        title: 'Epochs',
        help: '',
        default: 5,
        min: 1,
        max: 100,
        choices: [],
        required: false,
      },
    ],
    inputs: {},
  };
  const preview = {
    valid: true,
    errors: {},
    outlook: 'starts',
    placement: { cluster: 'local', node: 'local-1', why: 'The only node.', code: 'only_machine', params: {} },
    queue_position: 1,
    warm: { bytes_missing: 0, coverage: 1 },
    runtime: { digest: 'abc', state: 'ready' },
  };

  beforeEach(() => {
    sessionStorage.clear();
    serve('GET', 'workflows/', listing(workflow));
    serve('GET', 'clusters/', listing());
    serve('POST', 'projects/{project}/runs/preview/', preview);
  });

  test('choosing a workflow keeps it in the draft', async () => {
    const { container } = await renderPage(<NewRunPage />, '/runs/new');
    await expectNoViolations(container);
    await userEvent.click(await screen.findByRole('radio', { name: /Image classification/ }));
    expect(JSON.parse(sessionStorage.getItem('atom-new-run/vision') ?? '{}')).toMatchObject({
      workflow: 'image-classification',
      parameters: { epochs: 5 },
    });
  });

  test('the step that comes has the focus', async () => {
    await renderPage(<NewRunPage />, '/runs/new');
    await userEvent.click(await screen.findByRole('radio', { name: /Image classification/ }));
    const step = await screen.findByRole('region', { name: 'Parameters' });
    await waitFor(() => expect(document.activeElement).toBe(step));
  });

  test('a step with a wrong field is not left: the field says why and has the focus', async () => {
    const dataset = { ...workflow.parameters[0], name: 'dataset', type: 'dataset', title: 'Dataset', required: true };
    serve('GET', 'workflows/', listing({ ...workflow, parameters: [dataset] }));
    serve('GET', 'projects/{project}/datasets/', listing());
    serve('POST', 'projects/{project}/runs/preview/', {
      ...preview,
      valid: false,
      errors: { 'parameters.dataset': ['Required.'] },
      warm: null,
    });
    sessionStorage.setItem('atom-new-run/vision', JSON.stringify({ workflow: 'image-classification' }));
    await renderPage(<NewRunPage />, '/runs/new');
    const field = await screen.findByLabelText('Dataset: dataset', { selector: 'input' });
    expect(screen.queryByText('Required.')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('Required.');
    await waitFor(() => expect(document.activeElement).toBe(field));
    expect(screen.queryByText('Data already there')).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: /Review/ }));
    await screen.findByText('Required.');
    expect(screen.queryByRole('textbox', { name: /Memory/ })).toBeNull();
  });

  test('a part of the data is chosen by a view and a query, and counted', async () => {
    const dataset = { ...workflow.parameters[0], name: 'dataset', type: 'dataset', title: 'Dataset', required: true };
    const inputs = { dataset: { split: ['train', 'val'], narrowable: true } };
    serve('GET', 'workflows/', listing({ ...workflow, parameters: [dataset], inputs }));
    serve('GET', 'projects/{project}/datasets/', listing({ id: 'd', name: 'digits', latest: null }));
    serve('GET', 'projects/{project}/datasets/digits/versions/', listing());
    serve('GET', 'projects/{project}/datasets/digits/views/', listing({ id: 'v', name: 'ones', query: 'size > 1' }));
    serve('GET', 'projects/{project}/datasets/digits/versions/v3/entries/', (_: Request, url: URL) => {
      const where = url.searchParams.get('where');
      if (where !== 'size') return { ...listing(), folders: [], total: where ? 3 : 7, total_is_exact: true };
      const refused = { status: 400, code: 'query_invalid', title: 'Wrong', errors: { where: ['Character 1: no.'] } };
      return new Response(JSON.stringify(refused), { status: 400 });
    });
    // As the dataset's page links to it, with a view open.
    const { container } = await renderPage(<NewRunPage />, '/runs/new?dataset=digits@v3&view=ones');
    await screen.findByText('7 files of digits@v3 match');
    expect(screen.getByLabelText('Dataset: view', { selector: 'input' })).toHaveProperty('value', 'ones');
    const query = screen.getByRole('textbox', { name: 'Dataset: query' });
    await userEvent.type(query, 'size');
    await screen.findByText('Character 1: no.');
    expect(query.getAttribute('aria-invalid')).toBe('true');
    await userEvent.type(query, ' > 1');
    await screen.findByText('3 files of digits@v3 match');
    await expectNoViolations(container);
    const asked = sent.findLast(({ line }) => line.endsWith('runs/preview/'))?.body;
    await waitFor(() => expect(asked).toMatchObject({ selectors: { dataset: { view: 'ones' } } }));
  });

  test('a command may be allowed to write datasets; what is wrong with that is said there', async () => {
    const draft = { workflow: 'command', command: 'echo' };
    sessionStorage.setItem('atom-new-run/vision', JSON.stringify(draft));
    serve('POST', 'projects/{project}/runs/preview/', async (request: Request) => {
      const { may_write: asked } = (await request.json()) as { may_write?: boolean };
      return asked ? { ...preview, valid: false, errors: { may_write: ['Ask an admin.'] } } : preview;
    });
    const { container } = await renderPage(<NewRunPage />, '/runs/new?step=2');
    const box = await screen.findByRole('checkbox', { name: 'May write to the project’s datasets' });
    await userEvent.click(box);
    expect(box).toHaveProperty('checked', true);
    await userEvent.click(screen.getByRole('button', { name: 'Continue' }));
    await screen.findByText('Ask an admin.');
    await expectNoViolations(container);
  });

  test('what no machine could ever run is not said to wait in the queue', async () => {
    serve('POST', 'projects/{project}/runs/preview/', {
      ...preview,
      valid: false,
      errors: { 'resources.cpus': ['The largest machine has 2 CPUs.'] },
      outlook: 'never_fits',
      placement: { cluster: 'local', node: null, why: 'Waiting for 99 CPUs.', code: 'no_room', params: {} },
      warm: null,
    });
    const draft = { workflow: 'command', command: 'echo', cpus: 99 };
    sessionStorage.setItem('atom-new-run/vision', JSON.stringify(draft));
    await renderPage(<NewRunPage />, '/runs/new?step=3');
    await screen.findByText('It can never run here: no machine is large enough.');
    expect(screen.queryByText(/in the queue/)).toBeNull();
    expect(screen.queryByText('Data already there')).toBeNull();
    expect(screen.getByText('CPUs').closest('p')?.textContent).toBe('CPUs The largest machine has 2 CPUs.');
    await waitFor(() => expect(screen.getByRole('button', { name: 'Start run' })).toHaveProperty('disabled', true));
  });
});
