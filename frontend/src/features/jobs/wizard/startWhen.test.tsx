import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, test } from 'vitest';
import type { Run } from '@/api/contract/jobs';
import type { StartTime } from '@/api/schema';
import { renderPage } from '@/test/render';
import { toCli } from './asText';
import { COMMAND, EMPTY_DRAFT, type StartChoice } from './draft';
import { draftErrors, stepOfField } from './draftErrors';
import { draftFromRun } from './draftFromRun';
import { requestOf } from './draftRequest';
import { StartWhen } from './StartWhen';

const way = (when: StartTime['when'], seconds: number, fields: Partial<StartTime> = {}): StartTime => ({
  when,
  percent: null,
  start: { known: true, p50_s: seconds, p90_s: seconds },
  data_s: seconds,
  note: null,
  is_default: false,
  ...fields,
});
const ways = [
  way('data_there', 600, {
    note: {
      code: 'jobs.way_data_first',
      sentence: '50 % of the data comes first, and the run holds no GPU meanwhile.',
      params: { percent: 50 },
    },
  }),
  way('share', 300, { percent: 80 }),
  way('now', 60, { is_default: true }),
];

let start: StartChoice = { when: 'auto' };

function Field({ told }: { told?: StartTime[] }) {
  const [value, setValue] = useState<StartChoice>({ when: 'auto' });
  start = value;
  return <StartWhen start={value} ways={told} errors={{}} onChange={setValue} />;
}

test('each way tells when the run starts, and Atom’s own names the way that it takes', async () => {
  await renderPage(<Field told={ways} />);
  const auto = await screen.findByRole('radio', { name: /Atom chooses/ });
  expect((auto as HTMLInputElement).checked).toBe(true);
  expect(screen.getByText(/At once, streaming · starts in/)).toBeTruthy();
  expect(screen.getByText('50 % of the data comes first, and the run holds no GPU meanwhile.')).toBeTruthy();
  await userEvent.click(screen.getByRole('radio', { name: /When all data is there/ }));
  expect(start).toEqual({ when: 'data_there' });
});

test('a part has a percentage, and the keys reach it', async () => {
  await renderPage(<Field />);
  await userEvent.click(await screen.findByRole('radio', { name: /At a part/ }));
  expect(start).toEqual({ when: 'share', percent: 80 });
  const percent = screen.getByRole('textbox', { name: /Part of the data/ });
  await userEvent.clear(percent);
  await userEvent.type(percent, '40');
  expect(start).toEqual({ when: 'share', percent: 40 });
});

test('the request, the command line and a copy have the start', () => {
  const draft = { ...EMPTY_DRAFT, workflow: COMMAND, command: 'true' };
  expect(requestOf(draft)).not.toHaveProperty('start');
  const request = requestOf({ ...draft, start: { when: 'share', percent: 40 } });
  expect(request.start).toEqual({ when: 'share', percent: 40 });
  expect(toCli(request, 'vision')).toContain('--start at:40');
  expect(toCli(requestOf({ ...draft, start: { when: 'data_there' } }), 'vision')).toContain('--start when-there');
  expect(draftErrors({ ...draft, start: { when: 'share', percent: 'many' } })).toEqual([
    { field: 'start.percent', error: 'notANumber' },
  ]);
  expect(stepOfField('start.percent', draft)).toBe('resources');
  const run = {
    ...{ workflow: null, command: ['true'], parameters: {}, datasets: [], env: [], secrets: [], tags: [], name: '' },
    resources: { cpus: 1, memory_bytes: 2 ** 30, gpus: 0 },
    start: { when: 'share', percent: 40 },
  } as unknown as Run;
  expect(requestOf(draftFromRun(run)).start).toEqual({ when: 'share', percent: 40 });
});
