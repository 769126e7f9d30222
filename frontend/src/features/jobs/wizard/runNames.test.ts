import { expect, test } from 'vitest';
import type { Workflow } from '@/api/contract/jobs';
import { EMPTY_DRAFT } from './draft';
import { suggestedName, withoutSuggestedName } from './runNames';

const parameter = (name: string, type: string, usual: unknown) => ({ name, type, default: usual });
const workflow = {
  slug: 'image-classification',
  parameters: [
    parameter('dataset', 'dataset', null),
    parameter('epochs', 'int', 3),
    parameter('learning_rate', 'float', 0.001),
    parameter('batch_size', 'int', 32),
  ],
} as unknown as Workflow;
const parameters = { dataset: 'flowers-photo@v2', epochs: 6, learning_rate: 0.004, batch_size: 32 };
const draft = { ...EMPTY_DRAFT, workflow: workflow.slug, parameters };

test('a run is named after its data and what differs from the defaults', () => {
  expect(suggestedName(draft, workflow)).toBe('flowers-photo · e6 · lr 0.004');
  const larger = { ...draft, parameters: { ...parameters, batch_size: 64 } };
  expect(suggestedName(larger, workflow)).toBe('flowers-photo · e6 · lr 0.004 · b64');
});

test('a copy keeps a name that a person gave, and no suggested one', () => {
  const named = (name: string) => withoutSuggestedName({ ...draft, name }, workflow).name;
  expect(named('flowers-photo · e6 · lr 0.004')).toBe('');
  expect(named('baseline')).toBe('baseline');
});
