import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useReducer } from 'react';
import { beforeEach, expect, test } from 'vitest';
import i18n, { setLanguage } from '@/i18n';
import { expectNoViolations } from '@/test/axe';
import { listing, problem, serve } from '@/test/fakeApi';
import { decision, EXAMPLE, place, unknownTime } from '@/test/places';
import { renderPage } from '@/test/render';
import { COMMAND, type Draft, draftReducer, EMPTY_DRAFT } from './draft';
import { withPlace } from './draftPlace';
import { requestOf } from './draftRequest';
import PlaceField from './PlaceField';
import { questionOf } from './question';

const PREVIEW = 'projects/{project}/placements/preview/';
const WORKED = decision(...EXAMPLE);

let request: ReturnType<typeof requestOf>;

function Form(values: Partial<Draft>) {
  const [draft, dispatch] = useReducer(draftReducer, { ...EMPTY_DRAFT, workflow: COMMAND, ...values });
  request = requestOf(draft);
  const set = (changed: Partial<Draft>) => dispatch({ type: 'set', values: changed });
  return (
    <>
      <PlaceField draft={draft} workflow={undefined} errors={{}} onChange={set} />
      <button type="button" onClick={() => set({ cpus: 4 })}>
        More CPUs
      </button>
    </>
  );
}

beforeEach(() => serve('GET', 'clusters/', listing()));

test('the places come best first, with start, data, price and how they compare', async () => {
  serve('POST', PREVIEW, WORKED);
  const { container } = await renderPage(<Form gpus={8} />);
  const names = (await screen.findAllByRole('radio')).map((radio) => (radio as HTMLInputElement).value);
  expect(names).toEqual(['auto', 'b', 'a', 'local']);
  expect(screen.getAllByText('3m 16s to 6m 40s')).not.toEqual([]);
  screen.getByText('618.4 GiB there · 126.7 GiB to fetch from atom · egress 2.72 EUR');
  screen.getByText('36.32 EUR if it runs for an hour');
  screen.getByText('16.80 EUR per hour');
  screen.getByText('17.21 EUR cheaper, 11m 04s sooner than a');
  screen.getByText('17.21 EUR dearer, 11m 04s later than b');
  screen.getByText('No machine is large enough.');
  await expectNoViolations(container);
});

test('time and cost are shown in parts, with what nothing tells', async () => {
  serve('POST', PREVIEW, WORKED);
  await renderPage(<Form gpus={8} />);
  const first = await screen.findByLabelText('b: time and cost in parts');
  await userEvent.click(first);
  const parts = within(first.closest('details') as HTMLElement);
  const facts = Object.fromEntries(
    parts.getAllByRole('term').map((term) => [term.textContent, term.nextElementSibling?.textContent]),
  );
  expect(facts).toMatchObject({
    Data: '2m 16s',
    Image: '1m 00s',
    'Run time': 'Unknown: too few runs.',
    Accelerators: '33.60 EUR',
    Egress: '2.72 EUR',
    'Value of the time': '61.63 EUR',
    Cost: '97.95 EUR',
    Preemption: 'Pods of these priority classes may preempt it: urgent, research.',
  });
});

test('a place is chosen by keyboard, and own machines give it up', async () => {
  serve('POST', PREVIEW, decision(place('local', 1), place('west', 2)));
  await renderPage(<Form />);
  (await screen.findByRole('radio', { name: /^Atom’s own machines/ })).focus();
  await userEvent.keyboard('{ArrowDown}');
  await waitFor(() => expect(request).toMatchObject({ cluster: 'west' }));
  await userEvent.keyboard('{ArrowUp}');
  await waitFor(() => expect(request).not.toHaveProperty('cluster'));
});

test('Atom chooses unless a person does, where a cluster could take the run', async () => {
  serve('POST', PREVIEW, WORKED);
  await renderPage(<Form gpus={8} />);
  const auto = await screen.findByRole('radio', { name: /Atom chooses now b/ });
  expect(auto).toHaveProperty('checked', true);
  screen.getByText('b is best.');
  await userEvent.click(screen.getByRole('radio', { name: /^a/ }));
  expect(request).toMatchObject({ cluster: 'a' });
  await userEvent.click(auto);
  expect(request).toMatchObject({ cluster: 'auto' });
});

