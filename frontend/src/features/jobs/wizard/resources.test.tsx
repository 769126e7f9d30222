import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useReducer, useState } from 'react';
import { expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { decision, place } from '@/test/places';
import { renderPage } from '@/test/render';
import { COMMAND, draftReducer, EMPTY_DRAFT } from './draft';
import { draftErrors } from './draftErrors';
import { requestOf } from './draftRequest';
import { ParameterField } from './ParameterField';
import { ResourcesStep } from './ResourcesStep';

let wrong: ReturnType<typeof draftErrors>;
let request: ReturnType<typeof requestOf>;

function Form() {
  const [draft, dispatch] = useReducer(draftReducer, { ...EMPTY_DRAFT, workflow: COMMAND });
  request = requestOf(draft);
  wrong = draftErrors(draft);
  return <ResourcesStep draft={draft} dispatch={dispatch} errors={{}} workflow={undefined} />;
}

test('numbers are what was typed, also where they begin with a zero or the field was empty', async () => {
  serve('GET', 'clusters/', listing());
  serve('POST', 'projects/{project}/placements/preview/', decision(place('local', 1)));
  serve('GET', 'projects/{project}/secrets/', listing());
  await renderPage(<Form />);
  const typed = async (label: string, text: string) => {
    const field = screen.getByRole('textbox', { name: label });
    await userEvent.clear(field);
    await userEvent.type(field, text);
  };
  await typed('Memory (GiB)', '0.5');
  await typed('CPUs', '8');
  await typed('Time limit (minutes)', '1.5');
  await userEvent.tab();
  expect(request).toMatchObject({ resources: { cpus: 8, memory_bytes: 512 * 1024 ** 2 }, timeout_s: 90 });
  await typed('Time limit (minutes)', '1e9');
  expect(request.timeout_s).toBe(60_000_000_000);
  expect(wrong).toEqual([]);
  await typed('Time limit (minutes)', '1h');
  expect(wrong).toEqual([{ field: 'timeout_s', error: 'notANumber' }]);
});

test('odd numbers are kept and judged, not mended without a word', async () => {
  serve('GET', 'clusters/', listing());
  serve('POST', 'projects/{project}/placements/preview/', decision(place('local', 1)));
  serve('GET', 'projects/{project}/secrets/', listing());
  await renderPage(<Form />);
  const field = (label: string) => screen.getByRole('textbox', { name: label });
  const typed = async (label: string, text: string) => {
    await userEvent.clear(field(label));
    await userEvent.type(field(label), text);
    await userEvent.tab();
    expect(field(label)).toHaveProperty('value', text);
  };
  await typed('CPUs', 'two');
  await typed('Memory (GiB)', '4 GB');
  await typed('GPUs', '1x');
  await typed('Retries', 'many');
  expect(wrong.map(({ field }) => field)).toEqual([
    'resources.cpus',
    'resources.memory_bytes',
    'resources.gpus',
    'max_retries',
  ]);
  // These are numbers: the server says what is wrong with them.
  await typed('CPUs', '1e9');
  await typed('Memory (GiB)', '-2');
  await typed('GPUs', '0.5');
  await typed('Retries', '-3');
  expect(wrong).toEqual([]);
  expect(request).toMatchObject({ resources: { cpus: 1e9, memory_bytes: -(2 ** 31), gpus: 0.5 }, max_retries: -3 });
  await userEvent.clear(field('CPUs'));
  await userEvent.type(field('CPUs'), '2{ArrowUp}{ArrowUp}{ArrowDown}');
  expect(request.resources?.cpus).toBe(3);
});

test('a parameter may be written with an exponent', async () => {
  const shape = { type: 'float' as const, name: 'lr', title: 'Learning rate', help: '', required: true };
  let value: unknown = 0.001;
  function Field() {
    const [held, setHeld] = useState<unknown>(value);
    value = held;
    const parameter = { ...shape, default: null, min: null, max: null, choices: [] };
    return <ParameterField parameter={parameter} value={held} error={undefined} onChange={setHeld} />;
  }
  await renderPage(<Field />);
  const field = screen.getByRole('textbox', { name: 'Learning rate' });
  await userEvent.clear(field);
  await userEvent.type(field, '1e-4');
  expect(field).toHaveProperty('value', '1e-4');
  expect(value).toBe(0.0001);
});
