import { expect, it } from 'vitest';
import type { Parameter, Workflow } from '@/api/contract/jobs';
import { localise } from './localise';

const whole: Omit<Parameter, 'name' | 'title' | 'help'> = {
  type: 'int',
  required: false,
  default: null,
  min: null,
  max: null,
  choices: [],
};
const workflow: Workflow = {
  slug: 'train',
  version: '1',
  title: 'Train',
  description: 'Trains.',
  parameters: [
    { ...whole, name: 'epochs', title: 'Epochs', help: 'How often.' },
    { ...whole, name: 'seed', title: 'Seed', help: 'Any number.' },
  ],
  inputs: {},
  resources: { cpus: 1 },
  translations: { zh: { title: '训练', parameters: { epochs: { title: '训练轮数' } } } },
};

it('shows the words of the language and English where none are given', () => {
  const { title, description, parameters } = localise(workflow, 'zh');
  expect([title, description]).toEqual(['训练', 'Trains.']);
  expect(parameters.map((one) => [one.title, one.help])).toEqual([
    ['训练轮数', 'How often.'],
    ['Seed', 'Any number.'],
  ]);
});

it('leaves the workflow alone in a language that it does not speak', () => {
  expect(localise(workflow, 'en')).toBe(workflow);
});
