import { expect, test } from 'vitest';
import type { Workflow } from '@/api/contract/jobs';
import { EMPTY_DRAFT } from './draft';
import { suggestedName, withoutSuggestedName } from './runNames';
import named from './runNames.cases.json';

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

test.each(named.cases)('a run is named after its data and what differs from the defaults: $name', (one) => {
  const parameters = one.values as unknown as typeof draft.parameters;
  const workflow = { slug: 'image-classification', parameters: named.parameters } as unknown as Workflow;
  expect(suggestedName({ ...draft, parameters }, workflow)).toBe(one.name);
});

test('a copy keeps a name that a person gave, and no suggested one', () => {
  const keptName = (name: string) => withoutSuggestedName({ ...draft, name }, workflow).name;
  expect(keptName('flowers-photo · e6 · lr 0.004')).toBe('');
  expect(keptName('baseline')).toBe('baseline');
});
