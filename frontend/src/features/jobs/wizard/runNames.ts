import type { Workflow } from '@/api/contract/jobs';
import { COMMAND, type Draft } from './draft';

/** Short forms of common parameters; others keep their names. */
const SHORT: Record<string, string> = {
  epochs: 'e',
  learning_rate: 'lr ',
  batch_size: 'b',
  image_size: 'px',
  model_version: '',
  split: '',
};
/** Always told, changed or not: people compare runs by these. */
const ALWAYS = new Set(['epochs', 'learning_rate', 'model_version', 'split']);
const MOST = 80;

/** `flowers-photo · e6 · lr 0.004`: the data, then what tells runs of a workflow apart. Empty for commands. */
export function suggestedName(draft: Draft, workflow: Workflow | undefined): string {
  if (draft.workflow === COMMAND || !workflow) return '';
  const dataset = workflow.parameters.find(({ type }) => type === 'dataset');
  const reference = String((dataset && draft.parameters[dataset.name]) ?? '');
  const data = reference.slice(0, reference.lastIndexOf('@') < 0 ? undefined : reference.lastIndexOf('@'));
  if (!data) return '';
  const told = workflow.parameters
    .filter(({ name, type }) => type !== 'dataset' && type !== 'name' && draft.parameters[name] != null)
    .filter(({ name, default: usual }) => ALWAYS.has(name) || String(draft.parameters[name]) !== String(usual ?? ''))
    .map(({ name }) => `${SHORT[name] ?? `${name} `}${draft.parameters[name]}`)
    .filter((part) => part.trim() !== '');
  return [data, ...told].join(' · ').slice(0, MOST);
}

/** A copy of a run that has the suggested name gets its own, from what is changed in it. */
export function withoutSuggestedName(draft: Draft, workflow: Workflow | undefined): Draft {
  return draft.name === suggestedName(draft, workflow) ? { ...draft, name: '' } : draft;
}