test('a draft without a place gets Atom’s choice where a cluster could take it, and no mounted data', () => {
  const draft = { ...EMPTY_DRAFT, workflow: COMMAND };
  expect(requestOf(withPlace(draft, EXAMPLE))).toMatchObject({ cluster: 'auto' });
  expect(requestOf(withPlace({ ...draft, cluster: 'local' }, EXAMPLE))).not.toHaveProperty('cluster');
  expect(requestOf(withPlace(draft, [place('local', 1), place('west', null)]))).not.toHaveProperty('cluster');
  expect(requestOf(withPlace({ ...draft, deliveries: { d: 'mount' } }, EXAMPLE))).not.toHaveProperty('cluster');
});

test('an unknown start, price and cost are said plainly', async () => {
  const none = { ...place('west', 2).cost, total: null, compute: null } as never;
  const west = place('west', 2, {
    start: unknownTime,
    cost: none,
    price: { per_hour: null, total: null, currency: '' },
    cheaper_than_chosen: null,
    later_than_chosen_s: null,
  });
  serve('POST', PREVIEW, decision(place('local', 1), west));
  await renderPage(<Form />);
  const radio = await screen.findByRole('radio', { name: /west/ });
  const text = radio.closest('[data-place]')?.textContent;
  expect(text).toContain('Starts inunknownUnknown: too few runs.');
  expect(text).toContain('Priceunknown');
  expect(text).not.toContain('than');
});

test('a project without clusters is told where to register one', async () => {
  serve('POST', PREVIEW, decision(place('local', 1)));
  await renderPage(<Form />);
  await screen.findByText(/The project may use no cluster/);
  expect(screen.getByRole('link', { name: 'Clusters' }).getAttribute('href')).toBe('/settings/clusters');
});

test('places that cannot be compared are asked for again by a button', async () => {
  serve('POST', PREVIEW, problem(503, 'unavailable', 'Unavailable'));
  await renderPage(<Form />);
  const again = await screen.findByRole('button', { name: 'Try again' });
  serve('POST', PREVIEW, decision(place('local', 1), place('west', 2)));
  await userEvent.click(again);
  await screen.findByRole('radio', { name: /west/ });
});

test('a question that another one overtakes is given up', async () => {
  const signals: AbortSignal[] = [];
  serve('POST', PREVIEW, (asked: Request) => {
    signals.push(asked.signal);
    return signals.length === 1 ? new Promise(() => undefined) : decision(place('local', 1), place('west', 2));
  });
  await renderPage(<Form />);
  await waitFor(() => expect(signals).toHaveLength(1));
  await userEvent.click(screen.getByRole('button', { name: 'More CPUs' }));
  await screen.findByRole('radio', { name: /west/ });
  expect(signals[0]?.aborted).toBe(true);
});

test('the question has the resources, packages and data of the run, and not its cluster', () => {
  const draft: Draft = {
    ...EMPTY_DRAFT,
    workflow: COMMAND,
    command: 'python train.py',
    requirements: 'torch==2.9.1\n',
    cluster: 'west',
    gpus: 2,
    accelerator: 'A100',
    nodes: 2,
    datasets: [{ alias: 'd', dataset: 'digits', ref: 'v3' }],
  };
  expect(questionOf(requestOf(draft), undefined)).toEqual({
    cpus: 1,
    memory_bytes: 2 ** 31,
    gpus: 2,
    accelerator: 'A100',
    nodes: 2,
    inputs: { d: 'digits@v3' },
    requirements: 'torch==2.9.1\n',
    command: ['python', 'train.py'],
  });
});

test('a workflow asks for the data of its parameters', () => {
  const parameters = [
    { name: 'dataset', type: 'dataset' },
    { name: 'epochs', type: 'int' },
  ];
  const request = { workflow: 'train', parameters: { dataset: 'digits@v3', epochs: 3 }, resources: { cpus: 1 } };
  expect(questionOf(request, { slug: 'train', parameters } as never)).toEqual({
    cpus: 1,
    workflow: 'train',
    inputs: { dataset: 'digits@v3' },
  });
});

test('it is said in Chinese', async () => {
  serve('POST', PREVIEW, WORKED);
  await setLanguage('zh');
  await renderPage(<Form gpus={8} />);
  await screen.findByText(/比 a 便宜 17.21 EUR/);
  screen.getByText('若运行一小时：36.32 EUR');
  await setLanguage('en');
  expect(i18n.language).toBe('en');
});
