import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useReducer } from 'react';
import { expect, test } from 'vitest';
import { listing, serve } from '@/test/fakeApi';
import { renderPage } from '@/test/render';
import { COMMAND, draftErrors, draftReducer, EMPTY_DRAFT, requestOf } from './draft';
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
